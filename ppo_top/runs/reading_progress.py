"""How far a long reading has come: a line on the terminal of a command that waits for its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import get_terminal_size
from typing import Any, TextIO

from ppo_top.files.update import PollResult
from ppo_top.runs.run import Run
from ppo_top.text.format import count, plural

FIRST_AFTER_S, EVERY_S = 1.0, 0.2
"""A reading that is over before needs no line; nobody reads faster."""

ERASE = "\r\x1b[K"

clock = time.monotonic


class ReadingProgress:
    """Draws one line on a stream, again and again, if that is a terminal; `erase` leaves none."""

    def __init__(self, out: TextIO) -> None:
        self._out = out if out.isatty() else None
        self._due = clock() + FIRST_AFTER_S
        self._is_drawn = False
        self._read = self._total = self._runs = self._reported = 0

    def note_poll(self, polled: PollResult, runs: int) -> None:
        """Some was read; so many runs are known now."""
        self._read, self._total, self._runs = polled.read_bytes, polled.total_bytes, runs
        self._draw()

    def counting(self, take: Callable[[Run, Any], None]) -> Callable[[Run, Any], None]:
        """The same taker of reports, which are counted."""

        def take_and_count(run: Run, made: Any) -> None:
            take(run, made)
            self._reported += 1
            self._draw()

        return take_and_count

    def erase(self) -> None:
        """Leave no line, before something else is printed."""
        if self._out is not None and self._is_drawn:
            self._out.write(ERASE)
            self._out.flush()
            self._is_drawn = False

    def _draw(self) -> None:
        if self._out is None or not self._total or clock() < self._due:
            return
        self._due = clock() + EVERY_S
        columns = get_terminal_size(self._out.fileno()).columns or 80
        self._out.write(f"{ERASE}{self._text()[: columns - 1]}")
        self._out.flush()
        self._is_drawn = True

    def _text(self) -> str:
        done = f"{count(self._reported)} of {plural(self._runs, 'run')} judged"
        if self._read >= self._total:
            return f"ppo-top: {done}"
        read = f"reading {self._read / 1e6:,.1f} of {self._total / 1e6:,.1f} MB"
        return f"ppo-top: {read}, {done}" if self._reported else f"ppo-top: {read}"
