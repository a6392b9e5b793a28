"""Counters that run from 1 to N again and again, such as `Update 3/4` within each iteration."""

from __future__ import annotations

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS

_MAX_LAP = 16
"""A counter with a higher end counts a training; one that begins anew after it is another one."""


class Laps:
    """Counts on where a short counter begins anew after its end."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        """The newest step of each short counter, by what it counts."""
        self._before: dict[str, int] = {}
        """The steps of all laps that are over."""

    @property
    def has_turned(self) -> bool:
        """Whether a counter has begun anew."""
        return bool(self._before)

    def counts_on(self, found: ConsoleRecord) -> ConsoleRecord:
        """The record with the steps of the laps before it added."""
        length = found.config.get(TOTAL_SETTINGS.get(found.axis, ""))
        if found.step is None or length is None or not 1 < float(length) <= _MAX_LAP:
            return found
        last, self._last[found.axis] = self._last.get(found.axis), found.step
        if last == length and found.step == 1:
            self._before[found.axis] = self._before.get(found.axis, 0) + last
        return found._replace(step=self._before.get(found.axis, 0) + found.step)
