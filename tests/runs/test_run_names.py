"""What a run is called, whichever way its log was given: as `check` and `export` say it."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import DEMO_LOGS_FOLDER

CONSOLES = {name: DEMO_LOGS_FOLDER / name / "stdout.log" for name in ("sb3_cartpole", "trl_grpo")}


def checked_names(capsys: pytest.CaptureFixture[str], *paths: Path) -> dict[str, str]:
    """Name -> path of each run that `check` finds."""
    main(["check", "--no-cache", "--json", *map(str, paths)])
    return {run["name"]: run["path"] for run in json.loads(capsys.readouterr().out)["runs"]}


def test_a_run_has_one_name_however_its_log_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder of several runs each is called after its file, also where only one is given."""
    for name, log in zip(("a", "b"), CONSOLES.values(), strict=True):
        shutil.copy(log, tmp_path / f"{name}.log")
    folder = checked_names(capsys, tmp_path)
    assert folder == {name: str(tmp_path / name) for name in ("a", "b")}
    assert checked_names(capsys, tmp_path / "a.log") == {"a": folder["a"]}
    monkeypatch.chdir(tmp_path)
    assert [*checked_names(capsys, Path("a.log"))] == ["a"]
    main(["export", "--format", "csv", str(tmp_path / "a.log")])
    assert {line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]} == {"a"}


def test_a_compressed_log_is_called_as_the_log_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`gzip own.log` changes no name, in a folder of several runs or given by itself."""
    for name, log in zip(("a", "b"), CONSOLES.values(), strict=True):
        (tmp_path / f"{name}.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    assert checked_names(capsys, tmp_path).keys() == {"a", "b"}
    assert checked_names(capsys, tmp_path / "a.log.gz").keys() == {"a"}
    (tmp_path / "b.log.gz").rename(tmp_path / "b.log.txt")
    shutil.copy(CONSOLES["trl_grpo"], tmp_path / "b.log")
    assert checked_names(capsys, tmp_path / "a.log.gz").keys() == {"a"}


def test_the_only_log_of_a_folder_is_called_after_it_however_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notes and settings beside it are no runs."""
    log = tmp_path / "ppo_3" / "train.log"
    log.parent.mkdir()
    shutil.copy(CONSOLES["trl_grpo"], log)
    (log.parent / "config.yaml").write_text("seed: 1\n")
    for path in (tmp_path, log.parent, log):
        assert [*checked_names(capsys, path)] == ["ppo_3"]


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (("eps/results/20261127T214812.862805", "lr/results/20261127T214812.9"), None),
        (("lr3e-4/2026-11-27_21-48-12", "lr1e-3/2026-11-27_21-58-40"), None),
        (("outputs/2026-11-27/21-48-12", "outputs/2026-11-27/21-58-40"), {"21-48-12", "21-58-40"}),
        (("outer/ppo_20261127", "inner/ppo_20261128"), {"ppo_20261127", "ppo_20261128"}),
    ],
)
def test_a_moment_is_told_with_the_folder_that_says_which_run_it_is(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    folders: tuple[str, str],
    names: set[str] | None,
) -> None:
    """PFRL and many scripts call a run's folder after its start; Hydra's differ in nothing else."""
    for folder, log in zip(folders, CONSOLES.values(), strict=True):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(log, tmp_path / folder / "train.log")
    assert {*checked_names(capsys, tmp_path)} == (names or {*folders})


def test_a_rotated_log_keeps_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another training in `train.log` is not taken for the one that was moved out of its way."""
    shutil.copy(CONSOLES["trl_grpo"], tmp_path / "train.log.1")
    shutil.copy(CONSOLES["sb3_cartpole"], tmp_path / "train.log")
    both = {"train", "train.log.1"}
    assert checked_names(capsys, tmp_path).keys() == both
    assert checked_names(capsys, tmp_path / "train.log.1").keys() == {"train.log.1"}
