"""The part of YAML that trainers use for settings: nested maps of plain values, nothing else.

No tags, anchors or constructors are understood, so nothing can be made to run or to expand.
"""

from __future__ import annotations

import re

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared.number_text import number

_KEY = r"'[^']{1,200}'|\"[^\"]{1,200}\"|[^\s#\-{\[&*!|>'\"%@`][^:#]{0,200}?"
_LINE = re.compile(rf"( {{0,200}})({_KEY}):(?: +(.*))?")
_NAME = re.compile(r"(?:- - -|  - -) ([A-Za-z_]\w{0,80})")
_VALUE = re.compile(r"    - (.+)")
"""rl-baselines3-zoo writes an ordered map as a list of pairs: a name, and a value below it."""
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_WORDS: dict[str, ConfigValue] = {"true": True, "false": False, "yes": True, "no": False}
_NOTHING = ("", "null", "~", "none")
_DEEPEST = 12
LONGEST = 4096
"""Characters of a line that are read."""


class Outline:
    """Reads one document line by line and remembers under which keys a line stands."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._named = ""

    def line(self, text: str) -> tuple[str, ConfigValue] | None:
        """The path (joined by `/`) and the value of a line that holds one."""
        named, self._named = self._named, ""
        if text.startswith(("- - -", "  - -", "    - ")):
            return self._pair(text.rstrip(), named) if len(text) <= LONGEST else None
        match = _LINE.fullmatch(text.rstrip()) if len(text) <= LONGEST else None
        if match is None:
            return None
        indent, key, rest = len(match[1]), match[2].strip("'\" "), match[3] or ""
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()
        if not _COMMENT.sub("", rest).strip():
            if len(self._path) < _DEEPEST:
                self._path.append((indent, key))
            return None
        value = scalar(rest)
        if value is None:
            return None
        return "/".join([name for _, name in self._path] + [key]), value

    def _pair(self, text: str, named: str) -> tuple[str, ConfigValue] | None:
        """The name of a pair is remembered for the line below it."""
        name = _NAME.fullmatch(text)
        if name is not None:
            self._named = name[1]
            return None
        found = _VALUE.fullmatch(text) if named else None
        value = scalar(found[1]) if found else None
        return (named, value) if value is not None else None


def scalar(text: str) -> ConfigValue | None:
    """A plain value; None for null, lists, maps, tags and block text."""
    text = text.strip()
    if text[:1] in ("'", '"'):
        closed = len(text) > 1 and text[-1] == text[0]
        return text[1:-1][:200] if closed else None
    text = _COMMENT.sub("", text).strip()
    low = text.lower()
    if low in _NOTHING or (
        text[:1] in ("[", "{", "&", "*", "!", "|", ">", "-") and number(text) is None
    ):
        return None
    if low in _WORDS:
        return _WORDS[low]
    if _INTEGER.fullmatch(text):
        return int(text)
    parsed = number(text.replace(".", "", 1) if low.endswith((".nan", ".inf")) else text)
    return text[:200] if parsed is None else parsed
