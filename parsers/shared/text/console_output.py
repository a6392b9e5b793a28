"""Joins the console writes that trackers record to lines."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top.model import ConsoleLine
from ppo_top.parsers.shared.text.plain_text import to_plain_text

_MAX_OUTPUT_LINE_CHARS = 1 << 16
"""Longer lines are cut."""


class ConsoleOutput:
    """One stream's writes; a line has the offset and time of the write that began it."""

    def __init__(self) -> None:
        self._text = ""
        self._offset = 0
        self._time = 0.0

    def add_text(self, text: str, offset: int, time: float) -> Iterator[ConsoleLine]:
        """The lines that one write completes."""
        if not self._text:
            self._offset, self._time = offset, time
        self._text += text
        if "\n" not in text and len(self._text) <= _MAX_OUTPUT_LINE_CHARS:
            return
        *whole, self._text = self._text.split("\n")
        for each in whole:
            yield from self._drawn_line(each)
            self._offset, self._time = offset, time
        if len(self._text) > _MAX_OUTPUT_LINE_CHARS:
            yield from self.flush()

    def flush(self) -> Iterator[ConsoleLine]:
        """The unfinished line."""
        text, self._text = self._text, ""
        return self._drawn_line(text)

    def _drawn_line(self, text: str) -> Iterator[ConsoleLine]:
        """The line as finally shown: a progress bar draws over itself after each `\\r`."""
        drawn = [part for part in text[-4 * _MAX_OUTPUT_LINE_CHARS :].split("\r") if part.strip()]
        if drawn:
            last = drawn[-1][:_MAX_OUTPUT_LINE_CHARS].encode(errors="replace")
            yield ConsoleLine(self._offset, to_plain_text(last).rstrip(), self._time)
