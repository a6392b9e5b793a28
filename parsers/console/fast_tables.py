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

from ppo_top.parsers.console.tables import STEP_ROWS, group_of, tag_of

_OTHER_LINE = re.compile(rb"\n(?![|-])")
_LAST_ROW_END = b"|\n-"
_OPENING_RULE = re.compile(rb"-{10,}+\n")
_RULES_BETWEEN = re.compile(rb"\n-{10,}+\n-{10,}+\n")
_CLOSING_RULE = re.compile(rb"\n-{10,}+\n")
_SHORTEST_RULE = b"-" * 10
_MIN_REGION_BYTES, _MAX_REGION_BYTES = 1 << 13, 1 << 17
"""Bytes of tables that are read in one go: fewer after a failure, more after each success."""
_MAX_LAYOUT_ROWS = 1000
_MAX_EXACT_STEP = 1 << 53
"""Steps below are the same whether they are read as integers or as other numbers are."""
_MAX_TABLE_LAYOUTS = 256
_LINE_END = b"\n"
_CELL_NUMBER_CHARS = b"0123456789.-+eE nNaAiIfF"


class TableLayout(NamedTuple):
    """Where the values of a table stand, known from an earlier one with the same keys."""

    tags: tuple[str, ...]
    pick_numbers: Callable[[Sequence[bytes]], Sequence[bytes]]
    """Takes the cells of numbers out of all value cells."""
    pick_blanks: Callable[[Sequence[bytes]], Sequence[bytes]]
    """Takes out the cells behind the names of groups."""
    step_index: int


class TableRun(NamedTuple):
    """Tables of one layout that stand one behind the other."""

    tags: tuple[str, ...]
    steps: array[int]
    number_cells: list[bytes]
    """The cells of numbers, table by table."""
    rows: int
    """Rows of each of these tables."""


class TableRunReader:
    """Finds runs of tables and remembers their layouts."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[bytes, ...], TableLayout | None] = {}
        self._known_rules: set[bytes] = set()  # rules between two tables
        self._region_bytes = _MIN_REGION_BYTES

    def read_from(self, piece: bytes, start: int) -> tuple[list[TableRun], int] | None:
        """The tables from `start` on, and where they end; None: take the careful way."""
        region = _table_region(piece, start, self._region_bytes)
        self._region_bytes = _MIN_REGION_BYTES
        if not region:
            return None
        cells = region.split(b"|")
        keys, values = cells[1::3], cells[2::3]
        bounds = self._table_bounds(cells[0::3])
        sound = not b"".join(values).translate(None, _CELL_NUMBER_CHARS)
        found: list[TableRun] = []
        taken = 0
        while taken < len(bounds) - 1:
            count, layout = self._matching_tables(keys, values, bounds, taken)
            group = _make_run(layout, values, bounds, taken, count, sound) if layout else None
            if group is None:
                break
            found.append(group)
            taken += count
        if not taken:
            return None
        self._region_bytes = min(2 * len(region) + _MIN_REGION_BYTES, _MAX_REGION_BYTES)
        # A rule stands before the first row of each table and one behind the last of all.
        last = 3 * bounds[taken]
        if last == len(cells) - 1:
            return found, start + len(region)
        read = sum(map(len, cells[:last])) + last
        return found, start + read + _closing_rule_bytes(cells[last])

    def _table_bounds(self, between: list[bytes]) -> list[int]:
        """The rows before which a table starts, and the one behind the last, as far as all is well.

        `between` stands before each row: a line end, with rules in it where a table starts.
        """
        bounds = [row for row, rules in enumerate(between) if rules != _LINE_END]
        for number, row in enumerate(bounds):
            rules = between[row]
            if rules in self._known_rules or (row == 0 and _OPENING_RULE.fullmatch(rules)):
                continue
            if not _RULES_BETWEEN.fullmatch(rules):
                return bounds[: number + 1 if _CLOSING_RULE.fullmatch(rules) else number]
            if len(self._known_rules) >= _MAX_TABLE_LAYOUTS:
                self._known_rules.clear()
            self._known_rules.add(rules)
        return bounds

    def _matching_tables(
        self, keys: list[bytes], values: list[bytes], bounds: list[int], first: int
    ) -> tuple[int, TableLayout | None]:
        """How many tables from `first` on have the same keys, and their layout."""
        start, end = bounds[first], bounds[first + 1]
        names = keys[start:end]
        layout = self._layout_of(tuple(names), values[start:end])
        rows = end - start
        count = 1
        while first + count + 1 < len(bounds):
            start, end = end, bounds[first + count + 1]
            if end - start != rows or keys[start:end] != names:
                break
            count += 1
        return count, layout

    def _layout_of(self, keys: tuple[bytes, ...], values: Sequence[bytes]) -> TableLayout | None:
        if keys not in self._layouts:
            if len(self._layouts) >= _MAX_TABLE_LAYOUTS:
                self._layouts.clear()
            self._layouts[keys] = _learn_layout(keys, values)
        return self._layouts[keys]


def _table_region(piece: bytes, start: int, reach: int) -> bytes:
    """Lines of rules and rows from `start` on, up to the last rule that closes a table."""
    if not piece.startswith(_SHORTEST_RULE, start):
        return b""
    beyond = _OTHER_LINE.search(piece, start, start + reach)
    closing = piece.rfind(_LAST_ROW_END, start, beyond.end() if beyond else start + reach)
    if closing < 0:
        return b""
    end = piece.find(_LINE_END, closing + 2, beyond.end() if beyond else start + reach) + 1
    return piece[start:end] if end else b""


def _closing_rule_bytes(rules: bytes) -> int:
    """The length of a table's last rule in what stands between two tables' cells."""
    return rules.index(_LINE_END, 1) + 1


def _make_run(
    layout: TableLayout, values: list[bytes], bounds: list[int], first: int, count: int, sound: bool
) -> TableRun | None:
    """The numbers of tables of one layout; None when one is none (`sound`: all are known to be).

    The steps are whole as they stand: those that say `1e+06` go the careful way.
    """
    words: list[bytes] = []
    blanks: list[bytes] = []
    for table in range(first, first + count):
        cells = values[bounds[table] : bounds[table + 1]]
        words += layout.pick_numbers(cells)
        blanks += layout.pick_blanks(cells)
    steps = _parse_steps(words[layout.step_index :: len(layout.tags)])
    if steps is None or b"".join(blanks).strip(b" "):
        return None
    if not sound and b"".join(words).translate(None, _CELL_NUMBER_CHARS):
        return None
    return TableRun(layout.tags, steps, words, bounds[first + 1] - bounds[first])


def _parse_steps(words: Sequence[bytes]) -> array[int] | None:
    """The steps that cells say; None when one is no whole number."""
    try:
        steps = array("q", map(int, words))
    except (ValueError, OverflowError):
        return None
    return steps if max(steps) < _MAX_EXACT_STEP else None


def _learn_layout(keys: Sequence[bytes], values: Sequence[bytes]) -> TableLayout | None:
    """Where the values stand; None when a row holds words or no row says the step."""
    tags, numbers, groups = [], [], []
    prefix = ""
    if len(keys) > _MAX_LAYOUT_ROWS or not all(key.isascii() for key in keys):
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
    step = next((tag for tag in STEP_ROWS if tag in tags), None)
    if step is None or len(set(tags)) != len(tags):
        return None
    return TableLayout(tuple(tags), _cell_picker(numbers), _cell_picker(groups), tags.index(step))


def _cell_picker(places: list[int]) -> Callable[[Sequence[bytes]], Sequence[bytes]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda cells: [cells[place] for place in places]
