"""The lines of a console as they remain on the screen, for the log pane."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.console_lines import (
    MAX_LINE_CHARS,
    UNKNOWN_TIME,
    ConsoleLine,
    ConsoleLines,
    LineBlock,
)
from ppo_top.parsers.shared.text.line_splitter import Segment


class LogLines:
    """Joins segments to lines; a line may wait for the step of the record it belongs to.

    Text that was drawn over is dropped. `at_line_start`: the unfinished line is empty.
    """

    def __init__(self) -> None:
        self.at_line_start = True
        self.pending: list[tuple[int, str]] = []
        self._lines = ConsoleLines()
        self._redrawable: tuple[int, str] | None = None

    def add_segment(self, segment: Segment, text: str) -> None:
        """Add a segment that is not blank."""
        if segment.newline:
            self.add_line(segment.offset, text)
        else:
            self.at_line_start, self._redrawable = False, (segment.offset, text)

    def add_blank(self, segment: Segment) -> None:
        """Add a blank segment: an empty line, half of a line end, or an erased bar."""
        if not segment.newline:
            self.at_line_start, self._redrawable = self.at_line_start and not segment.data, None
        elif self._redrawable is not None and not segment.data:
            self.add_line(*self._redrawable)
        elif self.at_line_start:
            self.add_line(segment.offset, "")
        else:
            self.at_line_start = True

    def skip_segment(self, newline: bool) -> None:
        """Note a segment that was too long."""
        self.at_line_start, self._redrawable = newline, None

    def add_line(self, offset: int, text: str) -> None:
        """Add a complete line."""
        self.pending.append((offset, text[:MAX_LINE_CHARS]))
        self.at_line_start, self._redrawable = True, None

    def add_block(self, offset: int, text: str, steps: Sequence[int | None]) -> None:
        """Add consecutive lines of ASCII text and their steps."""
        self._lines.append(LineBlock(offset, text, steps))

    def set_step(self, step: int | None) -> None:
        """Give all waiting lines their step."""
        for offset, text in self.pending:
            self._lines.append(ConsoleLine(offset, text, UNKNOWN_TIME, step))
        self.pending.clear()

    def pop_lines(self) -> ConsoleLines:
        """All lines that got their step since the last call."""
        popped, self._lines = self._lines, ConsoleLines()
        return popped
