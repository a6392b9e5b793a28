"""What is measured of a reward at every point: its levels, its gain, its drawdowns.

Limits are multiples of the noise, and of the largest drawdown that the run has made good before, so
that an algorithm that always wobbles is measured by its own wobble.
"""

from __future__ import annotations

import math
from typing import Self

from ppo_top.catalogue import KnownEnvironment
from ppo_top.model import NO_STEP, UNKNOWN_SAMPLE, UNKNOWN_TIME, Mark, Sample
from ppo_top.rules.engine.history import TREND_VALUES, History
from ppo_top.rules.engine.reward.episode_blocks import RewardPoint
from ppo_top.rules.engine.reward.point_means import PointMeans
from ppo_top.rules.engine.reward.points import RewardPoints
from ppo_top.rules.engine.stats import Trend, median

MIN_POINTS = 6
"""With fewer points nothing is said."""

MIN_LOOKS = 3
"""Nor with fewer independent ones: the rows of a moving mean overlap."""

MAX_POINTS = 64
"""Newest points kept."""

FIRST_POINTS = 20
"""First points kept, for the level at the start."""

START_POINTS = 10
"""A level that was held for this many points is the start, not a moment of it."""

GAIN_NOISE, KEPT_GAIN_NOISE = 3.0, 2.0
"""The best exceeds the start by this many standard deviations; what was gained must keep fewer."""

RISE_NOISE = 4.0
"""The last quarter of the run exceeds the first by this many."""

LOW_NOISE, LOW_SHARE = 4.0, 0.35
"""A real drawdown: in standard deviations, and as a share of the gain."""

STAY_LOOKS, STAY_NOISE = 8, 2.5
"""So many independent measurements in a row, all of them low, need fewer standard deviations."""

RECOVERED_NOISE, RECOVERED_SHARE = 2.0, 0.15
"""A drawdown below both is made good."""

ALIKE = 0.005
"""Means of steps that differ by no more than this share of the highest are of equal payments."""

NOTABLE_SHARE = 0.02
"""A best that beats the last one by less than this share of the gain is none to speak of."""


