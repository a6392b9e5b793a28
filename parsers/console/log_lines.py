"""The lines of a console as they stay on the screen, for the log pane."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.console_lines import (
    MAX_LINE_CHARS,
    UNKNOWN_TIME,
    ConsoleLine,
    ConsoleLines,
    LineBlock,
)
from ppo_top.parsers.shared.line_splitter import Segment


class LogLines:
    """Puts lines together from segments; a line may wait for the step of the record it is part of.

    What was drawn over is gone. `at_line_start`: nothing stands yet on the line that is being
    written.
    """

    def __init__(self) -> None:
        self.at_line_start = True
        self.pending: list[tuple[int, str]] = []
        self._lines = ConsoleLines()
        self._redrawable: tuple[int, str] | None = None

    def add_segment(self, segment: Segment, text: str) -> None:
        """A segment with something on it."""
        if segment.newline:
            self.add_line(segment.offset, text)
        else:
            self.at_line_start, self._redrawable = False, (segment.offset, text)

    def add_blank(self, segment: Segment) -> None:
        """Nothing but blanks: an empty line, the second half of a line end, a bar wiped out."""
        if not segment.newline:
            self.at_line_start, self._redrawable = self.at_line_start and not segment.data, None
        elif self._redrawable is not None and not segment.data:
            self.add_line(*self._redrawable)
        elif self.at_line_start:
            self.add_line(segment.offset, "")
        else:
            self.at_line_start = True

    def skip_segment(self, newline: bool) -> None:
        """A segment that was too long to be kept."""
        self.at_line_start, self._redrawable = newline, None

    def add_line(self, offset: int, text: str) -> None:
        """A line that is complete."""
        self.pending.append((offset, text[:MAX_LINE_CHARS]))
        self.at_line_start, self._redrawable = True, None

    def add_block(self, offset: int, text: str, steps: Sequence[int | None]) -> None:
        """Complete lines of ASCII text that stand one behind the other, and their steps."""
        self._lines.append(LineBlock(offset, text, steps))

    def set_step(self, step: int | None) -> None:
        """Nothing is waited for any more: the lines belong to `step`."""
        for offset, text in self.pending:
            self._lines.append(ConsoleLine(offset, text, UNKNOWN_TIME, step))
        self.pending.clear()

    def pop_lines(self) -> ConsoleLines:
        """All lines that are settled since the last call."""
        taken, self._lines = self._lines, ConsoleLines()
        return taken
