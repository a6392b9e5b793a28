"""What MLflow's two stores spell in the same way: values, steps, parameters, the end of a run."""

from __future__ import annotations

import math
import sys

from ppo_top.model import ConfigValue, RunEnd, State
from ppo_top.parsers.shared.text.number_text import parse_number

SYSTEM_TAG_PREFIX = "system/"
"""Prefix of MLflow's system metrics, whose steps number the measurements."""

_ENDS = {
    "FINISHED": State.FINISHED,
    "FAILED": State.DIED,
    "KILLED": State.ENDED,
    "3": State.FINISHED,
    "4": State.DIED,
    "5": State.ENDED,
}
"""The status of a run, in files as the number in MLflow's protocol (RunStatus).

"Killed" is by its user.
"""
_STATUS_WORDS = {"3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_MAX_SETTING_CHARS = 300


def run_end(status: str) -> RunEnd | None:
    """The end that a status stands for; None while the run goes on."""
    state = _ENDS.get(status)
    return RunEnd(state, _STATUS_WORDS.get(status, status)) if state is not None else None


def setting_of(text: str) -> ConfigValue:
    """A parameter, which MLflow keeps as a text."""
    if text in ("True", "False"):
        return text == "True"
    number = parse_number(text)
    return number if number is not None else text[:_MAX_SETTING_CHARS]


def restored_infinity(value: float) -> float:
    """Infinities, which the database keeps as the largest floats."""
    return math.copysign(math.inf, value) if abs(value) == sys.float_info.max else value


class MetricSteps:
    """Steps of one metric: as logged, or the number of the point while all are logged at 0."""

    def __init__(self) -> None:
        self._zeros = 0

    def step_of(self, step: int) -> int:
        """The step of the next point."""
        if step or self._zeros < 0:
            self._zeros = -1
            return step
        self._zeros += 1
        return self._zeros - 1

    @property
    def are_counted(self) -> bool:
        """Whether all points so far were logged at 0."""
        return self._zeros > 0
