"""What the corpus' own scripts log is a log that the program reads."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

import ppo_top
from corpus.control_task import OTHER_OWN_LOGS, OWN_LOGS
from corpus.own_logs import LogWriter

TEXT_LOGS = [way for way in (*OWN_LOGS, *OTHER_OWN_LOGS) if way != "events"]
UPDATES, STEPS, EPISODES = 12, 512, 10
"""Updates, and steps and episodes in each."""


def write_log(way: str, folder: Path) -> list[int]:
    """Log a training whose n-th update has episodes of return n; the steps of the log's rows."""
    steps: list[int] = []
    script = SimpleNamespace(figures=("policy_loss", "entropy"), steps=0, updates=0, episodes=0)
    with closing(LogWriter(way, folder, UPDATES * STEPS, steps)) as log:
        for update in range(1, UPDATES + 1):
            script.recent = [(float(update), 40.0)] * EPISODES
            script.steps, script.updates = update * STEPS, update
            for score, length in script.recent:
                script.episodes += 1
                log.episode(script, score, length)
            log.row(script, {"policy_loss": 0.5 / update, "entropy": 1.25 / update})
    return steps


@pytest.mark.parametrize("way", sorted(set(TEXT_LOGS)))
def test_returns_are_read_from_each_way_of_logging(way: str, tmp_path: Path) -> None:
    """One in each row; the mean of the last 100 episodes where a script prints that."""
    rows = write_log(way, tmp_path)
    points = ppo_top.points(tmp_path, "best")
    read = [point.value for point in points if point.concept == "reward_mean"]
    updates = [float(update) for update in range(1, UPDATES + 1)]
    means = [(update + 1) / 2 if update <= 10 else update - 4.5 for update in updates]
    assert read == pytest.approx(means if way == "episodes" else updates)
    assert len(read) == len(rows)
