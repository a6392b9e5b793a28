"""A death is that of its run, unless another log shows that the training went on."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import State
from ppo_top.runs.liveness import run_status
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.number_log import ManualClock

DIED_AT = 1_700_000_000.0


def table(rows: int) -> str:
    """A table of updates, a thousand steps apart."""
    return "step,reward,kl\n" + "".join(
        f"{1000 * row},{20 + 1.37 * row:.2f},0.00{row % 7 + 2}\n" for row in range(1, rows + 1)
    )


def console(rows: int, last_words: str) -> str:
    """The same updates as a console prints them, and what stands behind them."""
    lines = (line.split(",") for line in table(rows).splitlines()[1:])
    printed = (f"step: {step} | reward: {reward} | kl: {kl}\n" for step, reward, kl in lines)
    return "".join(printed) + last_words


class Resumed:
    """A run of a table, and of the console of its first part."""

    def __init__(self, folder: Path) -> None:
        self.table, self.console = folder / "run/progress.csv", folder / "run/train.log"
        self.table.parent.mkdir()
        self.clock, self.session = ManualClock(), Session(Settings())
        self.follower = Follower([folder], clock=self.clock)

    def write(self, path: Path, text: str, seconds: float) -> None:
        """Write a log so many seconds after the death."""
        path.write_text(text)
        os.utime(path, (DIED_AT + seconds, DIED_AT + seconds))

    def read(self) -> Run:
        """The run as it is by now."""
        self.clock.now += 60.0
        self.follower.sweep_soon()
        read_to_end(self.follower, self.session)
        (run,) = self.session.runs.values()
        assert len(run.sources) == 2
        return run


def seen(run: Run) -> tuple[bool, bool]:
    """Whether its state is that it died, and whether a finding says so."""
    told = [each.rule for each in run.findings if each.cleared is None]
    return run_status(run, DIED_AT + 7200.0).state is State.DIED, "killed" in told


@pytest.mark.parametrize(
    ("rows", "seconds", "dies"),
    [(60, 0.0, True), (62, 3600.0, True), (90, 3600.0, False), (90, 5.0, True)],
    ids=["at once", "a last value", "it went on", "what the console had not written yet"],
)
def test_a_death_counts_unless_another_log_goes_on(
    tmp_path: Path, rows: int, seconds: float, dies: bool
) -> None:
    """By its steps and by when it was written, for the state and for the finding."""
    logs = Resumed(tmp_path)
    logs.write(logs.table, table(rows), seconds)
    logs.write(logs.console, console(60, "Killed\n"), 0.0)
    assert seen(logs.read()) == (dies, dies)


def test_a_training_that_goes_on_takes_its_death_back(tmp_path: Path) -> None:
    """Seen live: it died, and then it was resumed from its checkpoint."""
    logs = Resumed(tmp_path)
    logs.write(logs.table, table(60), 0.0)
    logs.write(logs.console, console(60, "Killed\n"), 0.0)
    assert seen(logs.read()) == (True, True)
    logs.write(logs.table, table(90), 3600.0)
    assert seen(logs.read()) == (False, False)


def test_a_training_that_is_complete_stays_so(tmp_path: Path) -> None:
    """Evaluations may be logged long after its end."""
    logs = Resumed(tmp_path)
    logs.write(logs.table, table(90), 3600.0)
    logs.write(logs.console, console(60, "Training complete!\n"), 0.0)
    assert run_status(logs.read(), DIED_AT + 7200.0).state is State.FINISHED


def test_what_failed_before_a_training_finished_is_no_death(tmp_path: Path) -> None:
    """A plot at the end, say: the console's last word is that the training is complete."""
    failed = 'Traceback (most recent call last):\n  File "a.py", line 1\nOSError: no such file\n'
    log = tmp_path / "train.log"
    log.write_text(console(60, f"{failed}Training complete!\n"))
    session = Session(Settings())
    read_to_end(Follower([log], clock=ManualClock()), session)
    (run,) = session.runs.values()
    assert run_status(run, time.time()).state is State.FINISHED
    assert "crashed" not in {each.rule for each in run.findings if each.cleared is None}
