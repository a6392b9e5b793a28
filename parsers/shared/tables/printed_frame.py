"""Tables as pandas prints them: an index before each row, wrapped where there are many columns.

        episode  reward  \\
    0         1    21.5
    ..      ...     ...
    99      100   195.0

          loss
    0     0.50
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.table_columns import TableRow
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_HEADER = lazy_pattern(r"\s{2,99}+[A-Za-z][^\d:=,;|]{2,500}")
_LEFT_OUT = frozenset({"..", "...", "\u22ee"})
_MAX_ROWS = 10_000
_FEWEST_COLUMNS = 2
_WORDS = {"True": 1.0, "False": 0.0, "None": math.nan, "<NA>": math.nan}


class PrintedFrame:
    """Finds the rows of such tables; those of a wrapped one once its last columns are printed."""

    def __init__(self) -> None:
        self._names: Sequence[str] = ()
        """Of the columns that are printed now."""
        self._is_wrapped = False
        """Whether other columns follow."""
        self._held: dict[int, list[tuple[str, float]]] = {}

    def read_line(self, text: str) -> list[TableRow] | None:
        """The rows that a line completes; None if it is none of a table's rows."""
        if self._names and text.strip():
            cells = text.split()
            if cells[0] in _LEFT_OUT:
                return []
            if len(cells) == len(self._names) + 1 and cells[0].isdecimal():
                return self._read_row(int(cells[0]), cells[1:])
        if text.startswith("  ") and _HEADER.fullmatch(text):
            self._read_header(text)
        elif text.strip():
            self.close()
        return None

    def close(self) -> None:
        """Other lines follow."""
        self._names, self._is_wrapped = (), False
        self._held.clear()

    def _read_header(self, text: str) -> None:
        if not self._is_wrapped:
            self._held.clear()
        self._is_wrapped = text.endswith("\\")
        self._names = text.removesuffix("\\").split()
        if len(set(self._names)) < len(self._names):
            self._names = ()

    def _read_row(self, index: int, cells: Sequence[str]) -> list[TableRow] | None:
        numbers = [_WORDS.get(cell, parse_number(cell)) for cell in cells]
        values = [
            (name, number)
            for name, number in zip(self._names, numbers, strict=True)
            if number is not None
        ]
        if len(values) < len(cells):
            return None
        row = self._held.pop(index, []) + values
        if self._is_wrapped:
            if len(self._held) < _MAX_ROWS:
                self._held[index] = row
            return []
        return _stepped(row)


def _stepped(row: list[tuple[str, float]]) -> list[TableRow] | None:
    """The row at its step; None if it has no step, or no metric."""
    measured = [(name, value) for name, value in row if not math.isnan(value)]  # NaN is a blank
    if len(row) < _FEWEST_COLUMNS or not any(metric_names.is_metric(name) for name, _ in row):
        return None
    for axis in metric_names.STEP_AXES:
        for name, value in measured:
            if metric_names.step_axis(name) == axis and (step := as_step(value)) is not None:
                return [TableRow(step, measured, axis)]
    return None
