"""Whether the reward fell, by means over several of its points.

A median of three points shows a fall within a few updates; means of more points show one that is
small beside the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ppo_top.rules.engine.reward_course import RewardCourse

WIDTHS = (3, 6, 12)
"""Blocks in a mean."""

LEAST_SHARE = 1.0 / 6.0
"""A mean holds this share of the run: what is shorter may be a dip."""


class MeanFall(NamedTuple):
    """The newest mean beside the best one before it, all of equally many points.

    `gain_noise` and `fall_noise` are the gain before it and the fall in standard deviations.
    `made_good` is the largest fall of such means that was followed by a rise as high.
    """

    start: float
    best: float
    now: float
    gain_noise: float
    fall_noise: float
    made_good: float

    @property
    def lost_share(self) -> float:
        """The share of the gain that is lost; 0 without a gain."""
        gain = self.best - self.start
        return (self.best - self.now) / gain if gain > 0.0 else 0.0


def mean_falls(reward: RewardCourse) -> list[MeanFall]:
    """The fall by means of each width that the run is long enough for."""
    blocks = [block for block in reward.means.blocks if block.size >= reward.means.size]
    if not reward.noise > 0.0:
        return []
    values = [block.mean for block in blocks]
    return [
        _fall(_moving_means(values, width), width, reward)
        for width in WIDTHS
        if LEAST_SHARE * len(values) <= width < 0.5 * len(values)
    ]


def _moving_means(values: Sequence[float], width: int) -> list[float]:
    sums = [0.0, *accumulate(values)]
    return [(after - before) / width for before, after in zip(sums, sums[width:], strict=False)]


def _fall(means: Sequence[float], width: int, reward: RewardCourse) -> MeanFall:
    looks = max(1.0, width * reward.means.size / reward.source.rows_per_window)
    sd = reward.noise * math.sqrt(2.0 / looks)
    start, now, best = means[0], means[-1], max(means[:-width])
    return MeanFall(start, best, now, (best - start) / sd, (best - now) / sd, _made_good(means))


def _made_good(means: Sequence[float]) -> float:
    """The largest rise after a fall, no higher than the fall was."""
    best = trough = means[0]
    largest = 0.0
    for before, value in pairwise(means):
        if value > best:
            largest = max(largest, best - trough)
            best = trough = value
        elif value > before:
            largest = max(largest, value - trough)
        trough = min(trough, value)
    return largest
