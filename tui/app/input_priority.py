"""Hears a key the moment it is pressed, so that work in hand gives way until it was answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste

REST_S = 0.12
"""So long after a key what is not asked for by a key waits: the next key is likely to come soon."""

LEAST_S = 0.1
"""However fast keys come, what waits for them gets a turn this often."""

HEARD = (Key, Paste, MouseDown, MouseScrollDown, MouseScrollUp)


class Ear:
    """Told by the thread that reads the terminal, asked by what takes long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard = self._worked = float("-inf")

    def hear(self) -> None:
        """A key was pressed: it waits in line behind what is done now."""
        self._heard = self._clock()

    @property
    def hears(self) -> bool:
        """Whether a key was pressed just now."""
        return self._clock() - self._heard < REST_S

    def gives_way(self) -> bool:
        """Whether work is to wait; where it is not, its turn begins."""
        if self.hears and self._clock() - self._worked < LEAST_S:
            return True
        self._worked = self._clock()
        return False


def listen(driver: Any, heard: Callable[[], None]) -> bool:
    """Call `heard` for what a user does, before it goes the long way through the queues.

    False where this Textual's driver has no such door: then keys are heard when their turn comes.
    """
    send = getattr(driver, "send_message", None)
    if send is None:
        return False

    def passed(message: Any) -> None:
        if isinstance(message, HEARD):
            heard()
        send(message)

    driver.send_message = passed
    return True
