"""Joins records that a terminal, an editor or a person broke into several lines.

* a dictionary that was opened at the start of a line and is closed some lines below, broken at its
  commas or at the width of a terminal;
* verl's `step:1 - key:value - key:value`, whose lines before the last one have the same width, or
  which was broken once, within a name.

Lines are held until the record is whole; if it never is, they are given back as they came.
"""

from __future__ import annotations

from ppo_top.parsers.shared.documents.printed_dict import parse_items
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, unwrap_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_LINES = 100
_MAX_CHARS = 1 << 15
_MAX_INDENTED_LINES = 2000
_MAX_INDENTED_CHARS = 1 << 17
"""Of a dictionary as `pprint` prints it, each line below the first with a blank before it: that of
RLlib's `algo.train()` has some 440 lines and 25 KB, most of them settings."""
_NARROWEST, _WIDEST = 40, 240
_PAIRS_START = lazy_pattern(r"step:\d{1,15} - \S")
_PAIR = lazy_pattern(rf"[^\s:]{{1,200}}:\s?{NUMBER_PATTERN}")


class JoinedLines:
    """The lines of the record that is being read; give it each line in turn."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._chars = 0
        self._is_indented = False
        self.is_plain = False
        """Whether the first held line has no prefix, so that the next ones have none either."""

    @property
    def is_open(self) -> bool:
        """Whether lines are held."""
        return bool(self._lines)

    def add_line(self, text: str) -> list[str]:
        """What can be read now: nothing, a line as it is, or a record in one piece."""
        if not self._lines:
            if not _opens_record(text):
                return [text]
            self._lines.append(text)
            self._chars, self._is_indented = len(text), True
            return []
        if _opens_record(text) or text.startswith("{"):
            return [*self.release(), *self.add_line(text)]
        self._lines.append(text)
        if self._lines[0].startswith("{"):
            return self._close_dict()
        return self._close_pairs()

    def release(self) -> list[str]:
        """The held lines, as they came; wrapped pairs may be whole."""
        lines, self._lines = self._lines, []
        joined = "".join(lines)
        return [joined] if len(lines) > 1 and _is_pairs(joined) else lines

    def _close_dict(self) -> list[str]:
        last = self._lines[-1]
        self._chars += len(last)
        self._is_indented &= last.startswith(" ")
        lines, chars = _MAX_LINES, _MAX_CHARS
        if self._is_indented:
            lines, chars = _MAX_INDENTED_LINES, _MAX_INDENTED_CHARS
        if len(self._lines) > lines or self._chars > chars:
            return self.release()
        if not last.rstrip().endswith("}"):
            return []
        joined = "".join(self._lines).rstrip()
        if parse_items(joined) is None:
            return []
        self._lines.clear()
        return [joined]

    def _close_pairs(self) -> list[str]:
        """Wrapped lines are as wide as the first one; a shorter one is the last."""
        width, last = len(self._lines[0]), self._lines[-1]
        if len(last) == width and len(self._lines) < _MAX_LINES:
            return []
        if len(last) < width and _is_pairs("".join(self._lines)):
            return self.release()
        self._lines.pop()
        return [*self.release(), *self.add_line(last)]


def _opens_record(text: str) -> bool:
    if text[:1] == "{":
        is_dict = text[1:2] in ("'", '"') or text.rstrip() == "{"
        return is_dict and not text.rstrip().endswith("}")
    if text[:5] != "step:" or _PAIRS_START.match(text) is None:
        return False
    return _NARROWEST <= len(text) <= _WIDEST or not _is_pairs(text.rpartition(" - ")[2])


def _is_pairs(text: str) -> bool:
    return all(map(_PAIR.fullmatch, unwrap_numbers(text.rstrip()).split(" - ")))
