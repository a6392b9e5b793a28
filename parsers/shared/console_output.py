"""Console text as trackers record it: pieces of what was written, put together to lines."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top.model import Line
from ppo_top.parsers.shared.plain_text import plain

_LONGEST = 1 << 16
"""Characters of a line; what never ends is cut here."""


class Written:
    """One stream's writes; a line keeps the place and the time of the write that began it."""

    def __init__(self) -> None:
        self._text = ""
        self._offset = 0
        self._time = 0.0

    def add(self, text: str, offset: int, time: float) -> Iterator[Line]:
        """Take one write; give the lines that are complete."""
        if not self._text:
            self._offset, self._time = offset, time
        self._text += text
        if "\n" not in text and len(self._text) <= _LONGEST:
            return
        *whole, self._text = self._text.split("\n")
        for each in whole:
            yield from self._line(each)
            self._offset, self._time = offset, time
        if len(self._text) > _LONGEST:
            yield from self.rest()

    def rest(self) -> Iterator[Line]:
        """The line that has no end yet."""
        text, self._text = self._text, ""
        return self._line(text)

    def _line(self, text: str) -> Iterator[Line]:
        """The line as it stands in the end: a progress bar draws over itself after each `\\r`."""
        drawn = [part for part in text[-4 * _LONGEST :].split("\r") if part.strip()]
        if drawn:
            shown = plain(drawn[-1][:_LONGEST].encode(errors="replace")).rstrip()
            yield Line(self._offset, shown, self._time)
