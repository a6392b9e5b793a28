"""Input comes first: reading, judging and drawing of new data pause after a key."""

from __future__ import annotations

import time
from collections.abc import Callable

RECENT_INPUT_S = 0.12
"""Background work waits this long after a key: the next one is likely to follow soon."""

MAX_WORK_DELAY_S = 0.1
"""However fast keys come, background work runs this often."""


class InputPriority:
    """Whether background work should wait; set from the input thread, read by the app."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_input = self._last_work = float("-inf")

    def record_input(self) -> None:
        """A key was pressed."""
        self._last_input = self._clock()

    @property
    def is_input_recent(self) -> bool:
        """Whether a key was pressed just now."""
        return self._clock() - self._last_input < RECENT_INPUT_S

    def must_yield(self) -> bool:
        """Whether work must wait; if not, it counts as done now."""
        if self.is_input_recent and self._clock() - self._last_work < MAX_WORK_DELAY_S:
            return True
        self._last_work = self._clock()
        return False
