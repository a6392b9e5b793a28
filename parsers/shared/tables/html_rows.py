"""The rows of tables in HTML, as their lines come."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppo_top.text.lazy_pattern import lazy_pattern

MAX_COLUMNS = 2000
_MAX_CELL_CHARS = 500
_ELEMENT = lazy_pattern(r"<(/?)(table|tr|th|td)\b[^<>]{0,500}>", re.IGNORECASE)
_OTHER_ELEMENT = lazy_pattern(r"</?[A-Za-z][^<>]{0,500}>")


class HtmlRows:
    """Finds the rows in pieces of a page."""

    def __init__(self) -> None:
        self.lines = 0
        self._cells: list[str] = []
        self._text: list[str] | None = None

    def add_text(self, text: str) -> Iterator[list[str]]:
        """The cells of every row that a piece of text closes; elements are not cut in two."""
        self.lines += 1
        position = 0
        for element in _ELEMENT.finditer(text):
            self._add_content(text[position : element.start()])
            position = element.end()
            closes, name = bool(element[1]), element[2].lower()
            self._end_cell()
            if name in ("th", "td"):
                self._text = None if closes else []
            elif name == "tr" and closes and self._cells:
                yield self._cells
                self._cells = []
            elif not closes:
                self._cells = []
        self._add_content(text[position:])

    def _add_content(self, text: str) -> None:
        if self._text is not None and sum(map(len, self._text)) < _MAX_CELL_CHARS:
            self._text.append(text[:_MAX_CELL_CHARS])

    def _end_cell(self) -> None:
        if self._text is not None and len(self._cells) <= MAX_COLUMNS:
            import html  # most logs have no such table

            plain = _OTHER_ELEMENT.sub("", " ".join(self._text))
            self._cells.append(html.unescape(plain).strip())
        self._text = None
