"""Collects points, one by one or many rows at a time, into the columns of a batch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Points

_Append = Callable[[Any], None]
_UNKNOWN = array("d", [UNKNOWN_TIME])
_MOST_LAYOUTS = 256


class Sheet:
    """Columns by tag; `row` is the way for records that come without a time, by the thousand."""

    def __init__(self) -> None:
        self._columns: dict[str, Points] = {}
        self._appends: dict[tuple[str, ...], list[tuple[_Append, _Append]]] = {}
        self._untimed = False

    def row(self, tags: tuple[str, ...], step: int, values: Sequence[float]) -> None:
        """Append one value to each of `tags`, without a time."""
        appends = self._appends.get(tags)
        if appends is None:
            points = [self._column(tag) for tag in tags]
            appends = [(each.steps.append, each.values.append) for each in points]
            if len(self._appends) < _MOST_LAYOUTS:
                self._appends[tags] = appends
        self._untimed = True
        for (append_step, append_value), value in zip(appends, values, strict=True):
            append_step(step)
            append_value(value)

    def add(self, tag: str, step: int, time: float, value: float) -> None:
        """Append one point."""
        self._settle()
        points = self._column(tag)
        points.steps.append(step)
        points.times.append(time)
        points.values.append(value)

    def column(
        self, tag: str, steps: array[int], times: array[float], values: array[float]
    ) -> None:
        """Append many points of one tag."""
        self._settle()
        if not steps:
            return
        points = self._column(tag)
        points.steps.extend(steps)
        points.times.extend(times)
        points.values.extend(values)

    def take(self) -> list[Points]:
        """All that was added since the last call, one entry a tag in order of appearance."""
        self._settle()
        taken, self._columns = list(self._columns.values()), {}
        self._appends.clear()
        return taken

    def _column(self, tag: str) -> Points:
        points = self._columns.get(tag)
        if points is None:
            points = self._columns[tag] = Points(tag, array("q"), array("d"), array("d"))
        return points

    def _settle(self) -> None:
        """Give the points of rows their unknown times."""
        if not self._untimed:
            return
        self._untimed = False
        for points in self._columns.values():
            missing = len(points.steps) - len(points.times)
            if missing:
                points.times.extend(_UNKNOWN * missing)
