"""Results that Ray prints as indented maps of names and values, one a training iteration."""

from __future__ import annotations

import re

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared.axes import unix
from ppo_top.parsers.shared.number_text import whole
from ppo_top.parsers.shared.yaml_subset import Outline

HEADS = ("Result for ", "agent_timesteps_total: ", "custom_metrics: {}")
"""How a result begins: Tune names the trial; RLlib's pretty_print begins with its first name."""

_TRIAL = re.compile(r"Result for (\S{1,200}):\s*")
_ROW = re.compile(r" {0,60}[^\s:]{1,200}:(?: .*)?")
_STEP = "training_iteration"
_TIME = "timestamp"
_MOST_VALUES = 4096
_MOST_STRANGERS = 20
_MOST_TRIALS = 64


class Result:
    """The result that is being printed; its names are those of result.json.

    The names are sorted, so what is worth charting comes before the iteration. Values of a second
    trial on the same stream are marked with its name.
    """

    def __init__(self) -> None:
        self.open = False
        self._trials: list[str] = []
        self._mark = self._margin = ""
        self._start()

    def _begin(self, trial: str) -> bool:
        """Begin the result of a trial; False when there are too many of them."""
        if trial not in self._trials:
            if len(self._trials) >= _MOST_TRIALS:
                return False
            self._trials.append(trial)
        self._mark = "" if trial == self._trials[0] else f" [{trial}]"
        self._margin = "  " if trial else ""
        self._start()
        return True

    def _start(self) -> None:
        self._outline = Outline()
        self._values: list[tuple[str, float]] = []
        self._time = UNKNOWN_TIME
        self._strangers = 0

    def row(self, text: str) -> bool:
        """Take a line if it begins a result or belongs to the open one."""
        head = _TRIAL.fullmatch(text)
        if head is not None:
            self.open = self._begin(head[1])
            return self.open
        if not self.open and text.startswith(HEADS[1:]):
            self.open = self._begin("")
        return self.open and self._line(text)

    def _line(self, text: str) -> bool:
        if not _ROW.fullmatch(text) or not text.startswith(self._margin):
            self._strangers += 1
            self.open = self._strangers <= _MOST_STRANGERS
            return False
        name, value = self._outline.line(text) or ("", "")
        if isinstance(value, int | float) and not isinstance(value, bool):
            if name == _TIME:
                self._time = unix(value)
            if len(self._values) < _MOST_VALUES:
                self._values.append((name, float(value)))
        return True

    def close(self) -> Record | None:
        """The whole result, once its iteration has been read; None before."""
        if not self._values or self._values[-1][0] != _STEP:
            return None
        self.open = False
        values, self._values = self._values, []
        named = [(name + self._mark, value) for name, value in values]
        return Record(named, whole(values[-1][1]), "iteration", time=self._time)
