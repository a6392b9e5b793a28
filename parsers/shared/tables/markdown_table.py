"""Tables in Markdown whose step may stand in any column, or in none: a `progress.csv` in an issue.

A header of names is one if the rule of Markdown stands below it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_RULE = lazy_pattern(r"\|?(?:\s{0,9}:?-{2,200}:?\s{0,9}\|){1,200}(?:\s{0,9}:?-{2,200}:?\s{0,9})?")
_FEWEST_COLUMNS = 2
_FEWEST_WITHOUT_STEP = 4
"""Columns of a table whose rows are counted; one of two may list settings and their results."""
_NO_NUMBERS = frozenset(("true", "false", "none", "-", "n/a", ""))


class MarkdownRow(NamedTuple):
    """One row: its step, if the table has any, what that counts ("" without one), its values."""

    step: int | None
    axis: str
    values: list[tuple[str, float]]


class MarkdownTable:
    """Reads the rows of such tables; one ends with a line that is no row of it."""

    def __init__(self) -> None:
        self._header: list[str] = []
        self._names: list[str] = []
        self._step_name: str | None = None

    def read_line(self, text: str) -> list[MarkdownRow] | None:
        """The rows that a line completes; None if it belongs to no table."""
        if "|" not in text:
            self._header, self._names = [], []
            return None
        if self._header and _RULE.fullmatch(text.strip()) is not None:
            self._names, self._header = self._header, []
            self._step_name = find_step_key(self._names)
            return []
        cells = _cells(text)
        if self._names and (row := self._row(cells)) is not None:
            return [row]
        self._names = []
        self._header = cells if _may_be_header(cells) else []
        return None

    def _row(self, cells: Sequence[str]) -> MarkdownRow | None:
        if len(cells) != len(self._names):
            return None
        numbers = [
            (name, parse_number(cell)) for name, cell in zip(self._names, cells, strict=True)
        ]
        values = [(name, value) for name, value in numbers if value is not None]
        words = [cell for (_, number), cell in zip(numbers, cells, strict=True) if number is None]
        if not all(word.lower() in _NO_NUMBERS for word in words):
            return None  # a row of results, say, that begins with what was tried
        if not values:
            return None
        name = self._step_name or ""
        step = as_step(dict(values).get(name))
        axis = metric_names.step_axis(name) or "timesteps"
        return MarkdownRow(step, "" if step is None else axis, values)


def _may_be_header(cells: Sequence[str]) -> bool:
    """Whether these are names, of which one is a metric's."""
    if len(cells) < _FEWEST_COLUMNS or len(set(cells)) < len(cells):
        return False
    if any(not cell or parse_number(cell) is not None for cell in cells):
        return False
    if len(cells) < _FEWEST_WITHOUT_STEP and find_step_key(cells) is None:
        return False
    return any(map(metric_names.is_metric, cells))


def _cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().strip("`*") for cell in inner.split("|")]
