"""The recent and the first values of one metric, as rules look back on them."""

from __future__ import annotations

import math
from array import array
from itertools import accumulate

from ppo_top.rules.engine.stats import SIGNIFICANT, Trend, median

MAX_RECENT_VALUES = 64
"""Longest look-back, in values."""

SPARE_VALUES = 32
"""How many older ones may be held: they are dropped together."""

LEVEL_VALUES = 5
"""The median of this many values is a level: no single one decides, and a change soon shows."""

START_VALUES = 3
"""The median of so many first values is a start, and of so many last ones the newest level."""

MAX_FIRST_VALUES = 20
"""How many of the first values are kept, for baselines."""

TREND_VALUES, TREND_TAU = 15, 0.3
"""A rise or a fall: over so many values, by more than this tau, and not by chance."""


class BlockPosition:
    """How far a block of rows has been judged.

    `rows` is the number of rows that rules may see so far, `row` the number of the newest of them.
    """

    __slots__ = ("row", "rows")

    def __init__(self) -> None:
        self.rows = self.row = 0


NOT_IN_BLOCK = BlockPosition()
"""The position of histories whose values have all been seen."""


class History:
    """The finite values of one metric in one segment of a run, in order.

    Memory is bounded: the last `MAX_RECENT_VALUES`, the first `MAX_FIRST_VALUES`, extremes and
    counters. Values come one at a time (`push`) or as the
    column of a block, of which the first `position.rows` are seen.
    """

    __slots__ = (
        "_baselines", "_count", "_first", "_high", "_highs", "_last_row", "_low", "_lows",
        "_position", "_seen", "_trends", "_values",
    )  # fmt: skip

    def __init__(self) -> None:
        self._values = array("d")
        """The last values before the block, then all values of the block."""
        self._seen = 0
        """How many of them are older than the block."""
        self._position = NOT_IN_BLOCK
        self._count = 0
        self._last_row = -1
        self._high, self._low = -math.inf, math.inf
        self._first = array("d")
        self._baselines: dict[int, float] = {}
        self._highs: list[float] | None = None
        self._lows: list[float] | None = None
        self._trends: dict[int, tuple[int, Trend]] = {}

    def push(self, row: int, value: float) -> None:
        """Add the value of a row."""
        self._values.append(value)
        self._add_seen(row, 1, value, value)

    def begin_block(self, values: array[float], position: BlockPosition) -> None:
        """Add the column of a block, to be seen row by row."""
        self._values.extend(values)
        self._position = position
        self._highs = self._lows = None

    def end_block(self, low: float, high: float) -> None:
        """Forget the block, whose values, from `low` to `high`, have all been seen."""
        row, self._position = self._position.row, NOT_IN_BLOCK
        self._add_seen(row, len(self._values) - self._seen, low, high)

    def _add_seen(self, row: int, count: int, low: float, high: float) -> None:
        self._seen += count
        self._count += count
        self._last_row = row
        if high > self._high:
            self._high = high
        if low < self._low:
            self._low = low
        if len(self._first) < MAX_FIRST_VALUES:
            more = MAX_FIRST_VALUES - len(self._first)
            self._first.extend(self._values[self._seen - count :][:more])
        if self._seen >= MAX_RECENT_VALUES + SPARE_VALUES:
            del self._values[:-MAX_RECENT_VALUES]
            self._seen = MAX_RECENT_VALUES

    def copy(self) -> History:
        """An independent copy."""
        other = History.__new__(History)
        other._values, other._seen, other._position = self._values[:], self._seen, self._position
        other._count, other._last_row = self._count, self._last_row
        other._high, other._low = self._high, self._low
        other._highs = other._lows = None
        other._first = self._first if len(self._first) == MAX_FIRST_VALUES else self._first[:]
        other._baselines = self._baselines.copy()
        other._trends = {size: (n, each.copy()) for size, (n, each) in self._trends.items()}
        return other

    @property
    def count(self) -> int:
        """How many values there are so far."""
        return self._count + self._position.rows

    @property
    def last(self) -> float:
        """The newest value; NaN if there is none."""
        end = self._seen + self._position.rows
        return self._values[end - 1] if end else math.nan

    @property
    def last_row(self) -> int:
        """The row of the newest value; -1 if there is none."""
        return self._position.row if self._position.rows else self._last_row

    @property
    def high(self) -> float:
        """The highest value so far."""
        if not self._position.rows:
            return self._high
        if self._highs is None:
            block = self._values[self._seen :]
            self._highs = list(accumulate(block, max, initial=self._high))
        return self._highs[self._position.rows]

    @property
    def low(self) -> float:
        """The lowest value so far."""
        if not self._position.rows:
            return self._low
        if self._lows is None:
            self._lows = list(accumulate(self._values[self._seen :], min, initial=self._low))
        return self._lows[self._position.rows]

    @property
    def size(self) -> float:
        """The largest absolute value so far."""
        return max(self.high, -self.low)

    @property
    def first(self) -> list[float]:
        """The first values, up to `MAX_FIRST_VALUES`."""
        more = min(self._position.rows, MAX_FIRST_VALUES - len(self._first))
        return [*self._first, *self._values[self._seen : self._seen + more]]

    @property
    def recent(self) -> list[float]:
        """The last values, up to `MAX_RECENT_VALUES`."""
        return self.newest(MAX_RECENT_VALUES)

    def newest(self, count: int) -> list[float]:
        """Up to `count` values, the newest one last."""
        end = self._seen + self._position.rows
        return self._values[max(0, end - min(count, MAX_RECENT_VALUES)) : end].tolist()

    def previous(self, count: int) -> list[float]:
        """Up to `count` values before the newest one."""
        end = self._seen + self._position.rows - 1
        return self._values[max(0, end - min(count, MAX_RECENT_VALUES)) : max(0, end)].tolist()

    def trend(self, size: int) -> Trend:
        """Mann-Kendall test over the last `size` values (at most `MAX_RECENT_VALUES`)."""
        count = self.count
        seen, trend = self._trends.get(size, (0, None))
        if trend is None or count - seen >= size:
            trend = Trend(size, self.newest(size))
        elif count > seen:
            for value in self.newest(count - seen):
                trend.push(value)
        self._trends[size] = count, trend
        return trend

    @property
    def start(self) -> float:
        """The median of the first `START_VALUES` values."""
        return self.baseline(START_VALUES)

    @property
    def initial_level(self) -> float:
        """The run's initial level: the median of the first `LEVEL_VALUES` values."""
        return self.baseline(LEVEL_VALUES)

    @property
    def level(self) -> float:
        """The present level: the median of the last `LEVEL_VALUES` values."""
        return self.recent_median(LEVEL_VALUES)

    def is_back_below(self, limit: float) -> bool:
        """Whether the present level is below a limit, and most of the recent values are."""
        return self.level < limit and self.recent_median(MAX_RECENT_VALUES) < limit

    def baseline(self, count: int) -> float:
        """The median of the first `count` values."""
        known = self._baselines.get(count)
        if known is None:
            known = median(self.first[:count])
            if self.count >= count:
                self._baselines[count] = known
        return known

    def recent_median(self, count: int = START_VALUES) -> float:
        """The median of the last `count` values."""
        return median(self.newest(count))

    def rising(self) -> bool:
        """A significant rise over the last 15 values."""
        trend = self.trend(TREND_VALUES)
        return trend.tau > TREND_TAU and trend.full and trend.z > SIGNIFICANT

    def falling(self) -> bool:
        """A significant fall over the last 15 values."""
        trend = self.trend(TREND_VALUES)
        return trend.tau < -TREND_TAU and trend.full and trend.z < -SIGNIFICANT
