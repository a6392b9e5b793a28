"""Tables of `| key | value |` rows between rules of dashes.

Stable-Baselines3 prints a group as a row of its own (`| train/ | |`) and indents its members by
three spaces; Spinning Up and the old baselines have plain keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

from ppo_top.parsers._floats import floats
from ppo_top.parsers._numbers import number, whole
from ppo_top.parsers._record import Record

RULE = re.compile(r"-{10,}")
_RULE_LINE = re.compile(rb"-{10,}\n")
_ROW = re.compile(r"\|([^|]*)\|([^|]*)\|")

STEPS = (
    "time/total_timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "TotalEnvInteracts",
    "time/iterations",
    "iterations",
    "misc/nupdates",
    "nupdates",
    "Epoch",
)
"""Rows that say the step, the best first."""

_SURE_STEPS = 4
_LONGEST = 1 << 17
"""Bytes of a table that is read in one go."""
_MOST_ROWS = 1000
_MOST_STRANGERS = 20
_MOST_LAYOUTS = 256


def tag_of(cell: str, group: str) -> str:
    """The whole name of a row: its group's prefix restored when it is indented under one."""
    return group + cell.strip() if cell.startswith("    ") else cell.strip()


def group_of(cell: str, value: str) -> str | None:
    """The prefix that a row without a value opens for those below it, or None."""
    name = cell.strip()
    return name if name.endswith("/") and not value.strip() else None


class Table:
    """The table that is being printed on one stream, row by row."""

    def __init__(self) -> None:
        self.open = False
        self._group = ""
        self._values: list[tuple[str, float]] = []
        self._rows = self._strangers = 0

    @property
    def started(self) -> bool:
        """A row has been seen, so the next rule is the last."""
        return self._rows > 0

    def row(self, text: str) -> bool:
        """Take a line if it is a row of the open table."""
        match = _ROW.fullmatch(text) if self.open else None
        if match is None:
            return False
        self._rows += 1
        self._strangers = 0
        cell, value = match.groups()
        group = group_of(cell, value)
        if group is not None:
            self._group = group
            return True
        parsed = number(value)
        if parsed is not None:
            self._values.append((tag_of(cell, self._group), parsed))
        return True

    def stranger(self) -> bool:
        """Note a line that is no row; True when the table is not to be waited for any more."""
        self._strangers += 1
        return self._strangers > _MOST_STRANGERS or self._rows > _MOST_ROWS

    def close(self) -> Record | None:
        """The record of all rows so far; the table is empty afterwards."""
        values = self._values
        self.open = False
        self._group, self._values = "", []
        self._rows = self._strangers = 0
        return Record(values, step_of(dict(values)), "table") if values else None


def is_certain(found: Record) -> bool:
    """Whether the step of a table without its last rule is not only a stand-in for a better one."""
    return any(tag in STEPS[:_SURE_STEPS] for tag, _ in found.values)


def step_of(values: dict[str, float]) -> int | None:
    """The step that one of a table's own rows says."""
    for tag in STEPS:
        if tag in values and (step := whole(values[tag])) is not None:
            return step
    return None


class Layout(NamedTuple):
    """Where the values of a table stand, known from an earlier one with the same keys."""

    tags: tuple[str, ...]
    picks: Callable[[list[bytes]], tuple[bytes, ...]]
    """Takes the cells of numbers out of all cells."""
    groups: tuple[int, ...]
    step: int


class Block(NamedTuple):
    """A whole table that was read in one go, rules included, up to `end` of the piece."""

    tags: tuple[str, ...]
    values: list[float]
    step: int
    end: int


class Blocks:
    """Reads whole tables whose keys were met before, at a few steps a table instead of a line."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[bytes, ...], Layout | None] = {}
        self._rule = b""  # the last one that was looked at closely

    def read(self, piece: bytes, start: int) -> Block | None:
        """The table whose opening rule starts at `start`; None: take the careful way."""
        body = piece.find(b"\n", start) + 1
        rule = piece[start:body]
        last = piece.find(b"\n-", body)
        if last < 0 or last - start > _LONGEST or not piece.startswith(rule, last + 1):
            return None
        if rule != self._rule and not _RULE_LINE.fullmatch(rule):
            return None
        self._rule = rule
        if piece.find(b"\r", body, last) >= 0:
            return None
        cells = piece[body : last + 1].split(b"|")
        values = cells[2::3]
        if piece.count(b"\n", body, last + 1) != len(values):
            return None
        del cells[2::3]
        keys = tuple(cells)
        layout = self._layouts.get(keys)
        if layout is None:
            layout = self._learn(keys, values)
        if layout is None or b"".join([values[group] for group in layout.groups]).strip():
            return None
        return _block(layout, values, last + 1 + len(rule))

    def _learn(self, keys: tuple[bytes, ...], values: list[bytes]) -> Layout | None:
        if keys in self._layouts or not regular(keys, values):
            return None
        if len(self._layouts) >= _MOST_LAYOUTS:
            self._layouts.clear()
        layout = self._layouts[keys] = _layout(keys[1::2], values)
        return layout


def _block(layout: Layout, cells: list[bytes], end: int) -> Block | None:
    values = floats(layout.picks(cells))
    if values is None:
        return None
    step = whole(values[layout.step])
    return None if step is None else Block(layout.tags, values, step, end)


def regular(keys: tuple[bytes, ...], values: list[bytes]) -> bool:
    """Whether a body split at its bars is nothing but plain rows."""
    separators = keys[2::2]
    return (
        len(keys) == 2 * len(values) + 1
        and keys[0] == b""
        and separators.count(b"\n") == len(separators)
        and all(cell.isascii() and cell.isprintable() for cell in _texts(keys[1::2]))
        and len(values) <= _MOST_ROWS
    )


def _texts(cells: tuple[bytes, ...]) -> list[str]:
    return [cell.decode("ascii", "replace") for cell in cells]


def _layout(keys: tuple[bytes, ...], values: list[bytes]) -> Layout | None:
    """Where the values stand; None when a row holds words or no row says the step."""
    tags, picks, groups = [], [], []
    prefix = ""
    for place, (cell, value) in enumerate(zip(_texts(keys), values, strict=True)):
        group = group_of(cell, value.decode("ascii", "replace"))
        if group is not None:
            prefix = group
            groups.append(place)
            continue
        tags.append(tag_of(cell, prefix))
        picks.append(place)
    step = next((tag for tag in STEPS if tag in tags), None)
    if step is None or len(set(tags)) != len(tags):
        return None
    picker = itemgetter(*picks) if len(picks) > 1 else lambda cells: (cells[picks[0]],)
    return Layout(tuple(tags), picker, tuple(groups), tags.index(step))
