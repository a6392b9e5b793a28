"""What one record in a console says, before it is given a step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ppo_top.model import UNKNOWN_TIME, ConfigValue


class ConsoleRecord(NamedTuple):
    """Values of one moment; `step` is None when the record itself does not say it.

    `axis` is what the step counts (`timesteps`, `iteration`, `epoch`, ...; "": it is not named).
    """

    values: list[tuple[str, float]]
    step: int | None = None
    axis: str = ""
    config: Mapping[str, ConfigValue] = MappingProxyType({})
    time: float = UNKNOWN_TIME
