"""RLinf's table of a step: sections of `name=value`, three in a row, below the step.

Its names (rlinf/utils/metric_utils.py: print_metrics_table) are those that RLinf gives to trackers:
`return` of the section Environment is `env/return`. They are cut where a cell is too narrow.
"""

from __future__ import annotations

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import named_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_SECTION = lazy_pattern(r"├─{1,200} ([A-Z][\w/ ]{1,40}) ─{1,200}┤\s*")
_STEP = lazy_pattern(r"│ Global Step: {1,9}(\d{1,9})/(\d{1,9}) │ ")
_TITLE = "Metric Table"
_GROUPS = {
    "Time": "time/",
    "Environment": "env/",
    "Rollout": "rollout/",
    "Evaluation": "eval/",
    "Replay Buffer": "replay_buffer/",
    "Training/Actor": "train/",
    "Training/Critic": "train/",
    "Training/Other": "train/",
}
_MAX_ROWS = 1000


class RlinfTable:
    """Reads tables, and makes each one record."""

    def __init__(self) -> None:
        self._rows = 0
        """How many lines of a table were read; 0 outside of tables."""
        self._group = ""
        self._step: int | None = None
        self._config: dict[str, ConfigValue] = {}
        self._values: list[tuple[str, float]] = []

    def read_line(self, text: str) -> bool:
        """Whether a line belongs to a table, below its title."""
        section = _SECTION.fullmatch(text) if text.startswith("├") else None
        if section is not None and section[1] == _TITLE:
            self._rows, self._step, self._values = 1, None, []
            return True
        if not self._rows or not text.startswith(("│", "├", "╰")) or self._rows > _MAX_ROWS:
            self._rows = 0
            return False
        self._rows += 1
        if section is not None:
            self._group = _GROUPS.get(section[1], "")
        elif (step := _STEP.match(text)) is not None:
            self._step, self._config = int(step[1]), {"max_steps": int(step[2])}
        elif self._group:
            self._read_row(text)
        return True

    def pop_record(self, text: str) -> ConsoleRecord | None:
        """The record of a table that this line ends."""
        if not text.startswith("╰"):
            return None
        self._rows, self._group = 0, ""
        values, self._values = self._values, []
        return ConsoleRecord(values, self._step, "step", self._config) if values else None

    def _read_row(self, text: str) -> None:
        cells = (cell.strip().rpartition("=") for cell in text.strip("│ ").split("│"))
        self._values += named_numbers((self._group + name, word) for name, _, word in cells if name)
