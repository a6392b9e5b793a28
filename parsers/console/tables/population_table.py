"""Tables with a column for each agent of a population, as AgileRL prints one a generation.

Rich draws them below a title that says the step: `Global Steps: 86_016`, `Metric | Agent 3 | Agent
7 | Mean`. A row counts by its mean, and where it has none, if all agents have the same.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_TITLE = lazy_pattern(r"\s*Global Steps: (\d[\d_]{0,18})\s*")
_BORDER = lazy_pattern(r"\s*[│┃]\s*")
_AGENT = lazy_pattern(r"Agent \d{1,9}")
_TOP, _RULES, _BOTTOM = "┏", ("┡", "├"), "└"
_MAX_ROWS = 1000


class PopulationTable:
    """Reads tables, and makes each one record."""

    def __init__(self) -> None:
        self._step: int | None = None
        self._columns = 0
        """How many values a row has; 0 before the header."""
        self._values: list[tuple[str, float]] = []

    def read_line(self, text: str) -> bool:
        """Whether a line belongs to a table below a title."""
        title = _TITLE.fullmatch(text) if text.rstrip()[-1:].isdigit() else None
        if title is not None:
            self._step, self._columns, self._values = int(title[1]), 0, []
            return True
        start = text.lstrip()[:1] if self._step is not None else ""
        if not start:
            return False
        if start in (_TOP, *_RULES):
            return True
        if start == _BOTTOM or len(self._values) >= _MAX_ROWS:
            return bool(self._columns)
        return self._read_row(_BORDER.split(text.strip())[1:-1])

    def pop_record(self, text: str) -> ConsoleRecord | None:
        """The record of a table that this line ends."""
        if not text.lstrip().startswith(_BOTTOM) or not self._values:
            return None
        step, values = self._step, self._values
        self._step, self._values = None, []
        return ConsoleRecord(values, step, "step")

    def _read_row(self, cells: list[str]) -> bool:
        if not self._columns:
            agents = cells[1:-1] if cells[-1:] == ["Mean"] else cells[1:]
            self._columns = len(cells) - 1 if all(map(_AGENT.fullmatch, agents)) else 0
            if not self._columns or not agents:
                self._step = None  # some other table
            return self._step is not None
        if len(cells) != self._columns + 1:
            return False
        name, *words = cells
        of_all = words[-1:] if words[-1] else list(dict.fromkeys(words[:-1]))
        value = parse_number(of_all[0]) if len(of_all) == 1 else None
        if value is not None:
            self._values.append((name, value))
        return True
