"""The recent and the first values of one metric, as rules look back on them."""

from __future__ import annotations

import math

from ppo_top.rules.engine.stats import Trend, median

MAX_RECENT_VALUES = 64
"""Longest look-back, in values; up to twice as many are held before the oldest are dropped."""

MAX_FIRST_VALUES = 20
"""How many of the first values are kept, for baselines."""


class History:
    """The finite values of one metric in one segment of a run, in order.

    Memory is bounded: the last `MAX_RECENT_VALUES` values, the first `MAX_FIRST_VALUES`, extremes
    and counters.
    """

    __slots__ = ("count", "first", "high", "last", "last_row", "low", "recent", "trends")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[float] = []
        self.recent: list[float] = []
        self.high = -math.inf
        self.low = math.inf
        self.last = math.nan
        self.last_row = -1
        self.trends: dict[int, Trend] = {}

    def push(self, row: int, value: float) -> None:
        """Add the value of a row."""
        self.count += 1
        self.last, self.last_row = value, row
        if value > self.high:
            self.high = value
        if value < self.low:
            self.low = value
        if self.count <= MAX_FIRST_VALUES:
            self.first.append(value)
        recent = self.recent
        recent.append(value)
        if len(recent) >= 2 * MAX_RECENT_VALUES:
            del recent[:MAX_RECENT_VALUES]
        for trend in self.trends.values():
            trend.push(value)

    def copy(self) -> History:
        """An independent copy."""
        other = History.__new__(History)
        other.count, other.last_row = self.count, self.last_row
        other.high, other.low, other.last = self.high, self.low, self.last
        other.first, other.recent = self.first.copy(), self.recent.copy()
        other.trends = {size: trend.copy() for size, trend in self.trends.items()}
        return other

    def trend(self, size: int) -> Trend:
        """Mann-Kendall test over the last `size` values (at most `MAX_RECENT_VALUES`).

        Kept up to date from the first call on; the result does not depend on when that was.
        """
        trend = self.trends.get(size)
        if trend is None:
            trend = self.trends[size] = Trend(size, self.recent)
        return trend

    def baseline(self, count: int) -> float:
        """The run's initial level: the median of the first `count` values."""
        return median(self.first[:count])

    def recent_median(self, count: int = 3) -> float:
        """The median of the last `count` values."""
        return median(self.recent[-count:])

    def previous(self, count: int) -> list[float]:
        """Up to `count` values before the newest one."""
        return self.recent[-count - 1 : -1]

    def rising(self) -> bool:
        """A significant rise over the last 15 values."""
        trend = self.trend(15)
        return trend.tau > 0.3 and trend.full and trend.z > 1.96

    def falling(self) -> bool:
        """A significant fall over the last 15 values."""
        trend = self.trend(15)
        return trend.tau < -0.3 and trend.full and trend.z < -1.96
