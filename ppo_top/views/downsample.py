"""A min/max pyramid over a growing column: cheap extremes of any range, no spike lost."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from ppo_top.model.named_tuple import NamedTuple

BLOCK_POINTS = 16
"""Blocks of a level that make one block of the next: 1/15 more memory for each extreme."""

UNSETTLED_POINTS = 68
"""Points at the end that are not summarised: they may still be replaced by others. As many rows as
wait for a lagging source (`MAX_UNSEALED_ROWS`), and a few more."""


class Extent(NamedTuple):
    """The finite extremes and last finite value of a range of points, and whether it has others.

    `low` and `high` are None without a finite value, `last` also without a recent one.
    """

    low: float | None
    high: float | None
    last: float | None
    non_finite: bool

    @property
    def extremes(self) -> tuple[float, float] | None:
        """The lowest and highest value; None without a finite one."""
        return (self.low, self.high) if self.low is not None and self.high is not None else None


EMPTY_EXTENT = Extent(None, None, None, False)


class MinMaxPyramid:
    """Summaries of a column that grows at its end; only its last points may change.

    Building costs some 50 ns a point, once; the extent of n points O(log n).
    """

    __slots__ = ("_has_non_finite", "_highs", "_lows", "cached_extents", "values")

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values
        self._lows: list[array[float]] = []
        self._highs: list[array[float]] = []
        self._has_non_finite: list[bytearray] = []
        self.cached_extents: dict[float, list[Extent]] = {}
        """stride -> the extents of the first cells, those that cannot change any more."""
        self.grow()

    def grow(self) -> None:
        """Summarise what was appended to the column since the last call."""
        if self._lows and len(self._lows[0]) * BLOCK_POINTS > len(self.values):
            self._lows, self._highs, self._has_non_finite = [], [], []  # it shrank: start over
            self.cached_extents.clear()
        self._grow_base()
        level = 1
        while len(self._lows[level - 1]) >= BLOCK_POINTS:
            self._grow_level(level)
            level += 1

    def _grow_base(self) -> None:
        lows, highs, bad = self._level(0)
        settled = len(self.values) - UNSETTLED_POINTS
        for start in range(len(lows) * BLOCK_POINTS, settled - BLOCK_POINTS + 1, BLOCK_POINTS):
            low, high, is_bad = _extremes(self.values[start : start + BLOCK_POINTS])
            lows.append(low)
            highs.append(high)
            bad.append(is_bad)

    def _grow_level(self, level: int) -> None:
        finer_lows, finer_highs, finer_bad = self._level(level - 1)
        lows, highs, bad = self._level(level)
        last_start = len(finer_lows) - BLOCK_POINTS
        for start in range(len(lows) * BLOCK_POINTS, last_start + 1, BLOCK_POINTS):
            stop = start + BLOCK_POINTS
            lows.append(min(finer_lows[start:stop]))
            highs.append(max(finer_highs[start:stop]))
            bad.append(any(finer_bad[start:stop]))

    def _level(self, level: int) -> tuple[array[float], array[float], bytearray]:
        while len(self._lows) <= level:
            self._lows.append(array("d"))
            self._highs.append(array("d"))
            self._has_non_finite.append(bytearray())
        return self._lows[level], self._highs[level], self._has_non_finite[level]

    def extent(self, start: int, stop: int) -> Extent:
        """The extent of the points `start` to `stop` (excluded); call `grow` first."""
        stop = min(stop, len(self.values))
        if start >= stop:
            return EMPTY_EXTENT
        if stop - start <= BLOCK_POINTS:  # usually: a few finite points in a cell
            block = self.values[start:stop]
            total = sum(block)
            if total - total == 0:
                return Extent(min(block), max(block), block[-1], False)
        first, last = -(-start // BLOCK_POINTS), min(stop // BLOCK_POINTS, self._length(0))
        if first >= last:
            low, high, bad = _extremes(self.values[start:stop])
        else:
            head = _extremes(self.values[start : first * BLOCK_POINTS])
            tail = _extremes(self.values[last * BLOCK_POINTS : stop])
            blocks = self._blocks(first, last)
            low = min(head[0], blocks[0], tail[0])
            high = max(head[1], blocks[1], tail[1])
            bad = head[2] or blocks[2] or tail[2]
        if low > high:
            return Extent(None, None, None, bad)
        return Extent(low, high, self._last(start, stop), bad)

    def _blocks(self, first: int, last: int) -> tuple[float, float, bool]:
        """The extremes of the blocks `first` to `last` (excluded), from the coarsest levels."""
        low, high, bad = math.inf, -math.inf, False
        level = 0
        while first < last:
            lows, highs, non_finite = self._level(level)
            next_first = -(-first // BLOCK_POINTS)
            next_last = min(last // BLOCK_POINTS, self._length(level + 1))
            here = [(first, last)]
            if next_first < next_last:
                here = [(first, next_first * BLOCK_POINTS), (next_last * BLOCK_POINTS, last)]
            for start, stop in here:
                if start < stop:
                    low = min(low, min(lows[start:stop]))
                    high = max(high, max(highs[start:stop]))
                    bad = bad or any(non_finite[start:stop])
            if next_first >= next_last:
                break
            first, last, level = next_first, next_last, level + 1
        return low, high, bad

    def _length(self, level: int) -> int:
        return len(self._lows[level]) if level < len(self._lows) else 0

    def _last(self, start: int, stop: int) -> float | None:
        for at in range(stop - 1, max(start, stop - BLOCK_POINTS) - 1, -1):
            if math.isfinite(self.values[at]):
                return self.values[at]
        return None


def _extremes(points: Sequence[float]) -> tuple[float, float, bool]:
    """The lowest and highest finite value (inf, -inf: none), and whether others are not finite."""
    total = sum(points)
    if total - total == 0:  # no NaN, no infinity, and no overflow
        return min(points, default=math.inf), max(points, default=-math.inf), False
    finite = [value for value in points if math.isfinite(value)]
    is_bad = len(finite) < len(points)
    return min(finite, default=math.inf), max(finite, default=-math.inf), is_bad


GROWTH_RATIO = 1.05
"""The axis of a growing run is at most this many times as long as the run: its curve fills 95 %.
In the first forty rows, each one draws all curves anew."""


@lru_cache(maxsize=256)
def stride(amount: int, cells: int, growing: bool = False) -> float:
    """How many rows share a cell, so that `amount` rows fill `cells`; below 1 a row fills several.

    While a run grows, few strides are possible, so that mostly just its last cell changes.
    """
    rows = max(amount, 1)
    if growing:
        rows = next(each for each in _growing_axes() if each >= rows)
    return rows / max(cells, 1)


def _growing_axes() -> Iterator[int]:
    """The rows that the axis of a growing run is made for, one after the other."""
    rows = 1
    while True:
        yield rows
        rows = max(rows + 1, int(rows * GROWTH_RATIO))


@lru_cache(maxsize=64)
def first_rows(cells: int, size: float) -> list[int]:
    """The first row of each cell of `size` rows."""
    return [int(cell * size + 1e-9) for cell in range(cells)]


MAX_CACHED_STRIDES = 6
"""A track is drawn at this many widths at once (list, panel, chart), seldom more."""


def window_extents(
    pyramid: MinMaxPyramid, rows: Sequence[int], first: int, last: int, size: float
) -> list[Extent]:
    """As `bucket_extents`, of the rows `first` to `last` only."""
    cells = math.ceil((last - first + 1) / size - 1e-9)
    starts = [first + int(cell * size + 1e-9) for cell in range(cells)]
    ends = [max(start + 1, after) for start, after in pairwise([*starts, last + 1])]
    return [
        pyramid.extent(bisect_left(rows, start), bisect_left(rows, end))
        for start, end in zip(starts, ends, strict=True)
    ]


def bucket_extents(
    pyramid: MinMaxPyramid, rows: Sequence[int], last: int, size: float
) -> list[Extent]:
    """The extents of a track for each `size` rows of its timeline, up to and including row `last`.

    `rows` are the rising row numbers of the points; a cell without a point is `EMPTY_EXTENT`.
    Cells of settled rows are cached, so the next drawing costs only what is new.
    """
    if size not in pyramid.cached_extents and len(pyramid.cached_extents) >= MAX_CACHED_STRIDES:
        pyramid.cached_extents.clear()
    cached = pyramid.cached_extents.setdefault(size, [])
    cells = math.ceil((last + 1) / size - 1e-9)
    settled = rows[len(rows) - UNSETTLED_POINTS] if len(rows) > UNSETTLED_POINTS else 0
    extents = cached[: max(cells - 1, 0)]
    dense = len(rows) > 0 and rows[-1] == len(rows) - 1  # a point in every row
    first = int(len(extents) * size + 1e-9)
    first = first if dense else bisect_left(rows, first)
    points = pyramid.values[first : last + 1] if size <= BLOCK_POINTS else ()
    starts = first_rows(cells + 1, size)
    for cell in range(len(extents), cells):
        start, end = starts[cell], starts[cell + 1]
        if end <= start:
            end = start + 1
        stop = end if end <= last else last + 1
        if not dense:
            start, stop = bisect_left(rows, start), bisect_left(rows, stop)
        block = points[start - first : stop - first]
        if block and (total := sum(block)) - total == 0:  # all finite
            extents.append(Extent(min(block), max(block), block[-1], False))
        else:
            extents.append(pyramid.extent(start, stop))
        if end <= min(settled, last + 1) and len(cached) == cell:
            cached.append(extents[-1])
    return extents
