"""The course of the reward: has it learned, did it fall back, is it below its start.

Most rules judge a metric by what it does to the reward, so this is computed once per row. Each
statement is a test asked at every point, on what `RewardMeasures` holds.
"""

from __future__ import annotations

import math

from ppo_top.model import Mark
from ppo_top.rules.engine.history import TREND_VALUES
from ppo_top.rules.engine.reward.ceiling import is_at_ceiling
from ppo_top.rules.engine.reward.measures import (
    FIRST_POINTS,
    GAIN_NOISE,
    LOW_SHARE,
    MIN_LOOKS,
    MIN_POINTS,
    RISE_NOISE,
    START_POINTS,
    RewardMeasures,
)
from ppo_top.rules.engine.stats import SIGNIFICANT, median

UNLEARNED, FALLEN, AT_MAX, EVALUATED, GAINED = 1, 2, 4, 8, 16
"""States of a reward: nothing gained; what was gained is lost, or was since the best; at its
ceiling; evaluated at this row or the one before; something gained."""

START_EPISODES = 100
"""A level that was held for this many episodes is the start, as one of `START_POINTS` is."""

RISING_TAU, FALLING_TAU = 0.3, -0.45
"""Kendall's tau of the newest points from which they rise or fall."""

CLIMBING = 2.58
"""Standard deviations of a trend by rank that chance exceeds once in a hundred times."""

LASTING_POINTS, LASTING_FACTOR = 10, 3
"""A drawdown no deeper than an earlier one counts if it lasts longer than both."""

ROUNDING = 1e-12
"""Means of equal rewards differ by no more than this share of them; near 0, by this much."""

LOWEST_OF = 40
"""The first of so many points, or more, is the lowest by chance in one run of forty."""

OVERLAP, MOST_OVERLAP = 0.5, 2.0
"""A rise exceeds so many standard deviations for each row of a moving mean, and at most these."""


class RewardCourse(RewardMeasures):
    """What can be said of the reward in one segment of a run."""

    at_max = False
    """Whether the reward sits at its ceiling."""

    def add_reward(
        self, mark: Mark, step: int = 0, length: float | None = None, counted: float | None = None
    ) -> None:
        super().add_reward(mark, step, length, counted)
        self.at_max = is_at_ceiling(self)

    @property
    def change(self) -> float:
        """The last quarter's mean minus the first one's, in its standard deviations."""
        return self._rise_since(0)

    @property
    def rising(self) -> bool:
        """Whether the last 15 points rise by rank and by more than noise, or a quarter has."""
        trend = self.trend
        if trend.tau > 0.0 and self.late_rise > RISE_NOISE:
            return True
        if trend.tau <= RISING_TAU or not self._has_trend():
            return False
        return (
            self._moved()
            > min(MOST_OVERLAP, OVERLAP * self.source.rows_per_window) * self._usual_sd
        )

    @property
    def falling(self) -> bool:
        """Whether what was gained is being lost, or the last 15 points fall by rank and noise."""
        if self.gained and self.low_points and (self.lasting or self.is_unprecedented(1.0)):
            return True
        if self.trend.tau >= FALLING_TAU or not self._has_trend():
            return False
        moved = self._moved()
        return moved < -GAIN_NOISE * self._usual_sd < 0.0 and -moved > self.made_good

    @property
    def climbs_by_rank(self) -> bool:
        """Whether the newest points, at most 15, rise by rank; overlapping means often do."""
        return self.trend.z > CLIMBING and self.source.rows_per_window <= 1.0

    def _has_trend(self) -> bool:
        """Whether the last 15 points rise or fall by rank."""
        return self.trend.full and abs(self.trend.z) > SIGNIFICANT

    def _moved(self) -> float:
        """How far the last 15 points have moved."""
        values = self.trend.values
        return median(values[-3:]) - median(values[:3])

    def is_unprecedented(self, factor: float) -> bool:
        """Whether the drawdown is `factor` times any that was made good."""
        return self.depth > factor * self.made_good

    @property
    def lasting(self) -> bool:
        """Whether the reward stays low for far longer than it ever did."""
        return self.low_points > max(LASTING_POINTS, LASTING_FACTOR * self.longest_low)

    @property
    def below(self) -> float:
        """By how much the newest points all lie below the level held at the start."""
        newest = int(min(FIRST_POINTS, max(3, self.source.rows_per_window)))
        return self.start_level - max(self.recent[-newest:])

    @property
    def start_level(self) -> float:
        """The level held at the start; `baseline` is that of its first moment, or lower."""
        return median(self.first[: self.start_points])

    @property
    def start_points(self) -> int:
        """How many of the first points make the start: `START_POINTS`, or `START_EPISODES`."""
        held = max(3, int(3.0 * self.source.rows_per_window))
        if held < START_POINTS:
            each = self.episodes / max(1, self.points) if self.source.counted else 1.0
            held = max(held, min(START_POINTS, math.ceil(START_EPISODES / each)))
        return min(FIRST_POINTS, held, max(3, self.points // 2))

    @property
    def episodes(self) -> float:
        """Episodes behind these rewards; at least one a row."""
        return max(self.source.episodes, float(self.history.count))

    @property
    def constant(self) -> bool:
        """Whether all rewards are the same, but for rounding."""
        low, high = self.history.low, self.history.high
        return high - low <= ROUNDING * max(1.0, abs(high))

    @property
    def start_pays(self) -> int:
        """The sign of the first rewards: 0 where nothing was paid, but for rounding."""
        return (self.baseline > ROUNDING) - (self.baseline < -ROUNDING)

    @property
    def state(self) -> int:
        """The states that it is in, as `Rule.reward_states` names them."""
        state = UNLEARNED
        if self.gained:
            fallen = self.low_points or self.falls or self.lost_share > LOW_SHARE
            state = GAINED | FALLEN if fallen else GAINED
        return state | AT_MAX if self.at_max else state

    @property
    def is_up(self) -> bool:
        """Whether it is above its start by its noise: too early to call that learned."""
        return self.smooth > self.baseline + self.noise > self.baseline

    @property
    def began_lowest(self) -> bool:
        """Whether the first point lies below all later ones, and far below the last quarter's mean.

        A noisy reward that is learned within the first rows has nothing else that shows it.
        """
        if self.points < LOWEST_OF or not self.quarters or self.source.rows_per_window > 1.0:
            return False
        first, later = self.first[0], min(*self.first[1:], *self.recent[1:])
        lowest = first < later and first <= self.history.low
        return lowest and self.quarters[-1][1] - first > GAIN_NOISE * self.noise > 0.0

    @property
    def flat(self) -> bool:
        """Not rising and not at its ceiling, with enough measurements that tell something."""
        told = self.count >= TREND_VALUES and self.points >= MIN_POINTS and self.looks >= MIN_LOOKS
        return told and not (self.rising or self.at_max or self.pays_alike)

    @property
    def stuck(self) -> bool:
        """Flat or falling."""
        return self.flat or self.falling

    @property
    def levelled_off(self) -> bool:
        """Whether the second half of the run has brought no rise."""
        return self.looks >= MIN_POINTS and not self.rising and self.late_rise < GAIN_NOISE
