"""Collects points, one by one or many rows at a time, into the columns of a batch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ppo_top.model import UNKNOWN_TIME, Points
from ppo_top.parsers.shared.float_batches import parse_floats
from ppo_top.parsers.shared.number_text import parse_number

_AppendFunction = Callable[[Any], None]
_UNKNOWN_TIMES = array("d", [UNKNOWN_TIME])
_MAX_CACHED_TAG_SETS = 256
_MAX_UNPARSED_WORDS = 4096
"""A long list of small objects is what the garbage collector spends its time on."""


class _UnparsedRows(NamedTuple):
    """Records of one layout whose numbers are not read yet."""

    tags: tuple[str, ...]
    steps: array[int]


class ColumnBuilder:
    """Columns by tag.

    `add_row` and `add_unparsed_rows` are for records without a time, which come by the thousand.

    The numbers of `add_unparsed_rows` are read many at a time.
    """

    def __init__(self) -> None:
        self._unparsed_rows: list[_UnparsedRows] = []
        self._unparsed_words: list[bytes] = []
        self._unparsed_tags: set[str] = set()
        self._columns: dict[str, Points] = {}
        self._appends: dict[tuple[str, ...], list[tuple[_AppendFunction, _AppendFunction]]] = {}
        self._has_untimed_rows = False

    def add_row(self, tags: tuple[str, ...], step: int, values: Sequence[float]) -> None:
        """Append one value to each of `tags`, without a time."""
        if not self._unparsed_tags.isdisjoint(tags):
            self._parse_rows()
        appends = self._appends.get(tags)
        if appends is None:
            points = [self._points_of(tag) for tag in tags]
            appends = [(each.steps.append, each.values.append) for each in points]
            if len(self._appends) < _MAX_CACHED_TAG_SETS:
                self._appends[tags] = appends
        self._has_untimed_rows = True
        for (append_step, append_value), value in zip(appends, values, strict=True):
            append_step(step)
            append_value(value)

    def add_unparsed_rows(
        self, tags: tuple[str, ...], steps: array[int], words: Sequence[bytes]
    ) -> None:
        """Append a row for each step: its numbers, still words, stand one behind the other.

        A word that is no number gives no point.
        """
        if len(self._unparsed_words) >= _MAX_UNPARSED_WORDS:
            self._parse_rows()
        self._unparsed_rows.append(_UnparsedRows(tags, steps))
        self._unparsed_words += words
        self._unparsed_tags.update(tags)

    def add_point(self, tag: str, step: int, time: float, value: float) -> None:
        """Append one point."""
        self._complete_columns()
        points = self._points_of(tag)
        points.steps.append(step)
        points.times.append(time)
        points.values.append(value)

    def add_column(
        self, tag: str, steps: array[int], times: array[float], values: array[float]
    ) -> None:
        """Append many points of one tag."""
        self._complete_columns()
        if not steps:
            return
        points = self._points_of(tag)
        points.steps.extend(steps)
        points.times.extend(times)
        points.values.extend(values)

    def pop_points(self) -> list[Points]:
        """All that was added since the last call, one entry a tag in order of appearance."""
        self._complete_columns()
        taken = [points for points in self._columns.values() if points.steps]
        self._columns = {}
        self._appends.clear()
        return taken

    def _points_of(self, tag: str) -> Points:
        points = self._columns.get(tag)
        if points is None:
            points = self._columns[tag] = Points(tag, array("q"), array("d"), array("d"))
        return points

    def _complete_columns(self) -> None:
        """Read the words; give the points of rows their unknown times."""
        if self._unparsed_rows:
            self._parse_rows()
        if not self._has_untimed_rows:
            return
        self._has_untimed_rows = False
        for points in self._columns.values():
            missing = len(points.steps) - len(points.times)
            if missing:
                points.times.extend(_UNKNOWN_TIMES * missing)

    def _parse_rows(self) -> None:
        """Turn words into points."""
        rows, self._unparsed_rows = self._unparsed_rows, []
        words, self._unparsed_words = self._unparsed_words, []
        self._unparsed_tags.clear()
        self._has_untimed_rows = True
        numbers = parse_floats(words)
        if numbers is None:
            self._parse_rows_singly(rows, words)
            return
        values = array("d", numbers)
        extends: dict[tuple[str, ...], list[tuple[_AppendFunction, _AppendFunction]]] = {}
        start = 0
        for tags, steps in rows:
            width, end = len(tags), start + len(tags) * len(steps)
            if tags not in extends:
                points = [self._points_of(tag) for tag in tags]
                extends[tags] = [(each.steps.extend, each.values.extend) for each in points]
            for place, (extend_steps, extend_values) in enumerate(extends[tags], start):
                extend_steps(steps)
                extend_values(values[place:end:width])
            start = end

    def _parse_rows_singly(self, rows: list[_UnparsedRows], words: list[bytes]) -> None:
        """Some of the words are no numbers."""
        start = 0
        for tags, steps in rows:
            end = start + len(tags) * len(steps)
            for place, tag in enumerate(tags, start):
                _append_numbers(self._points_of(tag), steps, words[place : end : len(tags)])
            start = end


def _append_numbers(column: Points, steps: array[int], words: Sequence[bytes]) -> None:
    """Append those of some words that are numbers."""
    for step, word in zip(steps, words, strict=True):
        value = parse_number(word.decode("ascii"))
        if value is not None:
            column.steps.append(step)
            column.values.append(value)
