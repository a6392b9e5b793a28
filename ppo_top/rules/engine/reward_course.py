"""The course of the reward: gain, drawdown, trend, and whether it is at its ceiling.

Most rules judge a metric by what it does to the reward, so this is computed once per row.
"""

from __future__ import annotations

import math

from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.stats import Noise, median

SETTLING_REWARDS = 8
"""This many rewards that hardly differ show that the reward has settled."""


class RewardCourse:
    """The course of the reward in one segment of a run.

    `smooth` is the median of the last three values, `baseline` of the first five, `best` the
    highest `smooth` so far (at row `best_row`), `peak` the highest median of ten values; `gain` =
    best - baseline, `drawdown` = best - smooth. `settling_rewards` is how many rewards must agree
    to count as a ceiling. Unlike `History.falling`, `falling` compares the
    drawdown with gain and noise.
    """

    def __init__(self, history: History, ceiling: float | None) -> None:
        self.history = history
        self.ceiling = ceiling
        self.noise_estimator = Noise()
        self.baseline = self.smooth = math.nan
        self.best = -math.inf
        self.best_row = -1
        self.notable_best_count = 0
        self.notable_best = -math.inf
        self.peak = -math.inf
        self.at_max = self.falling = self.rising = self.gained = False
        self.gain = self.scale = 0.0
        self.settling_rewards = SETTLING_REWARDS
        self.noise = 1e-9

    def copy(self, history: History) -> RewardCourse:
        """An independent copy on the copied history."""
        other = RewardCourse.__new__(RewardCourse)
        other.__dict__.update(self.__dict__)
        other.history, other.noise_estimator = history, self.noise_estimator.copy()
        return other

    def add_reward(self, row: int) -> None:
        """Update with the value just added to the history."""
        history = self.history
        self.noise_estimator.push(history.last)
        self.smooth = median(history.recent[-3:])
        if history.count <= 5:
            self.baseline = median(history.first)
        if self.smooth > self.best or history.count <= 5:  # the initial level is no gain
            self._new_best(row)
        if history.count >= 20:
            self.peak = max(self.peak, history.recent_median(10))
        self._measure_gain()
        self.at_max = self._at_max()
        self.rising = history.rising()
        self.falling = self._falling()

    def _measure_gain(self) -> None:
        """Update scale, noise and gain.

        `noise` is at least a thousandth of the rewards' size. `gained`: the best exceeds the noise
        or, where noise is strong, the median of ten values does.
        """
        self.scale = max(abs(self.best), abs(self.baseline))
        self.noise = noise = max(self.noise_estimator.std, 1e-3 * self.scale, 1e-9)
        self.gain = gain = self.best - self.baseline
        clear = gain > 6.0 * noise or self.peak - self.history.baseline(10) > 2.5 * noise
        self.gained = gain > 0.05 * abs(self.baseline) and clear

    def _new_best(self, row: int) -> None:
        """A new best; notable if it beats the last notable one by 2 % of the gain."""
        self.best = self.smooth
        self.best_row = row
        step = 0.02 * max(self.best - self.baseline, self.noise)
        if self.best > self.notable_best + step:
            self.notable_best, self.notable_best_count = self.best, self.history.count

    @property
    def count(self) -> int:
        """Number of rewards in this segment."""
        return self.history.count

    @property
    def drawdown(self) -> float:
        """The reward lost since the best."""
        return self.best - self.smooth

    @property
    def flat(self) -> bool:
        """Not rising and not at its ceiling, with enough points to tell."""
        return self.count >= 15 and not self.rising and not self.at_max

    @property
    def stuck(self) -> bool:
        """Flat or falling."""
        return self.flat or self.falling

    @property
    def lost_share(self) -> float:
        """The share of the gain lost since the best, 0 if nothing was gained."""
        return self.drawdown / self.gain if self.gained else 0.0

    def _falling(self) -> bool:
        drawdown, noise = self.drawdown, self.noise
        if self.gained and drawdown > 0.25 * self.gain and drawdown > 4.0 * noise:
            return True
        trend = self.history.trend(10)
        if not (trend.full and trend.tau < -0.45 and trend.z < -1.96):
            return False
        loss = max(trend.values[:3]) - self.smooth
        return loss > 4.0 * noise and loss > 0.1 * max(self.gain, 0.5 * self.scale)

    def _at_max(self) -> bool:
        recent = self.history.recent[-SETTLING_REWARDS:]
        if len(recent) < SETTLING_REWARDS:
            return False
        if self.ceiling is not None:
            return median(recent) >= self._near_ceiling(self.ceiling)
        if self.history.low >= 0.0 and 0.999 <= self.history.high <= 1.0:
            return median(recent) >= 0.97 and sum(recent) >= 0.95 * SETTLING_REWARDS
        recent = self.history.recent[-self.settling_rewards :]
        if len(recent) < self.settling_rewards:
            return False
        spread = max(recent) - min(recent)
        saturated = spread <= 0.002 * self.scale and min(recent) >= self.best - 0.01 * self.scale
        return saturated and self.gained

    def _near_ceiling(self, ceiling: float) -> float:
        """97 % of the way to the ceiling, whatever the sign of the rewards."""
        return ceiling - 0.03 * max(abs(ceiling), abs(ceiling - self.baseline))
