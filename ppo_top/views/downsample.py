"""A min/max pyramid over a growing column: any stretch in a few steps, no spike ever lost."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

BLOCK_POINTS = 16
"""Blocks of a level that make one block of the next: 1/15 extra memory for each extreme."""

UNSETTLED_POINTS = 96
"""Points at the end that are not summarised: they may still be taken back and come in otherwise."""


class Extent(NamedTuple):
    """What a stretch of a column holds: its finite extremes, its last value, others.

    `low` and `high` are None where the stretch has no finite value, `last` also where its newest
    values are all not finite.
    """

    low: float | None
    high: float | None
    last: float | None
    non_finite: bool


EMPTY_EXTENT = Extent(None, None, None, False)


class MinMaxPyramid:
    """Summaries of a column that grows at its end; only its last points may change.

    Building costs some 50 ns a point, once; a stretch of n points is summarised in O(log n).
    """

    __slots__ = ("_has_non_finite", "_highs", "_lows", "cached_extents", "values")

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values
        self._lows: list[array[float]] = []
        self._highs: list[array[float]] = []
        self._has_non_finite: list[bytearray] = []
        self.cached_extents: dict[float, list[Extent]] = {}
        """Cells that were asked for before and cannot change any more, by their stride."""
        self.grow()

    def grow(self) -> None:
        """Take in what was appended to the column since the last call."""
        if self._lows and len(self._lows[0]) * BLOCK_POINTS > len(self.values):
            self._lows, self._highs, self._has_non_finite = [], [], []  # it shrank: begin again
            self.cached_extents.clear()
        self._grow_base()
        level = 1
        while len(self._lows[level - 1]) >= BLOCK_POINTS:
            self._grow_level(level)
            level += 1

    def _grow_base(self) -> None:
        lows, highs, bad = self._level(0)
        values = self.values
        for start in range(
            len(lows) * BLOCK_POINTS,
            len(values) - UNSETTLED_POINTS - BLOCK_POINTS + 1,
            BLOCK_POINTS,
        ):
            block: Sequence[float] = values[start : start + BLOCK_POINTS]
            total = sum(block)
            damaged = total - total != 0  # a NaN, an infinity, or a sum too large to tell
            if damaged:
                block = [value for value in block if math.isfinite(value)]
            lows.append(min(block, default=math.inf))
            highs.append(max(block, default=-math.inf))
            bad.append(damaged and len(block) < BLOCK_POINTS)

    def _grow_level(self, level: int) -> None:
        below_low, below_high, below_bad = self._level(level - 1)
        lows, highs, bad = self._level(level)
        for start in range(
            len(lows) * BLOCK_POINTS, len(below_low) - BLOCK_POINTS + 1, BLOCK_POINTS
        ):
            stop = start + BLOCK_POINTS
            lows.append(min(below_low[start:stop]))
            highs.append(max(below_high[start:stop]))
            bad.append(any(below_bad[start:stop]))

    def _level(self, level: int) -> tuple[array[float], array[float], bytearray]:
        while len(self._lows) <= level:
            self._lows.append(array("d"))
            self._highs.append(array("d"))
            self._has_non_finite.append(bytearray())
        return self._lows[level], self._highs[level], self._has_non_finite[level]

    def extent(self, start: int, stop: int) -> Extent:
        """What the points `start` to `stop` (excluded) hold; call `grow` after the column grew."""
        stop = min(stop, len(self.values))
        if start >= stop:
            return EMPTY_EXTENT
        if stop - start <= BLOCK_POINTS:  # the usual case: few rows to a cell, all of them finite
            block = self.values[start:stop]
            total = sum(block)
            if total - total == 0:
                return Extent(min(block), max(block), block[-1], False)
        first, last = -(-start // BLOCK_POINTS), min(stop // BLOCK_POINTS, self._length(0))
        if first >= last:
            low, high, bad = self._raw(start, stop)
        else:
            ends = self._raw(start, first * BLOCK_POINTS), self._raw(last * BLOCK_POINTS, stop)
            inner = self._blocks(first, last)
            low = min(ends[0][0], ends[1][0], inner[0])
            high = max(ends[0][1], ends[1][1], inner[1])
            bad = ends[0][2] or ends[1][2] or inner[2]
        if low > high:
            return Extent(None, None, None, bad)
        return Extent(low, high, self._last(start, stop), bad)

    def _raw(self, start: int, stop: int) -> tuple[float, float, bool]:
        """The extremes of some points themselves."""
        block: Sequence[float] = self.values[start:stop]
        total = sum(block)
        damaged = total - total != 0
        if damaged:
            block = [value for value in block if math.isfinite(value)]
        found = min(block, default=math.inf), max(block, default=-math.inf)
        return *found, damaged and len(block) < stop - start

    def _blocks(self, first: int, last: int) -> tuple[float, float, bool]:
        """The extremes of some blocks, from whole slices of as few levels as will do."""
        low, high, bad = math.inf, -math.inf, False
        level = 0
        while first < last:
            lows, highs, flaws = self._lows[level], self._highs[level], self._has_non_finite[level]
            above, below = (
                -(-first // BLOCK_POINTS),
                min(last // BLOCK_POINTS, self._length(level + 1)),
            )
            pieces = [(first, last)]
            if above < below:
                pieces = [(first, above * BLOCK_POINTS), (below * BLOCK_POINTS, last)]
            for begin, end in pieces:
                if begin < end:
                    low = min(low, min(lows[begin:end]))
                    high = max(high, max(highs[begin:end]))
                    bad = bad or any(flaws[begin:end])
            if above >= below:
                break
            first, last, level = above, below, level + 1
        return low, high, bad

    def _length(self, level: int) -> int:
        """How many blocks of a level there are."""
        return len(self._lows[level]) if level < len(self._lows) else 0

    def _last(self, start: int, stop: int) -> float | None:
        for at in range(stop - 1, max(start, stop - BLOCK_POINTS) - 1, -1):
            if math.isfinite(self.values[at]):
                return self.values[at]
        return None


STRIDE_RATIO = 1.25
"""Strides are powers of this: a drawing fills most of its width, and seldom shifts."""

MAX_CELLS_PER_ROW = 6
"""A row takes at most so many cells, however short the run."""


def stride(amount: int, cells: int, widest: int = MAX_CELLS_PER_ROW) -> float:
    """How many rows share a cell (below 1: cells share a row) so that `amount` rows fill `cells`.

    The strides are few, so that a growing run changes its last cell only, and all cells seldom.
    """
    least = math.ceil(math.log(1 / widest) / math.log(STRIDE_RATIO))
    wanted = math.log(max(amount, 1) / max(cells, 1)) / math.log(STRIDE_RATIO)
    power = max(least, math.ceil(wanted - 1e-9))
    while math.ceil(amount / STRIDE_RATIO**power - 1e-9) > max(cells, 1):
        power += 1
    return STRIDE_RATIO**power


MAX_CACHED_STRIDES = 6
"""A track is drawn at so many widths at once (list, panel, chart) and seldom at more."""


def bucket_extents(
    pyramid: MinMaxPyramid, rows: Sequence[int], last: int, size: float
) -> list[Extent]:
    """The extents of a track per `size` rows of its timeline, through row `last`.

    `rows` are the row numbers of the points (rising); a cell without a point is `EMPTY_EXTENT`.
    Cells of rows that are settled are kept, so the next picture costs no more than what is new.
    """
    if size not in pyramid.cached_extents and len(pyramid.cached_extents) >= MAX_CACHED_STRIDES:
        pyramid.cached_extents.clear()
    kept = pyramid.cached_extents.setdefault(size, [])
    cells = math.ceil((last + 1) / size - 1e-9)
    settled = rows[len(rows) - UNSETTLED_POINTS] if len(rows) > UNSETTLED_POINTS else 0
    found = kept[: max(cells - 1, 0)]
    dense = len(rows) > 0 and rows[-1] == len(rows) - 1  # a point in every row: no need to search
    for cell in range(len(found), cells):
        start = int(cell * size)
        end = max(start + 1, int((cell + 1) * size))
        stop = min(end, last + 1)
        if not dense:
            start, stop = bisect_left(rows, start), bisect_left(rows, stop)
        found.append(pyramid.extent(start, stop))
        if end <= min(settled, last + 1) and len(kept) == cell:
            kept.append(found[-1])
    return found
