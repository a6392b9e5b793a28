"""Tables that Ray prints of one trial: its settings when it starts, and its results.

The names are those of ray/tune/experimental/output.py (`_print_config`, `_print_result`). The line
above results says the iteration: `Trial PPO_0 completed after 12 iterations at ...`. Ray Train has
one training, and no name for it.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.tables.ruled_table import is_rule
from ppo_top.parsers.shared.documents.yaml_subset import parse_scalar
from ppo_top.parsers.shared.text.number_text import named_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_ITERATION = lazy_pattern(
    r"(?:Trial (\S{1,200})|Training) "
    r"(?:finished iteration|completed after|errored after) (\d{1,12}) "
)
_TITLE = lazy_pattern(r"[|│] (?:Trial (\S{1,200})|Training) (config|result)\s*[|│]\s*")
_ROW = lazy_pattern(r"[|│] (\S{1,200})(?:\s+(\S.*?))?\s*[|│]\s*")
_CUT = "..."
_MAX_ROWS = 1000


class TrialTable:
    """Reads these tables, and makes each one record."""

    def __init__(self) -> None:
        self._iteration: tuple[str, int | None] = "", None
        """The trial whose iteration was said last, and that iteration."""
        self._trial = self._kind = ""
        self._rows: list[tuple[str, str]] = []

    def read_line(self, text: str) -> bool:
        """Whether a line belongs to a table."""
        if text.startswith("Tr") and (said := _ITERATION.match(text)) is not None:
            self._iteration = said[1] or "", int(said[2])
        if text[:1] in ("|", "│") and (title := _TITLE.fullmatch(text)) is not None:
            self._trial, self._kind, self._rows = title[1] or "", title[2], []
            return True
        if not self._kind:
            return False
        row = _ROW.fullmatch(text)
        if row is not None and len(self._rows) < _MAX_ROWS:
            self._rows.append((row[1], row[2] or ""))
            return True
        if is_rule(text):
            return True
        self._kind = ""
        return False

    def pop_record(self, text: str) -> ConsoleRecord | None:
        """The record of a table that this line ends."""
        if not self._rows or not is_rule(text):
            return None
        kind, self._kind = self._kind, ""
        rows, self._rows = self._rows, []
        if kind == "config":
            words = ((name, parse_scalar(word)) for name, word in rows if word and word[:3] != _CUT)
            config = {name: value for name, value in words if value is not None}
            return ConsoleRecord([], config=config, trial=self._trial)
        said, iteration = self._iteration
        step = iteration if said == self._trial else None
        axis = "iteration" if step is not None else ""
        return ConsoleRecord(named_numbers(rows), step, axis, trial=self._trial)
