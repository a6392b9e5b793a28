"""Whole tables whose keys were met before, many at a time.

What a table says follows from its key cells; those of a known layout are compared and only the
value cells are read. Everything else is left to the careful way.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from ppo_top.parsers._floats import floats
from ppo_top.parsers._numbers import whole
from ppo_top.parsers._tables import STEPS, group_of, tag_of

_CELL = rb"\|[^|\r\n]*+"
_REGION = re.compile(rb"(?:-{10,}+\n(?:" + _CELL + _CELL + rb"\|\n)++-{10,}+\n)++")
_SHORTEST, _LONGEST = 1 << 13, 1 << 17
"""Bytes of tables that are read in one go: fewer after a failure, more after each success."""
_MOST_ROWS = 1000
_MOST_LAYOUTS = 256
_NEWLINE = b"\n"


class Layout(NamedTuple):
    """Where the values of a table stand, known from an earlier one with the same keys."""

    tags: tuple[str, ...]
    numbers: Callable[[Sequence[bytes]], Sequence[bytes]]
    """Takes the cells of numbers out of all value cells."""
    groups: tuple[int, ...]
    step: int


class Group(NamedTuple):
    """Tables of one layout that stand one behind the other."""

    tags: tuple[str, ...]
    steps: array[int]
    columns: list[array[float]]
    rows: int
    """Rows of each of these tables."""


class Runs:
    """Finds runs of tables and remembers their layouts."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[bytes, ...], Layout | None] = {}
        self._reach = _SHORTEST

    def read(self, piece: bytes, start: int) -> tuple[list[Group], int] | None:
        """The tables from `start` on, and where they end; None: take the careful way."""
        region = _REGION.match(piece, start, start + self._reach)
        self._reach = _SHORTEST
        if region is None:
            return None
        cells = region[0].split(b"|")
        keys, values = cells[1::3], cells[2::3]
        bounds = [row for row, rule in enumerate(cells[0::3]) if rule != _NEWLINE]
        found: list[Group] = []
        taken = 0
        while taken < len(bounds) - 1:
            count, layout = self._alike(keys, values, bounds, taken)
            group = _group(layout, values, bounds, taken, count) if layout else None
            if group is None:
                break
            found.append(group)
            taken += count
        if not taken:
            return None
        self._reach = min(2 * len(region[0]) + _SHORTEST, _LONGEST)
        # A rule stands before the first row of each table and one behind the last of all.
        end = start + len(region[0])
        if taken < len(bounds) - 1:
            read = sum(map(len, cells[: 3 * bounds[taken]])) + 3 * bounds[taken]
            end = start + read + _closing(cells[3 * bounds[taken]])
        return found, end

    def _alike(
        self, keys: list[bytes], values: list[bytes], bounds: list[int], first: int
    ) -> tuple[int, Layout | None]:
        """How many tables from `first` on have the same keys, and their layout."""
        start, end = bounds[first], bounds[first + 1]
        names = keys[start:end]
        layout = self._layout(tuple(names), values[start:end])
        rows = end - start
        count = 1
        while first + count + 1 < len(bounds):
            start, end = end, bounds[first + count + 1]
            if end - start != rows or keys[start:end] != names:
                break
            count += 1
        return count, layout

    def _layout(self, keys: tuple[bytes, ...], values: Sequence[bytes]) -> Layout | None:
        if keys not in self._layouts:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[keys] = _learnt(keys, values)
        return self._layouts[keys]


def _closing(rules: bytes) -> int:
    """The length of a table's last rule in what stands between two tables' cells."""
    return rules.index(_NEWLINE, 1) + 1


def _group(
    layout: Layout, values: list[bytes], bounds: list[int], first: int, count: int
) -> Group | None:
    """The numbers of tables of one layout; None when a cell holds no number."""
    words: list[bytes] = []
    blanks: list[bytes] = []
    for table in range(first, first + count):
        cells = values[bounds[table] : bounds[table + 1]]
        words += layout.numbers(cells)
        blanks += [cells[group] for group in layout.groups]
    numbers = None if b"".join(blanks).strip() else floats(words)
    if numbers is None:
        return None
    width = len(layout.tags)
    steps = [whole(value) for value in numbers[layout.step :: width]]
    if None in steps:
        return None
    columns = [array("d", numbers[place::width]) for place in range(width)]
    rows = bounds[first + 1] - bounds[first]
    return Group(layout.tags, array("q", [step or 0 for step in steps]), columns, rows)


def _learnt(keys: Sequence[bytes], values: Sequence[bytes]) -> Layout | None:
    """Where the values stand; None when a row holds words or no row says the step."""
    tags, numbers, groups = [], [], []
    prefix = ""
    if len(keys) > _MOST_ROWS or not all(key.isascii() for key in keys):
        return None
    for place, (key, value) in enumerate(zip(keys, values, strict=True)):
        cell = key.decode("ascii")
        if not cell.isprintable():
            return None
        group = group_of(cell, value.decode("ascii", "replace"))
        if group is not None:
            prefix = group
            groups.append(place)
            continue
        tags.append(tag_of(cell, prefix))
        numbers.append(place)
    step = next((tag for tag in STEPS if tag in tags), None)
    if step is None or len(set(tags)) != len(tags):
        return None
    return Layout(tuple(tags), _picker(numbers), tuple(groups), tags.index(step))


def _picker(places: list[int]) -> Callable[[Sequence[bytes]], Sequence[bytes]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda cells: (cells[places[0]],)
