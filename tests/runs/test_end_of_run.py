"""When a run is known to be over, what only its whole length tells is said."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.model import Severity
from ppo_top.runs import liveness
from ppo_top.runs.run import Run
from tests.support.growing_logs import WatchedDirectory

DAY_S = 24 * 3600.0


def write_flat_run(log: Path, updates: int = 60) -> None:
    """A log of rewards that go nowhere, of a run whose planned length is not in it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        file.write("time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean,train/loss\n")
        for row in range(updates):
            noise = (row * 37 % 11 - 5) / 10
            file.write(f"{2048 * (row + 1)},{-150 + noise},100,{0.5 + noise / 50}\n")


def worst(run: Run) -> Severity:
    """The worst open finding."""
    return max(f.severity for f in run.findings if f.cleared is None)


@pytest.fixture
def flat_run(tmp_path: Path) -> Path:
    """Such a log, just written."""
    write_flat_run(tmp_path / "runs" / "flat" / "progress.csv")
    return tmp_path / "runs"


def test_a_run_that_goes_on_may_still_learn(flat_run: Path) -> None:
    """Sixty updates of an unknown number are something to watch at most."""
    assert main(["check", str(flat_run), "--fail-on", "warn"]) == 0


def test_a_job_says_that_its_training_is_over(flat_run: Path) -> None:
    """`check --ended`, a moment after the last row, weighs the whole run."""
    assert main(["check", "--ended", str(flat_run), "--fail-on", "warn"]) == 1


def test_a_log_of_last_week_is_of_a_run_that_is_over(flat_run: Path) -> None:
    """After a day without a row nobody has to say so."""
    log = flat_run / "flat" / "progress.csv"
    os.utime(log, (time.time() - 2 * DAY_S,) * 2)
    assert main(["check", str(flat_run), "--fail-on", "warn"]) == 1


def test_a_run_that_falls_silent_is_judged_again(
    flat_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is watched; a row that comes after all takes it back."""
    monkeypatch.setattr("ppo_top.runs.judge_queue.LOOK_AT_ENDS_S", 0.0)
    monkeypatch.setattr(liveness.LOG_WRITERS, "has_no_writers", lambda _: False)
    watched = WatchedDirectory(flat_run)
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    assert worst(run) < Severity.WARN
    log = flat_run / "flat" / "progress.csv"
    os.utime(log, (time.time() - 2 * DAY_S,) * 2)
    (source,) = run.sources.values()
    source.mtime = log.stat().st_mtime
    watched.session.judge()
    assert worst(run) >= Severity.WARN
    with log.open("a") as file:
        file.write("126976,-150,100,0.5\n")
    watched.read_and_judge()
    assert worst(run) < Severity.WARN
    watched.finish()


def test_an_end_is_for_a_single_look(flat_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--follow` sees for itself when a run ends."""
    assert main(["check", "--ended", "--follow", str(flat_run)]) == 2
    assert "--ended" in capsys.readouterr().err
