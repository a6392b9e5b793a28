"""Plain text of a given width: headings, paragraphs, lists and tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import wrap

from ppo_top.text.format import clean

MIN_PAGE_WIDTH = 30
LEFT_COLUMN_WIDTH = 28
"""Width of the left column of a table."""


@dataclass(slots=True)
class Page:
    """Lines of at most `width` characters; longer words are broken."""

    width: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(self.width, MIN_PAGE_WIDTH)

    def add_blank_line(self) -> None:
        """Add an empty line, never two in a row."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def add_paragraph(self, words: str, indent: str = "", first: str | None = None) -> None:
        """Add a paragraph; `first` is the indent of its first line if that differs."""
        start = indent if first is None else first
        self.lines += wrap(
            clean(words), self.width, initial_indent=start, subsequent_indent=indent
        ) or [start.rstrip()]

    def add_heading(self, words: str) -> None:
        """Add the title of a section."""
        self.add_blank_line()
        self.add_paragraph(words)

    def add_list(self, entries: Iterable[str], numbered: bool = False, indent: str = "  ") -> None:
        """Add a list, with dashes or numbers."""
        for index, entry in enumerate(entries, 1):
            mark = f"{index} " if numbered else "- "
            self.add_paragraph(entry, indent=f"{indent}  ", first=f"{indent}{mark}")

    def add_table(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Add a table of two columns; a head too long for its column goes above its text."""
        left = min(LEFT_COLUMN_WIDTH, self.width // 2)
        for head, words in pairs:
            if len(head) + 4 <= left and words:
                self.add_paragraph(words, indent=" " * left, first=f"  {head}".ljust(left))
                continue
            self.add_paragraph(head, indent="    ", first="  ")
            if words:
                self.add_paragraph(words, indent=" " * left)
