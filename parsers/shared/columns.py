"""Collects points, one by one or many at a time, into the columns of a batch."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import compress, repeat
from operator import is_not
from struct import error, pack
from typing import Any, Literal

from ppo_top.model import UNKNOWN_TIME, Points

_UNKNOWN_TIMES = array("d", [UNKNOWN_TIME])
_NOT = bytes.maketrans(b"\0\1", b"\1\0")
_MAX_TIME = 1e12
"""No clock shows a later time (unix seconds)."""


class RowAxes:
    """Steps and times of the rows of a block; many columns are empty in the same rows."""

    def __init__(self, steps: array[int], times: array[float]) -> None:
        self.steps, self.times = steps, times
        self._filled, self._empty, self._part = b"", b"", self

    def filled_part(self, cells: Sequence[Any]) -> tuple[RowAxes, array[float]]:
        """The axes of the rows whose cell is not None, and the numbers in them."""
        if {*compress(cells, self._empty)} == {None}:  # perhaps those of the column before
            with suppress(TypeError):
                return self._part, as_array("d", list(compress(cells, self._filled)))
        filled = bytes(map(is_not, cells, repeat(None)))
        values = as_array("d", list(compress(cells, filled)))
        self._filled, self._empty, self._part = filled, filled.translate(_NOT), self.part(filled)
        return self._part, values

    def part(self, filled: bytes) -> RowAxes:
        """Those of the rows whose byte in `filled` is not zero."""
        steps = as_array("q", list(compress(self.steps, filled)))
        return RowAxes(steps, as_array("d", list(compress(self.times, filled))))


class ColumnBuilder:
    """Columns by tag."""

    def __init__(self) -> None:
        self._columns: dict[str, Points] = {}
        self._row_tags: tuple[str, ...] = ()
        self._row_steps, self._row_values = array("q"), array("d")
        self._row_times = array("d")

    def add_point(self, tag: str, step: int, time: float, value: float) -> None:
        """Append one point."""
        if self._row_steps:
            self._add_rows()
        points = self._points_of(tag)
        points.steps.append(step)
        points.times.append(time)
        points.values.append(value)

    def add_rows(
        self,
        tags: tuple[str, ...],
        steps: Iterable[int],
        values: Iterable[float],
        times: Sequence[float] = (),
    ) -> None:
        """Append one value to each of `tags` for each step, row after row; times may be unknown.

        Rows with the same tags are collected and turned into columns together.
        """
        if (tags is not self._row_tags and tags != self._row_tags) or times or self._row_times:
            self._add_rows()
            self._row_tags = tags
        self._row_steps.extend(steps)
        self._row_values.extend(values)
        self._row_times.extend(times)

    def add_column(
        self, tag: str, steps: array[int], times: array[float], values: array[float]
    ) -> None:
        """Append many points of one tag."""
        if self._row_steps:
            self._add_rows()
        if steps:
            points = self._points_of(tag)
            points.steps.extend(steps)
            points.times.extend(times)
            points.values.extend(values)

    def add_cells(self, tag: str, axes: RowAxes, cells: Sequence[Any]) -> None:
        """Append the points of a column of numbers, one cell a row, in which None is no point.

        Raises `TypeError` for a cell that is no number or `OverflowError`, and adds nothing.
        """
        try:
            values = as_array("d", cells)
        except TypeError:
            axes, values = axes.filled_part(cells)
        self.add_column(tag, axes.steps, axes.times, values)

    def pop_points(self) -> list[Points]:
        """All points since the last call, one entry per tag in order of appearance."""
        self._add_rows()
        popped, self._columns = list(self._columns.values()), {}
        return popped

    def _add_rows(self) -> None:
        steps, values, width = self._row_steps, self._row_values, len(self._row_tags)
        if not steps:
            return
        times = self._row_times or _UNKNOWN_TIMES * len(steps)
        self._row_steps, self._row_values = array("q"), array("d")
        self._row_times = array("d")
        for column, tag in enumerate(self._row_tags):
            self.add_column(tag, steps, times, values[column::width])

    def _points_of(self, tag: str) -> Points:
        points = self._columns.get(tag)
        if points is None:
            points = self._columns[tag] = Points(tag, array("q"), array("d"), array("d"))
        return points


class MachineColumns(ColumnBuilder):
    """Columns of what was measured of the machine, which no step of the training belongs to."""

    def add_sample(self, tag: str, time: float, value: float) -> None:
        """Append a number that was measured at a known time (unix seconds); others are left out."""
        if math.isfinite(value) and 0.0 < time < _MAX_TIME:
            self.add_point(tag, int(time), time, value)


def as_array(kind: Literal["d", "q"], cells: Sequence[Any]) -> array[Any]:
    """The cells as an array, three times as fast as `array` reads a sequence."""
    try:
        return array(kind, pack(f"{len(cells)}{kind}", *cells))
    except error as problem:
        raise TypeError(str(problem)) from None
