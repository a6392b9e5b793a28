"""Whether the reward fell, by means over several of its points.

A median of three points shows a fall within a few updates; means of more points show one that is
small beside the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.stats import median

WIDTHS = (3, 6, 12)
"""Blocks in a mean."""

LEAST_SHARE = 1.0 / 6.0
"""A mean holds this share of the run: what is shorter may be a dip."""

END_PARTS = 5
"""The end of a run is its last part of so many."""


class MeanFall(NamedTuple):
    """A level now beside the best mean before it, of equally many points, and the start.

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
        return self.lost_of(self.start)

    def lost_of(self, lower_start: float) -> float:
        """The same where the gain begins at another level, if that is lower."""
        gain = self.best - min(self.start, lower_start)
        return (self.best - self.now) / gain if gain > 0.0 else 0.0


def mean_falls(reward: RewardCourse) -> list[MeanFall]:
    """The fall by means of each width that the run is long enough for."""
    values = _block_means(reward)
    widths = [each for each in WIDTHS if LEAST_SHARE * len(values) <= each < 0.5 * len(values)]
    each_width = {width: _moving_means(values, width) for width in widths}
    return [_fall(means, means[-1], width, reward) for width, means in each_width.items()]


def fall_at_end(reward: RewardCourse) -> MeanFall | None:
    """The level of a run's end beside the best mean before; None of a run too short to be parted.

    The level is a median: a dip of the last few points is not the end. What was learned at once is
    in the first mean already, so the gain begins at the first points if those are lower.
    """
    values = _block_means(reward)
    width = len(values) // END_PARTS
    if not width:
        return None
    first, *later = _moving_means(values, width)
    means = [min(first, reward.baseline), *later]
    return _fall(means, median(values[-width:]), width, reward)


def _block_means(reward: RewardCourse) -> list[float]:
    """The means of equally many points; none while the noise is unknown."""
    return reward.means.means if reward.noise > 0.0 else []


def _moving_means(values: Sequence[float], width: int) -> list[float]:
    sums = [0.0, *accumulate(values)]
    return [(after - before) / width for before, after in zip(sums, sums[width:], strict=False)]


def _fall(means: Sequence[float], now: float, width: int, reward: RewardCourse) -> MeanFall:
    """The fall from the best of `means`, of which the first is the start: no gain by itself."""
    looks = max(1.0, width * reward.means.size / reward.source.rows_per_window)
    sd = reward.noise * math.sqrt(2.0 / looks)
    start, best = means[0], max(means[:-width])
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
