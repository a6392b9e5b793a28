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

from ppo_top.parsers.console.tables import STEPS, group_of, tag_of

_BEYOND = re.compile(rb"\n(?![|-])")
_CLOSES = b"|\n-"
_OPENING = re.compile(rb"-{10,}+\n")
_PAIR = re.compile(rb"\n-{10,}+\n-{10,}+\n")
_CLOSING = re.compile(rb"\n-{10,}+\n")
_LEAST = b"-" * 10
_SHORTEST, _LONGEST = 1 << 13, 1 << 17
"""Bytes of tables that are read in one go: fewer after a failure, more after each success."""
_MOST_ROWS = 1000
_EXACT = 1 << 53
"""Steps below are the same whether they are read as integers or as other numbers are."""
_MOST_LAYOUTS = 256
_NEWLINE = b"\n"
_NUMERIC = b"0123456789.-+eE nNaAiIfF"


class Layout(NamedTuple):
    """Where the values of a table stand, known from an earlier one with the same keys."""

    tags: tuple[str, ...]
    numbers: Callable[[Sequence[bytes]], Sequence[bytes]]
    """Takes the cells of numbers out of all value cells."""
    blanks: Callable[[Sequence[bytes]], Sequence[bytes]]
    """Takes out the cells behind the names of groups."""
    step: int


class Group(NamedTuple):
    """Tables of one layout that stand one behind the other."""

    tags: tuple[str, ...]
    steps: array[int]
    words: list[bytes]
    """The cells of numbers, table by table."""
    rows: int
    """Rows of each of these tables."""


class Runs:
    """Finds runs of tables and remembers their layouts."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[bytes, ...], Layout | None] = {}
        self._pairs: set[bytes] = set()  # rules between two tables
        self._reach = _SHORTEST

    def read(self, piece: bytes, start: int) -> tuple[list[Group], int] | None:
        """The tables from `start` on, and where they end; None: take the careful way."""
        region = _region(piece, start, self._reach)
        self._reach = _SHORTEST
        if not region:
            return None
        cells = region.split(b"|")
        keys, values = cells[1::3], cells[2::3]
        bounds = self._bounds(cells[0::3])
        sound = not b"".join(values).translate(None, _NUMERIC)
        found: list[Group] = []
        taken = 0
        while taken < len(bounds) - 1:
            count, layout = self._alike(keys, values, bounds, taken)
            group = _group(layout, values, bounds, taken, count, sound) if layout else None
            if group is None:
                break
            found.append(group)
            taken += count
        if not taken:
            return None
        self._reach = min(2 * len(region) + _SHORTEST, _LONGEST)
        # A rule stands before the first row of each table and one behind the last of all.
        last = 3 * bounds[taken]
        if last == len(cells) - 1:
            return found, start + len(region)
        read = sum(map(len, cells[:last])) + last
        return found, start + read + _closing(cells[last])

    def _bounds(self, between: list[bytes]) -> list[int]:
        """The rows before which a table starts, and the one behind the last, as far as all is well.

        `between` stands before each row: a line end, with rules in it where a table starts.
        """
        bounds = [row for row, rules in enumerate(between) if rules != _NEWLINE]
        for number, row in enumerate(bounds):
            rules = between[row]
            if rules in self._pairs or (row == 0 and _OPENING.fullmatch(rules)):
                continue
            if not _PAIR.fullmatch(rules):
                return bounds[: number + 1 if _CLOSING.fullmatch(rules) else number]
            if len(self._pairs) >= _MOST_LAYOUTS:
                self._pairs.clear()
            self._pairs.add(rules)
        return bounds

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


def _region(piece: bytes, start: int, reach: int) -> bytes:
    """Lines of rules and rows from `start` on, up to the last rule that closes a table."""
    if not piece.startswith(_LEAST, start):
        return b""
    beyond = _BEYOND.search(piece, start, start + reach)
    closing = piece.rfind(_CLOSES, start, beyond.end() if beyond else start + reach)
    if closing < 0:
        return b""
    end = piece.find(_NEWLINE, closing + 2, beyond.end() if beyond else start + reach) + 1
    return piece[start:end] if end else b""


def _closing(rules: bytes) -> int:
    """The length of a table's last rule in what stands between two tables' cells."""
    return rules.index(_NEWLINE, 1) + 1


def _group(
    layout: Layout, values: list[bytes], bounds: list[int], first: int, count: int, sound: bool
) -> Group | None:
    """The numbers of tables of one layout; None when one is none (`sound`: all are known to be).

    The steps are whole as they stand: those that say `1e+06` go the careful way.
    """
    words: list[bytes] = []
    blanks: list[bytes] = []
    for table in range(first, first + count):
        cells = values[bounds[table] : bounds[table + 1]]
        words += layout.numbers(cells)
        blanks += layout.blanks(cells)
    steps = _steps(words[layout.step :: len(layout.tags)])
    if steps is None or b"".join(blanks).strip(b" "):
        return None
    if not sound and b"".join(words).translate(None, _NUMERIC):
        return None
    return Group(layout.tags, steps, words, bounds[first + 1] - bounds[first])


def _steps(words: Sequence[bytes]) -> array[int] | None:
    """The steps that cells say; None when one is no whole number."""
    try:
        steps = array("q", map(int, words))
    except (ValueError, OverflowError):
        return None
    return steps if max(steps) < _EXACT else None


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
        if cell.strip().endswith("/"):
            return None  # a group in other tables with these keys
        tags.append(tag_of(cell, prefix))
        numbers.append(place)
    step = next((tag for tag in STEPS if tag in tags), None)
    if step is None or len(set(tags)) != len(tags):
        return None
    return Layout(tuple(tags), _picker(numbers), _picker(groups), tags.index(step))


def _picker(places: list[int]) -> Callable[[Sequence[bytes]], Sequence[bytes]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda cells: [cells[place] for place in places]
