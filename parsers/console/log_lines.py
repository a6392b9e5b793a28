"""The lines of a console as they stay on the screen, for the log pane."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.console_lines import LONGEST, UNKNOWN_TIME, Block, Line, Lines
from ppo_top.parsers.shared.line_splitter import Segment


class Screen:
    """Puts lines together from segments; a line may wait for the step of the record it is part of.

    What was drawn over is gone. `fresh`: nothing stands yet on the line that is being written.
    """

    def __init__(self) -> None:
        self.fresh = True
        self.waiting: list[tuple[int, str]] = []
        self._lines = Lines()
        self._overdrawn: tuple[int, str] | None = None

    def words(self, segment: Segment, text: str) -> None:
        """A segment with something on it."""
        if segment.newline:
            self.show(segment.offset, text)
        else:
            self.fresh, self._overdrawn = False, (segment.offset, text)

    def blank(self, segment: Segment) -> None:
        """Nothing but blanks: an empty line, the second half of a line end, a bar wiped out."""
        if not segment.newline:
            self.fresh, self._overdrawn = self.fresh and not segment.data, None
        elif self._overdrawn is not None and not segment.data:
            self.show(*self._overdrawn)
        elif self.fresh:
            self.show(segment.offset, "")
        else:
            self.fresh = True

    def lost(self, newline: bool) -> None:
        """A segment that was too long to be kept."""
        self.fresh, self._overdrawn = newline, None

    def show(self, offset: int, text: str) -> None:
        """A line that is complete."""
        self.waiting.append((offset, text[:LONGEST]))
        self.fresh, self._overdrawn = True, None

    def block(self, offset: int, text: str, steps: Sequence[int | None]) -> None:
        """Complete lines of ASCII text that stand one behind the other, and their steps."""
        self._lines.append(Block(offset, text, steps))

    def settle(self, step: int | None) -> None:
        """Nothing is waited for any more: the lines belong to `step`."""
        for offset, text in self.waiting:
            self._lines.append(Line(offset, text, UNKNOWN_TIME, step))
        self.waiting.clear()

    def take(self) -> Lines:
        """All lines that are settled since the last call."""
        taken, self._lines = self._lines, Lines()
        return taken
