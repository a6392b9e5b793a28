"""A last line without an end: of a process that is writing, or of one that is long gone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.files.reading.log_bytes import QUIET_S

LOGS = {
    "progress.csv": ("step,reward\n1,0.5\n2,0.75", "9\n"),
    "train.log": ("step: 1 | reward: 0.5\nstep: 2 | reward: 0.75", "9\n"),
}


def make_quiet(path: Path) -> None:
    """Set the file's time back by more than the time after which a line counts."""
    then = time.time() - 2 * QUIET_S
    os.utime(path, (then, then))


def rewards(follower: Follower, known: list[float]) -> list[float]:
    """All rewards after another poll; a reset forgets those before."""
    for update in follower.poll(budget=5.0).updates:
        if update.reset:
            known = []
        known = known + [v for p in update.batch.points if p.tag == "reward" for v in p.values]
    return known


@pytest.mark.parametrize("name", LOGS)
def test_the_last_line_of_a_quiet_file_counts(tmp_path: Path, name: str) -> None:
    """Two years old: nobody will end that line."""
    (tmp_path / name).write_text(LOGS[name][0])
    make_quiet(tmp_path / name)
    follower = Follower([tmp_path], once=True)
    assert rewards(follower, []) == [0.5, 0.75]
    follower.close()


@pytest.mark.parametrize("name", LOGS)
def test_the_last_line_of_a_file_that_grows_waits(tmp_path: Path, name: str) -> None:
    """Half a number is never given."""
    (tmp_path / name).write_text(LOGS[name][0])
    follower = Follower([tmp_path], once=True)
    assert rewards(follower, []) == [0.5]
    follower.close()


@pytest.mark.parametrize("name", LOGS)
def test_a_line_that_is_continued_after_all_is_read_again(tmp_path: Path, name: str) -> None:
    """A writer that held the rest back for minutes."""
    path = tmp_path / name
    path.write_text(LOGS[name][0])
    make_quiet(path)
    clock = [0.0]
    follower = Follower([tmp_path], clock=lambda: clock[0])
    found = rewards(follower, [])
    clock[0] += 10.0
    found = rewards(follower, found)
    assert found == [0.5, 0.75]
    with path.open("a") as log:
        log.write(LOGS[name][1])
    clock[0] += 10.0
    found = rewards(follower, found)
    assert found == [0.5, 0.759]
    follower.close()


def test_a_file_that_ends_where_a_buffer_did_is_torn(tmp_path: Path) -> None:
    """A killed process leaves whole blocks, and half a line at their end."""
    path = tmp_path / "progress.csv"
    rows = "step,reward\n" + "".join(f"{number},0.5\n" for number in range(1000, 2000))
    path.write_text(rows[:4096])
    make_quiet(path)
    follower = Follower([tmp_path], once=True)
    assert len(rewards(follower, [])) == rows[:4096].count("\n") - 1
    follower.close()
