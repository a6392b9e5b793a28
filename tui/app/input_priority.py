"""Hears a key the moment it is pressed, so that work in hand gives way until it was answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste

RECENT_INPUT_S = 0.12
"""So long after a key what is not asked for by a key waits: the next key is likely to come soon."""

MAX_WORK_DELAY_S = 0.1
"""However fast keys come, what waits for them gets a turn this often."""

INPUT_EVENTS = (Key, Paste, MouseDown, MouseScrollDown, MouseScrollUp)


class InputPriority:
    """Told by the thread that reads the terminal, asked by what takes long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_input = self._last_work = float("-inf")

    def record_input(self) -> None:
        """A key was pressed: it waits in line behind what is done now."""
        self._last_input = self._clock()

    @property
    def is_input_recent(self) -> bool:
        """Whether a key was pressed just now."""
        return self._clock() - self._last_input < RECENT_INPUT_S

    def must_yield(self) -> bool:
        """Whether work is to wait; where it is not, its turn begins."""
        if self.is_input_recent and self._clock() - self._last_work < MAX_WORK_DELAY_S:
            return True
        self._last_work = self._clock()
        return False


def listen_for_input(driver: Any, heard: Callable[[], None]) -> bool:
    """Call `heard` for what a user does, before it goes the long way through the queues.

    False where this Textual's driver has no such door: then keys are heard when their turn comes.
    """
    send = getattr(driver, "send_message", None)
    if send is None:
        return False

    def passed(message: Any) -> None:
        if isinstance(message, INPUT_EVENTS):
            heard()
        send(message)

    driver.send_message = passed
    return True
