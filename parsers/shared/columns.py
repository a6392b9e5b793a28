"""Collects points, one by one or many rows at a time, into the columns of a batch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ppo_top.model import UNKNOWN_TIME, Points
from ppo_top.parsers.shared.float_batches import floats
from ppo_top.parsers.shared.number_text import number

_Call = Callable[[Any], None]
_UNKNOWN = array("d", [UNKNOWN_TIME])
_MOST_LAYOUTS = 256
_MOST_WORDS = 4096
"""A long list of small objects is what the garbage collector spends its time on."""


class _Rows(NamedTuple):
    """Records of one layout whose numbers are not read yet."""

    tags: tuple[str, ...]
    steps: array[int]


class Sheet:
    """Columns by tag; `row` and `words` are for records without a time, which come by the thousand.

    The numbers of `words` are read many at a time.
    """

    def __init__(self) -> None:
        self._rows: list[_Rows] = []
        self._words: list[bytes] = []
        self._unread: set[str] = set()
        self._columns: dict[str, Points] = {}
        self._appends: dict[tuple[str, ...], list[tuple[_Call, _Call]]] = {}
        self._untimed = False

    def row(self, tags: tuple[str, ...], step: int, values: Sequence[float]) -> None:
        """Append one value to each of `tags`, without a time."""
        if not self._unread.isdisjoint(tags):
            self._read()
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

    def words(self, tags: tuple[str, ...], steps: array[int], words: Sequence[bytes]) -> None:
        """Append a row for each step: its numbers, still words, stand one behind the other.

        A word that is no number gives no point.
        """
        if len(self._words) >= _MOST_WORDS:
            self._read()
        self._rows.append(_Rows(tags, steps))
        self._words += words
        self._unread.update(tags)

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
        taken = [points for points in self._columns.values() if points.steps]
        self._columns = {}
        self._appends.clear()
        return taken

    def _column(self, tag: str) -> Points:
        points = self._columns.get(tag)
        if points is None:
            points = self._columns[tag] = Points(tag, array("q"), array("d"), array("d"))
        return points

    def _settle(self) -> None:
        """Read the words; give the points of rows their unknown times."""
        if self._rows:
            self._read()
        if not self._untimed:
            return
        self._untimed = False
        for points in self._columns.values():
            missing = len(points.steps) - len(points.times)
            if missing:
                points.times.extend(_UNKNOWN * missing)

    def _read(self) -> None:
        """Turn words into points."""
        rows, self._rows = self._rows, []
        words, self._words = self._words, []
        self._unread.clear()
        self._untimed = True
        numbers = floats(words)
        if numbers is None:
            self._read_slowly(rows, words)
            return
        values = array("d", numbers)
        extends: dict[tuple[str, ...], list[tuple[_Call, _Call]]] = {}
        start = 0
        for tags, steps in rows:
            width, end = len(tags), start + len(tags) * len(steps)
            if tags not in extends:
                points = [self._column(tag) for tag in tags]
                extends[tags] = [(each.steps.extend, each.values.extend) for each in points]
            for place, (extend_steps, extend_values) in enumerate(extends[tags], start):
                extend_steps(steps)
                extend_values(values[place:end:width])
            start = end

    def _read_slowly(self, rows: list[_Rows], words: list[bytes]) -> None:
        """Some of the words are no numbers."""
        start = 0
        for tags, steps in rows:
            end = start + len(tags) * len(steps)
            for place, tag in enumerate(tags, start):
                _extend(self._column(tag), steps, words[place : end : len(tags)])
            start = end


def _extend(column: Points, steps: array[int], words: Sequence[bytes]) -> None:
    """Append those of some words that are numbers."""
    for step, word in zip(steps, words, strict=True):
        value = number(word.decode("ascii"))
        if value is not None:
            column.steps.append(step)
            column.values.append(value)
