"""Collects points, one by one or many rows at a time, into the columns of a batch."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME, Points


class Sheet:
    """Columns by tag; rows that share their tags are gathered first and turned at once."""

    def __init__(self) -> None:
        self._columns: dict[str, Points] = {}
        self._tags: Sequence[str] = ()
        self._steps: list[int] = []
        self._rows: list[Sequence[float]] = []

    def row(self, tags: Sequence[str], step: int, values: Sequence[float]) -> None:
        """Append one value to each of `tags` (all distinct), without a time."""
        if tags is not self._tags and tags != self._tags:
            self._turn()
            self._tags = tags
        self._steps.append(step)
        self._rows.append(values)

    def add(self, tag: str, step: int, time: float, value: float) -> None:
        """Append one point."""
        self._turn()
        points = self._column(tag)
        points.steps.append(step)
        points.times.append(time)
        points.values.append(value)

    def column(
        self, tag: str, steps: array[int], times: array[float], values: array[float]
    ) -> None:
        """Append many points of one tag."""
        self._turn()
        if not steps:
            return
        points = self._column(tag)
        points.steps.extend(steps)
        points.times.extend(times)
        points.values.extend(values)

    def take(self) -> list[Points]:
        """All that was added since the last call, one entry a tag in order of appearance."""
        self._turn()
        taken, self._columns = list(self._columns.values()), {}
        return taken

    def _column(self, tag: str) -> Points:
        points = self._columns.get(tag)
        if points is None:
            points = self._columns[tag] = Points(tag, array("q"), array("d"), array("d"))
        return points

    def _turn(self) -> None:
        """Turn the gathered rows into columns."""
        if not self._rows:
            return
        steps = array("q", self._steps)
        times = array("d", [UNKNOWN_TIME]) * len(steps)
        for tag, values in zip(self._tags, zip(*self._rows, strict=True), strict=True):
            points = self._column(tag)
            points.steps.extend(steps)
            points.times.extend(times)
            points.values.extend(values)
        self._steps.clear()
        self._rows.clear()
