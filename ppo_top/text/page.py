"""A page of plain text of a given width: headings, paragraphs, lists and two columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import wrap

from ppo_top.text.format import clean

NARROWEST = 30
COLUMN = 28
"""Width of the left one of two columns."""


@dataclass(slots=True)
class Page:
    """Lines no longer than a width; a word that is longer than that is broken."""

    width: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(self.width, NARROWEST)

    def gap(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def text(self, words: str, indent: str = "", first: str | None = None) -> None:
        """A paragraph; `first` is the indent of its first line, where that differs."""
        start = indent if first is None else first
        self.lines += wrap(
            clean(words), self.width, initial_indent=start, subsequent_indent=indent
        ) or [start.rstrip()]

    def heading(self, words: str) -> None:
        """The title of a section."""
        self.gap()
        self.text(words)

    def points(self, entries: Iterable[str], numbered: bool = False, indent: str = "  ") -> None:
        """A list, with dashes or numbers."""
        for place, entry in enumerate(entries, 1):
            mark = f"{place} " if numbered else "- "
            self.text(entry, indent=f"{indent}  ", first=f"{indent}{mark}")

    def table(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Two columns; what is too long for the left one stands above its text."""
        left = min(COLUMN, self.width // 2)
        for head, words in pairs:
            if len(head) + 4 <= left and words:
                self.text(words, indent=" " * left, first=f"  {head}".ljust(left))
                continue
            self.text(head, indent="    ", first="  ")
            if words:
                self.text(words, indent=" " * left)
