"""A page of plain text of a given width: headings, paragraphs, lists and two columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import wrap

from ppo_top.text.format import clean

MIN_PAGE_WIDTH = 30
LEFT_COLUMN_WIDTH = 28
"""Width of the left one of two columns."""


@dataclass(slots=True)
class Page:
    """Lines no longer than a width; a word that is longer than that is broken."""

    width: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(self.width, MIN_PAGE_WIDTH)

    def add_blank_line(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def add_paragraph(self, words: str, indent: str = "", first: str | None = None) -> None:
        """A paragraph; `first` is the indent of its first line, where that differs."""
        start = indent if first is None else first
        self.lines += wrap(
            clean(words), self.width, initial_indent=start, subsequent_indent=indent
        ) or [start.rstrip()]

    def add_heading(self, words: str) -> None:
        """The title of a section."""
        self.add_blank_line()
        self.add_paragraph(words)

    def add_list(self, entries: Iterable[str], numbered: bool = False, indent: str = "  ") -> None:
        """A list, with dashes or numbers."""
        for place, entry in enumerate(entries, 1):
            mark = f"{place} " if numbered else "- "
            self.add_paragraph(entry, indent=f"{indent}  ", first=f"{indent}{mark}")

    def add_table(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Two columns; what is too long for the left one stands above its text."""
        left = min(LEFT_COLUMN_WIDTH, self.width // 2)
        for head, words in pairs:
            if len(head) + 4 <= left and words:
                self.add_paragraph(words, indent=" " * left, first=f"  {head}".ljust(left))
                continue
            self.add_paragraph(head, indent="    ", first="  ")
            if words:
                self.add_paragraph(words, indent=" " * left)
