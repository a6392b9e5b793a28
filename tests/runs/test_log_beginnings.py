"""Where a log begins: with its first point, not with the first row that is judged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import ppo_top
from tests.support.event_files import EVENT_TIME, scalar_record

LEARNING_STARTS = 4_000


def write_dqn(path: Path, *, first_episode: int) -> None:
    """CleanRL's dqn.py: episodes from `first_episode` on, losses from the first update on."""
    draw = random.Random(3)
    ends, step = [], first_episode
    while step < 40_000:
        step += (length := draw.randint(12, 34))
        ends.append((step, length))
    losses = range(max(LEARNING_STARTS, first_episode) + 100, 40_000, 100)
    points = [
        *((step, "charts/episodic_return", float(length)) for step, length in ends),
        *((step, "losses/td_loss", 0.5) for step in losses),
    ]
    records = (scalar_record(tag, at, v, EVENT_TIME + at / 1000) for at, tag, v in sorted(points))
    path.mkdir()
    (path / "events.out.tfevents.1700000000.host.1.0").write_bytes(b"".join(records))


@pytest.mark.parametrize(("first_episode", "midway"), [(0, False), (30_000, True)])
def test_episodes_before_the_first_update_are_the_beginning(
    tmp_path: Path, first_episode: int, midway: bool
) -> None:
    """A log with episodes from the start does not begin midway, however late losses do."""
    write_dqn(tmp_path / "dqn", first_episode=first_episode)
    (run,) = ppo_top.check([tmp_path / "dqn"])["runs"]
    found = {each["rule"]: each["message"] for each in run["findings"]}
    assert ("begins midway" in found["reward-never-moves"]) is midway
