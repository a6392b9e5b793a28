"""Advice to go back names the newest checkpoint on disk from before the fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ppo_top.catalogue.causes import known_causes
from ppo_top.rules.book import RULES
from ppo_top.views.checkpoint_search import asks_for_restart
from tests.support.remembered import Printed, age, opened_files
from tests.support.screens import write_unhealthy_run

FAULT_STEP = 20 * 2048
"""Where the updates of `write_unhealthy_run` become too large."""


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that went wrong at `FAULT_STEP`, two days ago."""
    folder = tmp_path / "runs" / "sick"
    write_unhealthy_run(folder / "progress.csv")
    age(tmp_path)
    return folder


def save(folder: Path, *steps: int) -> None:
    """Checkpoints as Stable-Baselines3's callback names them."""
    for step in steps:
        (folder / f"rl_model_{step}_steps.zip").touch()


def restart(path: Path) -> dict[str, Any] | None:
    """What `check --json` says of the first run."""
    found: dict[str, Any] = json.loads(Printed("check", "--json", path).out)["runs"][0]
    return found["restart"]  # type: ignore[no-any-return]


def test_the_newest_one_from_before_the_fault_is_named(run: Path) -> None:
    """In the text and in the JSON; not the one of the faulty step itself."""
    save(run, 10_000, 36_000, FAULT_STEP, 60_000)
    assert restart(run) == {
        "text": (
            "resume from rl_model_36000_steps.zip (step 36,000, 4,960 before "
            '"Destructively large updates" began)'
        ),
        "name": "rl_model_36000_steps.zip",
        "path": str(run / "rl_model_36000_steps.zip"),
        "number": 36_000,
    }
    assert "\n  resume from rl_model_36000_steps.zip (step 36,000" in Printed("check", run).out


def test_a_checkpoint_above_the_log_is_found(run: Path) -> None:
    """`logs/rl_model_8000_steps.zip` beside `logs/PPO_1/`."""
    save(run.parent, 8_000)
    found = restart(run.parent)
    assert found is not None
    assert found["path"] == str(run.parent / "rl_model_8000_steps.zip")


def test_later_checkpoints_only(run: Path) -> None:
    """That is said; an empty string is no name."""
    save(run, 50_000, 60_000)
    found = restart(run)
    assert found is not None
    assert found["text"] == "no checkpoint from before step 40,960 is here"
    assert found["name"] is None


def test_without_checkpoints_nothing_is_said(run: Path) -> None:
    """The best model has no step."""
    (run / "best_model.zip").touch()
    assert restart(run) is None
    assert "resume" not in Printed("check", run).out


def test_a_healthy_run_needs_none(run: Path) -> None:
    """Whatever lies beside its log."""
    write_unhealthy_run(run / "progress.csv", broken_from=99)
    save(run, 36_000)
    assert restart(run) is None


def test_what_may_be_another_runs_is_not_claimed(run: Path) -> None:
    """Two runs below one folder: whose checkpoint is it?"""
    write_unhealthy_run(run.parent / "other" / "progress.csv", first_reward=30)
    save(run.parent, 36_000)
    assert restart(run.parent) is None


def test_it_is_looked_for_again_though_the_verdict_is_remembered(run: Path) -> None:
    """What is on disk is never kept in the cache."""
    assert restart(run) is None
    save(run, 36_000)
    found = restart(run)
    assert found is not None
    assert found["name"] == "rl_model_36000_steps.zip"
    (run / "rl_model_36000_steps.zip").unlink()
    with opened_files() as opened:
        assert restart(run) is None
    assert not opened


def test_every_advice_about_checkpoints_is_known_to_ask_for_one_or_not() -> None:
    """A new sentence is added here, on one of the two sides."""
    said = {advice for rule in RULES for advice in rule.remedies}
    texts = (text for cases in known_causes().texts.values() for text in cases)
    said |= {advice for text in texts for advice in text.remedies}
    about = {advice for advice in said if "checkpoint" in advice}
    assert {advice for advice in about if not asks_for_restart(advice)} == {
        "stop at the best evaluated checkpoint",
        "{in_text}gradient checkpointing",
        "delete checkpoints that are not needed, and {fewer_checkpoints}",
    }
    assert len(about) > 5
