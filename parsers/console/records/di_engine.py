"""What DI-engine's workers print: grids of names over values, and a list below `collect end:`.

By `get_tabulate_vars_hor` of ding/utils/log_helper.py, the learner's and evaluator's hooks and the
serial collectors of DI-engine 0.5.3. Tags begin with the worker, since all have a `reward_mean`.
"""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, as_step, named_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_LEARNER, _COLLECTOR, _EVALUATOR = "learner", "collector", "evaluator"
_RESULT = lazy_pattern(r"=== Training Iteration (\d{1,15}) Result ===")
_COLLECTED = "collect end:"
_EVALUATED = "[EVALUATOR]env "
"""One episode of an evaluation, whose mean follows."""
_GRID_ROW = lazy_pattern(r"\s*\|\s(Name|Value)\s+\|(.{1,2000})\|\s*")
_LIST_ROW = lazy_pattern(rf"\s*([a-z_]{{1,60}}): ({NUMBER_PATTERN})\s*")
_STEP_NAME = "train_iter"


class DiEngineLog:
    """Knows which worker's values are being printed."""

    def __init__(self) -> None:
        self._worker = ""
        self._step: int | None = None
        self._names: list[str] = []

    def read_line(self, text: str) -> ConsoleRecord | tuple[()] | None:
        """The values of a line; empty if it is DI-engine's without any, None if it is not."""
        if "=== " in text and (heading := _RESULT.search(text)):
            self._worker, self._step = _LEARNER, int(heading[1])
            return ()
        if _COLLECTED in text:
            self._worker, self._step = _COLLECTOR, None
            return ()
        if _EVALUATED in text:
            return ()
        if "| Name " in text or (self._names and "| Value " in text):
            return self._read_grid(text)
        if self._worker == _COLLECTOR:
            row = _LIST_ROW.fullmatch(text)
            if row is not None:
                return self._record([(row[1], row[2])])
            self._worker = ""
        return None

    def _read_grid(self, text: str) -> ConsoleRecord | tuple[()] | None:
        row = _GRID_ROW.fullmatch(text)
        if row is None:
            return None
        cells = [cell.strip() for cell in row[2].split("|")]
        if row[1] == "Value":
            names, self._names = self._names, []
            return self._record(list(zip(names, cells, strict=False)))
        if cells[0] == _STEP_NAME:
            self._worker = _EVALUATOR
        elif self._worker not in (_LEARNER, _EVALUATOR):
            return None  # another program's table
        self._names = cells
        return ()

    def _record(self, cells: list[tuple[str, str]]) -> ConsoleRecord | tuple[()]:
        numbers = dict(named_numbers(cells))
        if (stated := numbers.pop(_STEP_NAME, None)) is not None:
            self._step = as_step(stated)
        values = [(f"{self._worker}/{name}", value) for name, value in numbers.items()]
        return ConsoleRecord(values, self._step, "iteration" if self._step is not None else "")
