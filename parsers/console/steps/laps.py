"""Counters that run from 1 to N again and again, such as `Update 3/4` within each iteration.

N may be 1: `Update 1/1` before every line of losses.
"""

from __future__ import annotations

from collections.abc import Mapping

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS, step_axis

MAX_LAP = 16
"""A counter with a higher end counts a training; one that begins anew after it is another one."""


def lap_length(axis: str, config: Mapping[str, ConfigValue]) -> float | None:
    """Where a short counter ends, which a line states beside it; None for any other."""
    length = config.get(TOTAL_SETTINGS.get(axis, ""))
    return float(length) if length is not None and 1 <= float(length) <= MAX_LAP else None


class Laps:
    """Counts on where a short counter begins anew after its end."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        """The newest step of each short counter, by what it counts."""
        self._before: dict[str, int] = {}
        """The steps of all laps that are over."""
        self._names_here: dict[str, set[str]] = {}
        """What has been printed in this lap, where a lap is a single step."""

    @property
    def has_turned(self) -> bool:
        """Whether a counter has begun anew."""
        return bool(self._before)

    def counts_on(self, found: ConsoleRecord) -> ConsoleRecord:
        """The record with the steps of the laps before it added."""
        length = lap_length(found.axis, found.config)
        if found.step is None or length is None or found.says_training:
            return found
        last, self._last[found.axis] = self._last.get(found.axis), found.step
        is_new = self._comes_again(found) if length == 1 else found.step == 1
        if last == length and is_new:
            self._before[found.axis] = self._before.get(found.axis, 0) + last
        return found._replace(step=self._before.get(found.axis, 0) + found.step)

    def _comes_again(self, found: ConsoleRecord) -> bool:
        """Whether the lap of a single step has printed one of these names before."""
        names = {tag for tag, _ in found.values if step_axis(tag) is None}
        here = self._names_here.setdefault(found.axis, set())
        comes_again = not here.isdisjoint(names)
        if comes_again:
            here.clear()
        here |= names
        return comes_again