class RewardMeasures:
    """What is measured in one segment of a run.

    The unit is a point: a row, or a block of rows that hold single episodes (`RewardPoints`).
    `smooth` is the median of the last three points (`levels`: at each of the `recent` ones),
    `baseline` of the first three, `best` the highest `smooth` so far (at row `best_row`; since then
    `falls` drawdowns were made good), `gain` = best - baseline, `drawdown` = best - smooth,
    `lost_share` its share of the gain, 0 if nothing was `gained`.
    `made_good` is the largest drawdown that was followed by a rise as high. `low_since` is where
    the newest real drawdown, of `low_points` points, began. `looks` is how many independent
    measurements the points amount to: the rows of a moving mean overlap. `noise` is the usual
    standard error of a point, 0 while unknown.
    """

    def __init__(
        self,
        history: History,
        ceiling: float | None,
        sample: Sample = UNKNOWN_SAMPLE,
        environment: KnownEnvironment | None = None,
    ) -> None:
        self.history = history
        self.ceiling = ceiling
        self.environment = environment
        self.source = RewardPoints(sample)
        self.notable_best_count = 0
        self.highest_evaluation = -math.inf
        """What an evaluation of the same policy returned at most."""
        self._reset()

    def _reset(self) -> None:
        self.points = 0
        self.looks = 0.0
        self.first: list[float] = []
        self.recent: list[float] = []
        self.levels: list[float] = []
        self.trend = Trend(TREND_VALUES)
        self.means = PointMeans()
        self.quarters: list[tuple[int, float]] = []
        self.excess = self.start_excess = self.best_excess = 1.0
        self.baseline = self.smooth = math.nan
        self.best = self.notable_best = -math.inf
        self.best_row = -1
        self.trough = self.made_good = self.rise = self.late_rise = 0.0
        self.gain = self.noise = self.drawdown = self.lost_share = 0.0
        self.low_points = self.longest_low = self.falls = 0
        self.marks: tuple[Mark, ...] = ()
        self.low_since = Mark(0, NO_STEP, UNKNOWN_TIME)
        self.gained = False

    @property
    def pays_alike(self) -> bool:
        """Whether it is the mean of steps that all pay the same: it cannot tell how long they last.

        CartPole pays 1 for each, TorchRL's Trainer logs their mean.
        """
        if self.source.sample.kind != "step":
            return False
        low, high = self.history.low, self.history.high
        return high - low <= ALIKE * abs(high) > 0.0

    def copy(self, history: History) -> Self:
        """An independent copy on the copied history."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.history, other.source = history, self.source.copy()
        other.first, other.recent = self.first.copy(), self.recent.copy()
        other.levels = self.levels.copy()
        other.trend, other.means = self.trend.copy(), self.means.copy()
        return other

    def add_reward(
        self, mark: Mark, step: int = 0, length: float | None = None, counted: float | None = None
    ) -> None:
        """Update with the value just added to the history, at the row `mark`.

        `step` counts from the start of the log, `length` is the mean length of episodes, `counted`
        the trainer's own count of them, where these are logged.
        """
        history, source = self.history, self.source
        new = source.add(history.last, step, length, counted)
        if source.put_into_blocks(history):
            new = None
        if new is None and source.blocks is not None:
            self._reset()
            new = source.blocks.points()
        self.noise = source.noise if source.noise == source.noise else 0.0
        count = history.count
        points = new or []
        for number, point in enumerate(points, 1):
            self._add_point(point, mark, count * number // len(points))

    def _add_point(self, point: RewardPoint, mark: Mark, count: int) -> None:
        """Add a point that ends with the `count`-th reward."""
        value, recent = point.value, self.recent
        self.points += 1
        self.looks += 1.0 / self.source.rows_per_window
        self.excess = point.excess
        self.marks = (*self.marks[-2:], mark)
        self.trend.push(value)
        begins_block = self.means.add(value)
        if self.points <= FIRST_POINTS:
            self.first.append(value)
        recent.append(value)
        if len(recent) > MAX_POINTS:
            del recent[0], self.levels[0]
        self.smooth = smooth = median(recent[-3:])
        self.levels.append(smooth)
        if self.points <= 3:
            self.baseline, self.start_excess = median(self.first), point.excess
        if smooth > self.best or self.points <= 3:  # the initial level is no gain
            self._new_best(mark.row, count)
        elif smooth < self.trough:
            self.trough = smooth
        elif smooth - self.trough > self.made_good:
            self.made_good = smooth - self.trough
        if begins_block:
            self._compare_quarters()
        self._measure_gain()
        if self.gained:
            self._measure_drawdown()
        if self.best_row == mark.row:
            self.falls = 0

    def _new_best(self, row: int, count: int) -> None:
        """A new best; notable if it beats the last notable one by 2 % of the gain."""
        self.made_good = max(self.made_good, self.best - self.trough) if self.points > 3 else 0.0
        self.best = self.trough = self.smooth
        self.best_row, self.best_excess = row, self.excess
        step = NOTABLE_SHARE * (self.best - self.baseline)
        if self.best > self.notable_best + max(step, self.noise):
            self.notable_best, self.notable_best_count = self.best, count

    def _measure_gain(self) -> None:
        """Whether the best exceeds the start, or the last quarter of the run the first."""
        rises = self.rise > RISE_NOISE and not self._fell_at_first()
        if rises:  # the first three points may be too late
            self.baseline = min(self.baseline, self.quarters[0][1])
        self.gain = self.best - self.baseline
        if not rises:
            apart = self.noise * math.hypot(self.best_excess, self.start_excess)
            enough = KEPT_GAIN_NOISE if self.gained else GAIN_NOISE
            rises = self.gain > enough * apart > 0.0
        told = self.points >= MIN_POINTS and self.looks >= MIN_LOOKS
        self.gained = told and rises and self.gain > 0.0
        self.drawdown = self.best - self.smooth
        self.lost_share = self.drawdown / self.gain if self.gained else 0.0

    def _fell_at_first(self) -> bool:
        """Whether the last quarter lies below the first point: a rise from a fall is no gain."""
        return self.first[0] > self.quarters[-1][1] + RISE_NOISE * self.noise

    def _compare_quarters(self) -> None:
        """How far the last quarter lies above the third, and above the first or the start."""
        self.quarters = self.means.quarters()
        self.late_rise = self._rise_since(2)
        self.rise = max(self._rise_since(0), self._rise_since_start())

    def _rise_since(self, quarter: int) -> float:
        """The last quarter's mean minus an earlier one's, in its standard deviations."""
        quarters, noise = self.quarters, self.noise
        if not quarters or not noise > 0.0:
            return 0.0
        count = max(1.0, min(quarters[-1][0], quarters[quarter][0]) / self.source.rows_per_window)
        return (quarters[-1][1] - quarters[quarter][1]) / (noise * math.sqrt(2.0 / count))

    def _rise_since_start(self) -> float:
        """The last quarter's mean minus the first points', in its standard deviations.

        It sees what was learned within the first few per cent of a noisy run.
        """
        quarters, noise = self.quarters, self.noise
        size = min(START_POINTS, len(self.first))
        if not noise > 0.0 or self.points < 4 * size:
            return 0.0
        window = self.source.rows_per_window
        early, late = max(1.0, size / window), max(1.0, quarters[-1][0] / window)
        apart = noise * self.start_excess * math.sqrt(1.0 / early + 1.0 / late)
        return (quarters[-1][1] - sum(self.first[:size]) / size) / apart

    def _measure_drawdown(self) -> None:
        """How long the reward has been low, and how often since the best that was made good."""
        lost = self.drawdown
        if lost < RECOVERED_SHARE * self.gain or lost < RECOVERED_NOISE * self.sd:
            self.falls += self.low_points > 0
            self.longest_low = max(self.longest_low, self.low_points)
            self.low_points = 0
        elif self.lost_share > LOW_SHARE and self._is_low():
            if not self.low_points:
                self.low_since = self.marks[0]
            self.low_points += 1

    def _is_low(self) -> bool:
        """Whether the newest points lie below the best by more than noise, or stay below it."""
        stay = math.ceil(STAY_LOOKS * self.source.rows_per_window)
        stays = self.best - max(self.recent[-stay:]) if len(self.recent) >= stay else 0.0
        return self.depth > LOW_NOISE * self.sd or stays > STAY_NOISE * self.sd

    @property
    def count(self) -> int:
        """Number of rewards in this segment."""
        return self.history.count

    @property
    def depth(self) -> float:
        """By how much all of the three newest points lie below the best."""
        return self.best - max(self.recent[-3:])

    @property
    def sd(self) -> float:
        """The standard deviation of the best minus the present level; infinite while unknown."""
        return self._usual_sd or math.inf

    @property
    def _usual_sd(self) -> float:
        """The same, 0 while unknown."""
        return self.noise * math.hypot(self.excess, self.best_excess)

    @property
    def scale(self) -> float:
        """The size of the rewards, at their start or at their best."""
        return max(abs(self.best), abs(self.baseline)) if self.points else 0.0
