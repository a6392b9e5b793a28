"""Users without a home: system accounts, and the unknown users of containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import DEMO_LOGS_FOLDER

LOG = str(DEMO_LOGS_FOLDER / "sb3_cartpole")


@pytest.fixture(autouse=True)
def no_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the home decides where settings, state and cache are."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_a_home_that_is_not_there_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even by root: `/nonexistent` is to stay so. One line says that nothing is remembered."""
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    assert main(["check", LOG]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("✓ sb3_cartpole: healthy")
    assert f"cache off: {tmp_path}/none" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_user_whom_nobody_knows_has_no_home(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a container that runs as any number, without HOME."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert main(["check", LOG]) == 0
    assert capsys.readouterr().out.startswith("✓ sb3_cartpole: healthy")


def test_in_a_home_directories_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of a new user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["check", LOG]) == 0
    assert list(tmp_path.rglob("verdicts.sqlite"))
