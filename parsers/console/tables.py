"""Tables of `| key | value |` rows between rules of dashes.

Stable-Baselines3 prints a group as a row of its own (`| train/ | |`) and indents its members by
three spaces; Spinning Up and the old baselines have plain keys.
"""

from __future__ import annotations

import re

from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared.number_text import number, whole

RULE = re.compile(r"-{10,}")
_ROW = re.compile(r"\|([^|]*)\|([^|]*)\|")

STEPS = (
    "time/total_timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "TotalEnvInteracts",
    "TimestepsSoFar",
    "total timesteps",
    "total/steps",
    "time/iterations",
    "iterations",
    "misc/nupdates",
    "nupdates",
    "Epoch",
    "steps",
)
"""Rows that say the step, the best first."""

_SURE_STEPS = 7
_MOST_ROWS = 1000
_MOST_STRANGERS = 20


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
