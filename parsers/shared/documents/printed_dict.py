"""Dictionaries as Python prints them: with `nan`, `None`, arrays and numbers in quotes.

That is neither JSON nor always a Python literal, hence the small grammar here.
"""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number, unwrap_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_STRING_PATTERN = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_ITEM = lazy_pattern(
    rf"""\s*+(?:{_STRING_PATTERN})\s*+:\s*+(?:{_STRING_PATTERN}|({NUMBER_PATTERN}|-?Infinity|None|null|True|true|False|false)"""
    r"""|(?:[A-Za-z_][\w.]{0,60}(?=\())?([\[{(]))\s*+""",
    re.DOTALL,
)
_NESTED_TOKEN = lazy_pattern(
    r"""[^\[\](){}'"]++|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[\[\](){}]""", re.DOTALL
)
_YES_OR_NO = {"True": True, "true": True, "False": False, "false": False}
_MAX_DEPTH = 4
"""Dictionaries within more than so many others are not read."""


class DictItem(NamedTuple):
    """A key with its value: a number, yes or no, a word, or None for anything else."""

    key: str
    value: float | bool | str | None


def parse_items(text: str, depth: int = 0) -> list[DictItem] | None:
    """The items of a dictionary that spans the whole text; None if it does not parse.

    The keys of inner dictionaries stand behind that of the outer one, as in `train/loss`.
    """
    text = unwrap_numbers(text.strip())
    if not (text.startswith("{") and text.endswith("}")):
        return None
    found: list[DictItem] = []
    position, last = 1, len(text) - 1
    while position < last:
        match = _ITEM.match(text, position)
        if match is None:
            return None
        position = match.end()
        key, inner = match[1] or match[2] or "", None
        if match[6]:
            closed = _end_of_nested(text, match.start(6))
            if closed is None:
                return None
            position = closed
            if match[6] == "{" and depth < _MAX_DEPTH:
                inner = parse_items(text[match.start(6) : closed], depth + 1)
        if inner is None:
            found.append(DictItem(key, _item_value(match)))
        else:
            found += [DictItem(f"{key}/{name}", value) for name, value in inner]
        if position < last and text[position] != ",":
            return None
        position += 1
    return found if position <= last + 1 and found else None


def _item_value(match: re.Match[str]) -> float | bool | str | None:
    bare = match[5]
    if bare is not None:
        return _YES_OR_NO.get(bare, parse_number(bare))
    if match[6]:
        return None
    text = match[3] if match[3] is not None else match[4]
    parsed = parse_number(text)
    return text if parsed is None else parsed


def _end_of_nested(text: str, start: int) -> int | None:
    """Where a nested value and the blanks after it end, or None."""
    depth = 0
    for match in _NESTED_TOKEN.finditer(text, start):
        bracket = match[0]
        if bracket in "[({":
            depth += 1
        elif bracket in "])}":
            depth -= 1
        if depth == 0:
            end = match.end()
            while end < len(text) and text[end] == " ":
                end += 1
            return end
    return None
