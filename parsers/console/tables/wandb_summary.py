"""The block that wandb prints when a run ends: `wandb: Run summary:` and the last values.

Each row is a name, blanks and the last value (wandb 0.31.0, `sdk/wandb_run.py`:
`_footer_history_summary_info`). The history above it is drawn with blocks, which say no values.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_HEADING = lazy_pattern(r"(?:wandb:\s{1,20})?Run summary:\s*")
_ROW = lazy_pattern(r"(?:wandb:)?\s{1,200}(\S(?:.{0,200}\S)?)\s{1,40}(\S{1,200})\s*")
_MAX_ROWS = 1000


class WandbSummary:
    """Reads the block, and makes it one record."""

    def __init__(self) -> None:
        self.is_open = False
        self._values: dict[str, float] = {}

    def read_line(self, text: str) -> bool:
        """Whether a line is the heading or a row; words are no values."""
        if _HEADING.fullmatch(text):
            self.is_open, self._values = True, {}
            return True
        row = _ROW.fullmatch(text) if self.is_open and len(self._values) < _MAX_ROWS else None
        if row is None:
            return False
        value = parse_number(row[2])
        if value is not None:
            self._values[row[1]] = value
        return True

    def pop_record(self) -> ConsoleRecord | None:
        """The record of the rows so far, at the step that one of them says."""
        values, self._values, self.is_open = self._values, {}, False
        if not values:
            return None
        key = find_step_key(list(values))
        return ConsoleRecord(list(values.items()), as_step(values[key]) if key else None)
