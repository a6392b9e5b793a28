"""`check --follow` for weeks, simulated: memory does not grow with the past."""

from __future__ import annotations

import gc
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.output.run_events import ChangeReporter
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.screens import FakeClock

pytestmark = pytest.mark.no_cover  # what coverage remembers would be counted as ours

KIBIBYTE = 1 << 10
CSV_COLUMNS = (
    "time/total_timesteps,train/approx_kl,train/loss,train/entropy_loss,rollout/ep_rew_mean"
)


class FollowSession:
    """What `check --follow` does, poll after poll, and its memory."""

    def __init__(self, root: Path) -> None:
        self.clock = FakeClock()
        self.follower = Follower([root], clock=self.clock)
        self.session = Session(Settings())
        self.events_sent = 0
        self.reporter = ChangeReporter(self.session, self._say)

    def _say(self, _: dict[str, object]) -> None:
        self.events_sent += 1

    def poll_once(self) -> None:
        """One poll, so long after the last one that nothing is put off."""
        self.follower.wait(0.0)
        self.clock.now += 60.0
        read_to_end(self.follower, self.session)
        self.reporter.report_changes(0.0)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of Python objects alive."""
        gc.collect()
        return tracemalloc.get_traced_memory()[0]


@pytest.fixture
def weeks(tmp_path: Path) -> Iterator[FollowSession]:
    """A watcher over an empty directory."""
    (tmp_path / "runs").mkdir()
    weeks = FollowSession(tmp_path / "runs")
    tracemalloc.start()
    yield weeks
    tracemalloc.stop()
    weeks.follower.close()


def rows(first: int, count: int) -> str:
    """Updates of a healthy run, by number."""
    return "".join(
        f"{n * 2048},{0.01 + n % 7 / 1000},{0.5 + n % 5 / 9},{-0.6 + n % 4 / 99},{100 + n % 50}\n"
        for n in range(first, first + count)
    )


def test_a_run_without_end(tmp_path: Path, weeks: FollowSession) -> None:
    """Memory is constant beyond the limit of points (a million; fewer here)."""
    weeks.session.max_points = 5_000
    log = tmp_path / "runs/ppo/progress.csv"
    log.parent.mkdir()
    log.write_text(CSV_COLUMNS + "\n")
    held = []
    for block in range(12):
        with open(log, "a") as file:
            file.write(rows(block * 1_000, 1_000))
        weeks.poll_once()
        held.append(weeks.allocated_bytes)
    (run,) = weeks.session.runs.values()
    assert run.points == 5 * 12_000
    assert run.timeline.mark(len(run.timeline) - 1).step == 11_999 * 2048
    assert held[-1] - held[4] < 400 * KIBIBYTE  # the points of 7,000 updates are 820
    shutil.rmtree(tmp_path / "runs/ppo")
    weeks.poll_once()
    assert weeks.session.runs == {}
    assert weeks.allocated_bytes < held[0]


def test_runs_that_come_and_go(tmp_path: Path, weeks: FollowSession) -> None:
    """Dozens of runs are created, judged, rotated and deleted: nothing is left of them."""

    def life(number: int) -> None:
        folder = tmp_path / f"runs/{number}"
        folder.mkdir()
        log = folder / "progress.csv"
        log.write_text(CSV_COLUMNS + "\n" + rows(0, 60) + f"{61 * 2048},nan,nan,0,0\n")
        (folder / "train.log").write_text("Iteration 1/9 | KL: nan\n" * 20)
        weeks.poll_once()
        (folder / "train.log").rename(folder / "train.log.1")
        (folder / "train.log").write_text("Iteration 1/9 | KL: 0.1\n")
        log.write_text(CSV_COLUMNS + "\n" + rows(0, 3))
        weeks.poll_once()
        shutil.rmtree(folder)
        weeks.poll_once()
        assert weeks.session.runs == {}

    for number in range(30):
        life(number)
    before, sent = weeks.allocated_bytes, weeks.events_sent
    for number in range(30, 90):
        life(number)
    assert weeks.events_sent - sent >= 2 * 60  # they were judged
    # a few hundred bytes per name, of at most 100,000 names
    assert weeks.allocated_bytes - before < 80 * KIBIBYTE
    assert not weeks.reporter._reported_findings and not weeks.reporter._reported_states
