"""PufferLib's dashboard, drawn again and again: a summary, losses and the statistics of episodes.

Its tables have no borders between them (`pufferlib/pufferl.py`: print_dashboard). A frame makes one
record, whose names are those that PufferLib gives to trackers; one of the same epoch says no more.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import named_numbers, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_TITLE = lazy_pattern(r"│\s+(?:🐡 )?PufferLib \d")
_SUMMARY = lazy_pattern(r"│\s+(?:Agent )?(Steps|SPS|Epoch)\s{2,}(\d[\d.]{0,18})([KMBTkmbt]?)\s")
_LOSS = lazy_pattern(r"\s(\S{1,64})\s{2,}(-?\d{1,30}\.\d{3}|-?nan|-?inf)\s+│")
_STATISTIC = lazy_pattern(r"\s(\S{1,64})\s{2,}(-?\d{1,30}\.\d{3}|-?nan|-?inf)(?=\s)")
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_NAMES = {"SPS": "SPS", "Epoch": "epoch"}
_MAX_ROWS = 100


class PufferDashboard:
    """Reads frames, and makes each one record."""

    def __init__(self) -> None:
        self._rows = 0
        """How many rows of a frame were read; 0 outside of frames."""
        self._in_statistics = False
        self._step: int | None = None
        self._last: tuple[int | None, float | None] = (None, None)
        """The step, rounded as it is printed, and the epoch of the frame before."""
        self._values: list[tuple[str, float]] = []

    def read_line(self, text: str) -> bool:
        """Whether a line belongs to a dashboard, below its title."""
        if text.startswith("│") and _TITLE.match(text):
            self._rows, self._in_statistics, self._step, self._values = 1, False, None, []
            return True
        if not self._rows or not text.startswith(("│", "╰")) or self._rows > _MAX_ROWS:
            self._rows = 0
            return False
        self._rows += 1
        if text.startswith("│"):
            self._read_row(text)
        return True

    def pop_record(self, text: str) -> ConsoleRecord | None:
        """The record of a frame that this line ends."""
        if not text.startswith("╰"):
            return None
        step, values = self._step, self._values
        self._rows, self._values = 0, []
        place = step, dict(values).get(_NAMES["Epoch"])
        if not values or step is None or place == self._last:
            return None
        self._last = place
        return ConsoleRecord(values, step, "step")

    def _read_row(self, text: str) -> None:
        if text.startswith("│  User Stats "):
            self._in_statistics = True
        elif self._in_statistics:
            self._add("environment", _STATISTIC.findall(text))
        else:
            self._read_summary(text)
            self._add("losses", _LOSS.findall(text))

    def _read_summary(self, text: str) -> None:
        found = _SUMMARY.match(text)
        number = parse_number(found[2]) if found is not None else None
        if found is None or number is None:
            return
        value = number * _UNITS[found[3].upper()]
        if found[1] == "Steps":
            self._step = round(value)
        else:
            self._values.append((_NAMES[found[1]], value))

    def _add(self, group: str, pairs: list[tuple[str, str]]) -> None:
        self._values += named_numbers((f"{group}/{name}", word) for name, word in pairs)
