"""Tables of `| key | value |` rows between rules of dashes or box drawing.

Stable-Baselines3 prints a row for each group (`| train/ | |`) and indents its members by three
spaces; Spinning Up and the old baselines have plain keys. Scripts draw theirs with rich, tabulate
or prettytable, most with a header. garage (dowel) and rllab print tabulate's two columns without
borders, between rules of dashes with a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import is_metric
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_RULE_STARTS = frozenset("-+─━═┌├└┏┣┡┢┗╔╠╚╭╰╒╞╘╓╟╙")
_RULE = lazy_pattern(r"[-+=─-╿|]{10,}|-{4,}  -{2,}")
_INNER_RULES = frozenset("├┣╠╞╟")
_GAP = "  "
_TABLE_ROW = lazy_pattern(r"[|│┃║]([^|│┃║]*)[|│┃║]([^|│┃║]*)[|│┃║]")
_COLUMNS = lazy_pattern(r"(\S{1,200}(?: \S{1,200}){0,9}) {2,200}(\S{1,40})")


def is_rule(text: str) -> bool:
    """Whether a line is the top, the bottom or a rule of a table."""
    return text[:1] in _RULE_STARTS and _RULE.fullmatch(text) is not None


STEP_ROWS = (
    "time/total_timesteps",
    "time/total timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "raw/gen/time/total_timesteps",
    "TotalEnvInteracts",
    "TotalEnvSteps",
    "TimestepsSoFar",
    "total timesteps",
    "total/steps",
    "Diagnostics/Iteration",
    "time/iterations",
    "iterations",
    "misc/nupdates",
    "nupdates",
    "Epoch",
    "steps",
    "global_step",
    "timesteps",
    "timestep",
    "step",
    "Step",
    "iteration",
    "Iteration",
    "update",
    "Update",
    "epoch",
    "frame",
    "episode",
    "Episode",
)
"""Rows that say the step, the best first."""

_SURE_STEP_ROWS = 10
_MAX_TABLE_ROWS = 1000
_MAX_OTHER_LINES = 20


class RowNames:
    """Full names of a table's rows: members of a group get its prefix.

    They are indented below its row, or none is (a table pasted into a text loses its blanks).
    """

    def __init__(self) -> None:
        self._group = ""
        self._begins = self._is_plain = False

    def begin_group(self, prefix: str) -> None:
        """The rows below belong to this group."""
        self._group, self._begins = prefix, True

    def tag_of(self, cell: str) -> str:
        """The full name of a row with a value."""
        name, indented = cell.strip(), cell.startswith("    ")
        if self._begins:
            self._begins, self._is_plain = False, not indented
        is_member = indented or (self._is_plain and "/" not in name)
        return self._group + name if is_member else name


def group_of(cell: str, value: str) -> str | None:
    """The prefix that a row without a value sets for those below it, or None."""
    name = cell.strip()
    return name if name.endswith("/") and not value.strip() else None


class ConsoleTable:
    """The table that is being printed on one stream, row by row."""

    def __init__(self) -> None:
        self.is_open = False
        self._names = RowNames()
        self._values: list[tuple[str, float]] = []
        self._rows = self._other_lines = 0
        self._is_boxed = self._has_gap = self._is_bare = False

    def open_bare(self, text: str) -> ConsoleRecord | None:
        """Open a table at its first row where no rule stands above it: in a paste, mostly.

        The record of the one before, which this row begins anew.
        """
        match = _TABLE_ROW.fullmatch(text)
        if match is None or match[1].startswith("    ") or parse_number(match[2]) is None:
            return None
        name, record = match[1].strip(), None
        if self._is_bare and any(tag == name for tag, _ in self._values):
            record = self.pop_record()
        if not self.is_open and is_metric(name):
            self.is_open = self._is_bare = True
            self._is_boxed = self._has_gap = False
        return record

    @property
    def has_rows(self) -> bool:
        """Whether a row has been seen."""
        return self._rows > 0

    def add_rule(self, text: str, *, is_titled: bool = False) -> ConsoleRecord | None:
        """The record that a rule closes; above the first number, it opens a table.

        `is_titled`: the line above the table says a step and nothing else.
        """
        if self._values and text[0] in _INNER_RULES:
            return None  # between two rows
        closes = bool(self._values)
        record = self.pop_record(is_titled=is_titled)
        self.is_open, self._is_boxed = not closes, text[0] != "-"
        self._has_gap = _GAP in text
        return record

    def add_line(self, text: str) -> bool:
        """Add a line if it is a row of the open table."""
        row = _COLUMNS if self._has_gap else _TABLE_ROW
        match = row.fullmatch(text) if self.is_open else None
        if match is None:
            return False
        cell, value = match.groups()
        if parse_number(cell) is not None:
            return False  # a row of a table with a column for each metric
        self._other_lines = 0
        self._rows += 1
        group = group_of(cell, value)
        if group is not None:
            self._names.begin_group(group)
            return True
        parsed = parse_number(value)
        if parsed is not None:
            self._values.append((self._names.tag_of(cell), parsed))
        return True

    def note_other_line(self) -> bool:
        """Note a line that is not a row; True if the table has to be ended."""
        self._other_lines += 1
        return self._other_lines > _MAX_OTHER_LINES or self._rows > _MAX_TABLE_ROWS

    def pop_record(self, *, is_titled: bool = False) -> ConsoleRecord | None:
        """The record of all rows so far, which empties the table."""
        values = self._values
        self.is_open = False
        self._names, self._values = RowNames(), []
        self._rows = self._other_lines = 0
        step = step_of(dict(values))
        is_bare, self._is_bare = self._is_bare, False
        if is_bare and not has_certain_step(values):
            return None  # some other table, or the end of one whose start is lost
        has_step = step is not None or (is_titled and len(values) > 1)
        if self._is_boxed and not (has_step and any(is_metric(tag) for tag, _ in values)):
            return None  # TRL's samples with their scores, say
        return ConsoleRecord(values, step, "table") if values else None


def has_certain_step(values: Iterable[tuple[str, float]]) -> bool:
    """Whether no better step can follow in the rest of an unfinished table."""
    return any(tag in STEP_ROWS[:_SURE_STEP_ROWS] for tag, _ in values)


def step_of(values: Mapping[str, float]) -> int | None:
    """The step in one of a table's rows."""
    for tag in STEP_ROWS:
        if tag in values and (step := as_step(values[tag])) is not None:
            return step
    return None
