"""One record of a console, before it is given a step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ppo_top.model import UNKNOWN_TIME, ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names.metric_names import are_heading, numbers_training


class ConsoleRecord(NamedTuple):
    """Values logged together; `step` is None if the record does not say it.

    `axis` is what the step counts (`timesteps`, `iteration`, `epoch`, ...; "" if unnamed).
    `begins_line`: the step is only a number at the start of the line, which may be anything, or
    `Steps: 200` there, which may be those of an episode.
    `is_evaluation`: the line says that it is one's, and so is its step.
    `trial`: that of Ray Tune, one of which trains beside the others.
    """

    values: list[tuple[str, float]]
    step: int | None = None
    axis: str = ""
    config: Mapping[str, ConfigValue] = MappingProxyType({})
    time: float = UNKNOWN_TIME
    begins_line: bool = False
    is_evaluation: bool = False
    trial: str = ""

    @property
    def is_heading(self) -> bool:
        """Whether it says only a step."""
        return are_heading(tag for tag, _ in self.values)

    @property
    def says_training(self) -> bool:
        """Whether it begins with the number of its training: `PID 7 - Episode 5`."""
        return bool(self.values) and numbers_training(self.values[0][0])

    @property
    def leading(self) -> tuple[str, float]:
        """The first name and number, but for that of a training."""
        told = (each for each in self.values if not numbers_training(each[0]))
        return next(told, ("", 0.0))
