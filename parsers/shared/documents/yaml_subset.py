"""The part of YAML that trainers use for settings: nested maps of plain values.

Tags, anchors and constructors are not supported, so nothing can be executed or expanded.
"""

from __future__ import annotations

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_KEY_PATTERN = r"'[^']{1,200}'|\"[^\"]{1,200}\"|[^\s#\-{\[&*!|>'\"%@`][^:#]{0,200}?"
_KEY_LINE = lazy_pattern(rf"( {{0,200}})({_KEY_PATTERN}):(?: +(.*))?")
_PAIR_NAME = lazy_pattern(r"(?:- - -|  - -) ([A-Za-z_]\w{0,80})")
_PAIR_VALUE = lazy_pattern(r"    - (.+)")
"""rl-baselines3-zoo writes an ordered map as a list of pairs: a name, then a value."""
_INTEGER = lazy_pattern(r"[-+]?\d{1,18}")
_COMMENT = lazy_pattern(r"(?:^|\s)#.*$")
_BOOLEANS: dict[str, ConfigValue] = {"true": True, "false": False, "yes": True, "no": False}
_NULL_WORDS = ("", "null", "~", "none")
_MAX_DEPTH = 12
MAX_YAML_LINE_CHARS = 4096
"""Longer lines are skipped."""


class YamlReader:
    """Reads one document line by line and keeps track of the path of keys."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._pair_name = ""

    def read_line(self, text: str) -> tuple[str, ConfigValue] | None:
        """The path (joined by `/`) and the value of a line that holds one."""
        named, self._pair_name = self._pair_name, ""
        if text.startswith(("- - -", "  - -", "    - ")):
            return (
                self._read_pair(text.rstrip(), named) if len(text) <= MAX_YAML_LINE_CHARS else None
            )
        match = _KEY_LINE.fullmatch(text.rstrip()) if len(text) <= MAX_YAML_LINE_CHARS else None
        if match is None:
            return None
        indent, key, rest = len(match[1]), match[2].strip("'\" "), match[3] or ""
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()
        if not _COMMENT.sub("", rest).strip():
            if len(self._path) < _MAX_DEPTH:
                self._path.append((indent, key))
            return None
        value = parse_scalar(rest)
        if value is None:
            return None
        return "/".join([name for _, name in self._path] + [key]), value

    def _read_pair(self, text: str, named: str) -> tuple[str, ConfigValue] | None:
        """The name of a pair is remembered for the line below it."""
        name = _PAIR_NAME.fullmatch(text)
        if name is not None:
            self._pair_name = name[1]
            return None
        found = _PAIR_VALUE.fullmatch(text) if named else None
        value = parse_scalar(found[1]) if found else None
        return (named, value) if value is not None else None


def parse_scalar(text: str) -> ConfigValue | None:
    """A plain value; None for null, lists, maps, tags and block text."""
    text = text.strip()
    if text[:1] in ("'", '"'):
        closed = len(text) > 1 and text[-1] == text[0]
        return text[1:-1][:200] if closed else None
    text = _COMMENT.sub("", text).strip()
    low = text.lower()
    if low in _NULL_WORDS or (text[0] in "[{&*!|>-" and parse_number(text) is None):
        return None
    if low in _BOOLEANS:
        return _BOOLEANS[low]
    if _INTEGER.fullmatch(text):
        return int(text)
    parsed = parse_number(text.replace(".", "", 1) if low.endswith((".nan", ".inf")) else text)
    return text[:200] if parsed is None else parsed
