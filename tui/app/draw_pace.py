"""How often new data is drawn: so that drawing takes only a small share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable

MIN_PAUSE_S = 0.1
"""The shortest time from new data to a redraw: more may be on its way."""

MAX_PAUSE_S = 2.0
"""The longest time that new data waits, where a redraw takes more than a sixtieth of a second."""

PAUSE_FACTOR = 120
"""The time between two redraws, in times of what a redraw takes. What Textual then writes takes a
third as long again: together about a ninetieth of a core."""

PAUSE_FACTOR_AT_START = 8
"""The same while logs are read that were there before: there is much to see."""


class DrawPace:
    """Tells how long to wait before new data is drawn. Keys are answered at once and do not ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = 0.0

    def record(self, cost_s: float, is_read: bool) -> None:
        """Something was drawn in so many seconds of processor time; `is_read`: no backlog waits."""
        factor = PAUSE_FACTOR if is_read else PAUSE_FACTOR_AT_START
        self._next = self._clock() + min(MAX_PAUSE_S, factor * cost_s)

    @property
    def delay(self) -> float:
        """Seconds until new data may be drawn."""
        return max(MIN_PAUSE_S, self._next - self._clock())
