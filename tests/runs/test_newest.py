"""While a long log is being read, the values at its end are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.files import log_reader
from ppo_top.files.follower import Follower
from ppo_top.model import Status
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.views.checklist import CheckRow
from ppo_top.views.run_view import make_run_view

LineMaker = Callable[[int, float], str]
CSV_HEADER = "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/entropy_loss\n"


def csv_line(row: int, kl: float) -> str:
    """A line of SB3's progress.csv."""
    return f"{row * 2048},{row % 90},{kl},-0.6{'':>40}\n"


def json_line(row: int, kl: float) -> str:
    """The same as JSON lines."""
    return (
        f'{{"time/total_timesteps": {row * 2048}, "rollout/ep_rew_mean": {row % 90}.5, '
        f'"train/approx_kl": {kl}, "train/entropy_loss": -0.6}}\n'
    )


def console_line(row: int, kl: float) -> str:
    """The same on a console."""
    return f"step: {row * 2048} | reward: {kl} | entropy: 0.6\n"


class SlowReader:
    """Reads as the screen does, in small polls."""

    def __init__(self, folder: Path) -> None:
        self.follower = Follower([folder])
        self.session = Session(Settings())

    def poll(self) -> list[CheckRow]:
        """One poll; returns the checklist of the only run."""
        polled = self.follower.poll(limit=200, budget=0.0)
        self.session.apply(polled)
        for run in self.session.runs.values():
            self.follower.focus(run.sources)
            self.session.judge(0.0, first=run.id)
            return list(make_run_view(run).checklist)
        return []

    def read_all(self) -> list[CheckRow]:
        """Read to the end; returns the checklist."""
        while True:
            rows = self.poll()
            if rows and not self.session.reader_has_more:
                self.session.judge()
                return list(make_run_view(next(iter(self.session.runs.values()))).checklist)


def row_of(rows: list[CheckRow], concept: str) -> CheckRow | None:
    """The checklist row of a concept, if it has a value."""
    return next((row for row in rows if row.concept == concept and row.text), None)


@pytest.mark.parametrize(
    ("name", "header", "line", "concept"),
    [
        ("progress.csv", CSV_HEADER, csv_line, "approx_kl"),
        ("progress.json", "", json_line, "approx_kl"),
        ("console.log", "", console_line, "reward_mean"),
    ],
)
def test_the_newest_value_of_a_long_log_comes_at_once(
    tmp_path: Path,
    name: str,
    header: str,
    line: LineMaker,
    concept: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A value that jumps at the very end is shown long before the whole log is read."""
    monkeypatch.setattr(log_reader, "LONG_LOG_BYTES", 1 << 18)
    rows = (1 << 20) // len(line(1000, 0.01))
    text = header + "".join(line(row, 0.01) for row in range(rows)) + line(rows, 1.75)
    (tmp_path / name).write_text(text)
    reader = SlowReader(tmp_path)
    rows_seen = (row_of(reader.poll(), concept) for _ in range(12))
    seen = next(found for found in rows_seen if found and found.note == "still reading")
    assert seen.value == 1.75
    assert (seen.status is Status.CRIT) == (concept == "approx_kl")
    (run,) = reader.session.runs.values()
    assert run.points < rows  # most of it has not been read
    last = row_of(reader.read_all(), concept)
    assert last is not None
    assert last.value == 1.75
    assert last.note != "still reading"
    assert len(run.timeline) == rows + 1  # each row once
    reader.follower.close()


def test_the_end_of_a_short_log_is_not_read_first(tmp_path: Path) -> None:
    """A log that one poll can read needs no look at its end."""
    (tmp_path / "progress.csv").write_text(CSV_HEADER + csv_line(0, 0.01))
    follower = Follower([tmp_path])
    follower.focus(["progress.csv"])
    updates = [update for _ in range(3) for update in follower.poll().updates]
    assert not any(update.last_points_only for update in updates)
    follower.close()
