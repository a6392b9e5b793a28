"""Ray Tune's table of trials, printed again and again: `| Trial name | status | iter | ...`.

The short names are those of Ray's reporter (ray/tune/progress_reporter.py, `DEFAULT_COLUMNS`).
Since Ray 2.5 the table has a frame of box lines, and blanks between its columns.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import as_step, named_numbers, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_HEADER_START = lazy_pattern(r"[|│]\s?Trial name\s")
_BETWEEN = lazy_pattern(r"\s*[|│]\s*")
_BLANKS = lazy_pattern(r"\s{2,}")
_FULL_NAMES = {
    "acc": "mean_accuracy",
    "loss": "mean_loss",
    "iter": "training_iteration",
    "total time (s)": "time_total_s",
    "ts": "timesteps_total",
    "reward": "episode_reward_mean",
}
_STEP = "training_iteration"
_MAX_TRIALS = 64


class TuneTable:
    """Rows of the table as records: each iteration of a trial once."""

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._last_steps: dict[str, int] = {}

    def read_line(self, text: str) -> ConsoleRecord | None:
        """The record of a row that says a new iteration; its metrics have result.json's names."""
        cells = _split(text)
        if _HEADER_START.match(text):
            self._columns = [_FULL_NAMES.get(cell, cell) for cell in cells]
        elif _STEP in self._columns and len(cells) == len(self._columns):
            return self._read_row(cells)
        return None

    def _read_row(self, cells: list[str]) -> ConsoleRecord | None:
        trial, step = cells[0], as_step(parse_number(cells[self._columns.index(_STEP)]))
        if step is None or step <= self._last_steps.get(trial, 0):
            return None
        if trial not in self._last_steps and len(self._last_steps) >= _MAX_TRIALS:
            return None
        self._last_steps[trial] = step
        values = named_numbers(zip(self._columns[1:], cells[1:], strict=True))
        return ConsoleRecord(values, step, "iteration", trial=trial)


def _split(text: str) -> list[str]:
    cells = _BETWEEN.split(text.strip())[1:-1]
    return _BLANKS.split(cells[0]) if len(cells) == 1 else cells
