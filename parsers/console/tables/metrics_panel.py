"""Panels of rich that hold the metrics of a step, a row for each group of them.

open-instruct (open_instruct/model_utils.py: print_rich_single_line_metrics) prints `loss`, what
stands before the slash, and then `policy_avg: 0.01 | total_avg: 0.02`, broken into lines.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import as_step, named_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_TITLE = lazy_pattern(r"╭─{1,400} Metrics ─{1,400}╮\s*")
_ROW = lazy_pattern(r"│ {1,3}(\S{1,60})? {2,60}(\S.*?)\s*│\s*")
_UNGROUPED = "other"
_STEP = "training_step"
_MAX_ROWS = 500


class MetricsPanel:
    """Reads panels, and makes each one record."""

    def __init__(self) -> None:
        self._is_open = False
        self._groups: list[tuple[str, str]] = []
        """The name and the text of each group."""

    def read_line(self, text: str) -> bool:
        """Whether a line belongs to a panel."""
        if text.startswith("╭") and _TITLE.fullmatch(text):
            self._is_open, self._groups = True, []
            return True
        row = _ROW.fullmatch(text) if self._is_open and text.startswith("│") else None
        if row is None or len(self._groups) > _MAX_ROWS:
            is_end = self._is_open and text.startswith("╰")
            self._is_open = False
            return is_end
        if row[1]:
            self._groups.append((row[1], row[2]))
        elif self._groups:
            name, before = self._groups[-1]
            self._groups[-1] = name, f"{before} {row[2]}"
        return True

    def pop_record(self, text: str) -> ConsoleRecord | None:
        """The record of a panel that this line ends."""
        if not text.startswith("╰"):
            return None
        groups, self._groups = self._groups, []
        values = dict(pair for name, cells in groups for pair in _pairs_of(name, cells))
        step = as_step(values.get(_STEP))
        return ConsoleRecord(list(values.items()), step, "step" if step is not None else "")


def _pairs_of(group: str, cells: str) -> list[tuple[str, float]]:
    start = "" if group == _UNGROUPED else f"{group}/"
    pairs = (cell.partition(": ") for cell in cells.split(" | "))
    return named_numbers((start + name.strip(), word.strip(" |")) for name, _, word in pairs)
