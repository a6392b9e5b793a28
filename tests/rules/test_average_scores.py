"""A mean of the last 100 scores that a script prints after each episode."""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path

import pytest

import ppo_top


def print_scores(log: Path, gain: float, episodes: int, seed: int) -> None:
    """Scores of either sign, and what Udacity's scripts print (Deep_Q_Network_Solution.ipynb)."""
    draw, window, text = random.Random(seed), deque[float](maxlen=100), ""
    for number in range(1, episodes + 1):
        window.append(draw.choice((-10.0, 10.0)) + gain * min(1.0, 2.0 * number / episodes))
        mean = sum(window) / len(window)
        text += f"\rEpisode {number}\tAverage Score: {mean:.2f}"
        text += f"\rEpisode {number}\tAverage Score: {mean:.2f}\n" if number % 100 == 0 else ""
    log.write_text(text)


def warnings(log: Path) -> set[str]:
    """The rules that warned of a run at any time."""
    (run,) = ppo_top.check(log)["runs"]
    return {each["rule"] for each in run["findings"] if each["worst_severity"] in ("warn", "crit")}


@pytest.mark.parametrize("seed", range(6))
def test_a_score_of_chance_neither_rises_nor_falls(seed: int, tmp_path: Path) -> None:
    """The mean wanders by two points within a run; none of that was learned, and none is lost."""
    print_scores(tmp_path / "train.log", 0.0, 1000, seed)
    assert warnings(tmp_path) <= {"reward-never-moves"}


@pytest.mark.parametrize("seed", range(6))
def test_a_score_that_rises_is_healthy(seed: int, tmp_path: Path) -> None:
    """By as much as single episodes differ."""
    print_scores(tmp_path / "train.log", 20.0, 1000, seed)
    assert not warnings(tmp_path)
