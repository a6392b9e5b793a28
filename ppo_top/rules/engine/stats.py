"""Sliding-window statistics, updated one value at a time."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence

MEDIAN_TO_STD = 1.4826
"""The standard deviation of normal values, by the median of their distances from the middle."""

SIGNIFICANT = 1.96
"""Standard deviations that chance exceeds once in twenty times."""

LEAST_LOG_VALUES = 10
"""With fewer values there is no usual spread of their logarithms."""

LEAST_LOG_SPREAD = 0.25
"""Values that hardly differ: a spread of their logarithms below this is taken for this."""


def median(values: Sequence[float]) -> float:
    """The middle value (the mean of the two middle ones); NaN of nothing."""
    if not values:
        return math.nan
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else 0.5 * (ranked[half - 1] + ranked[half])


def median_of_sorted(ranked: Sequence[float]) -> float:
    """The median of sorted values."""
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else 0.5 * (ranked[half - 1] + ranked[half])


class Trend:
    """Mann-Kendall's test for a trend over the last `size` values.

    `score` is the number of rising pairs minus the number of falling ones, updated from the
    ranks of the value added and the value dropped.
    """

    __slots__ = ("ranked", "score", "size", "values")

    def __init__(self, size: int, values: Sequence[float] = ()) -> None:
        self.size = size
        self.values: list[float] = []
        self.ranked: list[float] = []
        self.score = 0
        for value in values[-size:]:
            self.push(value)

    def push(self, value: float) -> None:
        """Add a finite value; drop the oldest when the window is full."""
        ranked, values = self.ranked, self.values
        if len(values) == self.size:
            oldest = values.pop(0)
            low = bisect_left(ranked, oldest)
            self.score += low - (len(ranked) - bisect_right(ranked, oldest, low))
            del ranked[low]
        low = bisect_left(ranked, value)
        high = bisect_right(ranked, value, low)
        self.score += low - (len(ranked) - high)
        ranked.insert(high, value)
        values.append(value)

    def copy(self) -> Trend:
        """An independent copy."""
        other = Trend(self.size)
        other.values, other.ranked = self.values.copy(), self.ranked.copy()
        other.score = self.score
        return other

    @property
    def full(self) -> bool:
        """Whether the window is full."""
        return len(self.values) == self.size

    @property
    def tau(self) -> float:
        """Kendall's tau against time: 1 always rising, -1 always falling."""
        size = len(self.values)
        return 2.0 * self.score / (size * (size - 1)) if size > 1 else 0.0

    @property
    def z(self) -> float:
        """The score in standard deviations, corrected for ties."""
        if not self.score:
            return 0.0
        size = len(self.ranked)
        variance = size * (size - 1) * (2 * size + 5) - self._ties()
        if variance <= 0:
            return 0.0
        return math.copysign(abs(self.score) - 1, self.score) / math.sqrt(variance / 18.0)

    def _ties(self) -> float:
        ranked = self.ranked
        if len(set(ranked)) == len(ranked):
            return 0.0
        total = start = 0
        while start < len(ranked):
            end = bisect_right(ranked, ranked[start])
            size, start = end - start, end
            total += size * (size - 1) * (2 * size + 5)
        return total


def theil_sen_rise(values: Sequence[float]) -> float:
    """The rise of the Theil-Sen line (median of all slopes) from the first value to the last."""
    slopes: list[float] = []
    for apart in range(1, len(values)):
        pairs = zip(values, values[apart:], strict=False)
        slopes += [(later - early) / apart for early, later in pairs]
    return median(slopes) * (len(values) - 1) if slopes else 0.0


def rises_over(values: Sequence[float], rise: float) -> bool:
    """Whether the `theil_sen_rise` is larger than this: more than half of all slopes are.

    Ranks tell how many, a fourth of the cost of drawing all slopes.
    """
    ranked, steeper = list[float](), 0
    slope = rise / max(1, len(values) - 1)
    for place, value in enumerate(values):
        height = value - slope * place
        low = bisect_left(ranked, height)
        steeper += low
        ranked.insert(low, height)
    return 4 * steeper > len(values) * (len(values) - 1)


NOISE_VALUES, LAGS_HELD = 60, 8
"""So many second differences are held, or so many times their distance, if that is more.

A fall shows in two distances of them: where these were the most, it would count as noise.
"""


class Noise:
    """The noise level of a series, from its second differences at a distance of `lag` values.

    First differences would count the changing slope of a moving average as noise and hide a real
    fall. The result is the standard deviation of independent noise:
    1.4826 * median(|d2|) / sqrt(6).
    """

    __slots__ = ("_bends", "_ranked", "_values", "lag", "size")

    def __init__(self, lag: int = 1) -> None:
        self.lag = lag
        self.size = max(NOISE_VALUES, LAGS_HELD * lag)
        self._values: deque[float] = deque(maxlen=2 * lag + 1)
        self._bends: deque[float] = deque()
        self._ranked: list[float] = []

    def push(self, value: float) -> None:
        """Add a finite value."""
        values, lag = self._values, self.lag
        values.append(value)
        if len(values) <= 2 * lag:
            return
        bend = abs(value - 2.0 * values[lag] + values[0])
        bends, ranked = self._bends, self._ranked
        if len(bends) == self.size:
            del ranked[bisect_left(ranked, bends.popleft())]
        bends.append(bend)
        insort(ranked, bend)

    def copy(self) -> Noise:
        """An independent copy."""
        other = Noise(self.lag)
        other._values, other._bends = self._values.copy(), self._bends.copy()
        other._ranked = self._ranked.copy()
        return other

    @property
    def std(self) -> float:
        """The estimate; 0 before there is a second difference."""
        return (
            MEDIAN_TO_STD / math.sqrt(6.0) * median_of_sorted(self._ranked) if self._ranked else 0.0
        )

    @property
    def mean(self) -> float:
        """The same from the mean, which is above 0 even if most values are equal."""
        return sum(self._ranked) / len(self._ranked) / math.sqrt(6.0) if self._ranked else 0.0

    @property
    def robust(self) -> float:
        """The larger of both: the median alone would not see a few large differences."""
        return max(self.std, 0.75 * self.mean)


def noise_std(values: Sequence[float]) -> float:
    """`Noise.std` of some finite values at once, of which no more than its window counts."""
    newest = values[-NOISE_VALUES - 2 :]
    triples = zip(newest, newest[1:], newest[2:], strict=False)
    bends = [abs(third - 2.0 * second + first) for first, second, third in triples]
    return MEDIAN_TO_STD / math.sqrt(6.0) * median(bends) if bends else 0.0


def robust_log_z(value: float, before: Sequence[float], floor: float = LEAST_LOG_SPREAD) -> float:
    """Robust z-score of a positive value on a log scale; 0 with fewer than 10 earlier ones."""
    logs = [math.log(x) for x in before if x > 0.0]
    if value <= 0.0 or len(logs) < LEAST_LOG_VALUES:
        return 0.0
    centre = median(logs)
    spread = MEDIAN_TO_STD * median([abs(x - centre) for x in logs])
    return (math.log(value) - centre) / max(spread, floor)


def count_swings(values: Sequence[float], leg: float) -> int:
    """How often a series reverses direction, counting only swings larger than `leg`."""
    if not values or not leg > 0.0:
        return 0
    turns, heading, high, low = 0, 0, values[0], values[0]
    for value in values:
        high, low = max(high, value), min(low, value)
        if heading >= 0 and high - value > leg:
            turns += heading > 0
            heading, low, high = -1, value, value
        elif heading <= 0 and value - low > leg:
            turns += heading < 0
            heading, low, high = 1, value, value
    return turns
