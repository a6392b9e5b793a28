"""Several names and as many numbers with slashes between them: `Reward (min/mean/max): 1/2/3`."""

from __future__ import annotations

import re

from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN
from ppo_top.text.lazy_pattern import lazy_pattern

_WORD = r"[A-Za-z][\w-]{0,20}+"
_PART = r"(?i:mean|avg|average|median|min|max|std|actor|critic|policy|value|entropy|pi|v|q)"
_VALUES = (
    rf"[ ]?[:=]?[ ]{{0,8}}+"
    rf"(?P<values>{NUMBER_PATTERN}(?:(?:[ ]?/[ ]?|,[ ]){NUMBER_PATTERN}){{1,6}})(?![\w/]|\.\d)"
)
_SECOND_VALUE = lazy_pattern(rf"[/,](?:(?<=/) ?|(?<=,) ){NUMBER_PATTERN}")
"""In each of them, and found sooner: a long path has many names, and no numbers between."""
_IN_BRACKETS = lazy_pattern(
    rf"(?P<before>{_WORD}(?:[ ]{_WORD}){{0,3}})[ ]?"
    rf"[(\[](?P<names>{_WORD}(?:/{_WORD}){{1,6}})[)\]](?P<after>){_VALUES}"
)
_BARE = lazy_pattern(
    rf"(?P<before>(?:{_WORD}[ ])?)(?<![\w/])(?P<names>{_PART}(?:/{_PART}){{1,6}})"
    rf"(?P<after>(?:[ ]{_WORD}){{0,2}})(?=[ ]?[:=]|(?<=[ ](?:reward|return|length)) ){_VALUES}"
)
"""`mean/std return: 12.3/4.5`: of known words only, since tags have slashes, too."""
_BEHIND = lazy_pattern(
    rf"(?P<before>{_WORD}(?:[ ]{_WORD}){{0,2}})[ ]?[:=]?[ ]"
    rf"(?P<values>{NUMBER_PATTERN}(?:[ ]?/[ ]?{NUMBER_PATTERN}){{1,6}})[ ]?"
    rf"\((?P<names>{_PART}(?:/{_PART}){{1,6}})\)(?P<after>)"
)
"""`returns -20.0/-20.0/-21.0/-19.0 (mean/median/min/max)`: the names stand behind."""
_LETTERS = {
    "p": "policy",
    "pi": "policy",
    "pg": "policy",
    "a": "actor",
    "v": "value",
    "c": "critic",
    "e": "entropy",
    "h": "entropy",
}
"""How parts of a loss are abbreviated: `Loss (P/V/E): 0.01/1.5/0.7`."""


def spell_out(text: str) -> str:
    """The line with a pair of its own for each of such numbers."""
    if "/" not in text or not _SECOND_VALUE.search(text):
        return text
    if "(" in text or "[" in text:
        text = _BEHIND.sub(_pairs, _IN_BRACKETS.sub(_pairs, text))
    return _BARE.sub(_pairs, text)


def _pairs(match: re.Match[str]) -> str:
    """`min Reward: 1, mean Reward: 2`; what it was if there are not as many numbers as names."""
    names = match["names"].split("/")
    values = [each.strip() for each in re.split(r"/|, ", match["values"])]
    if len(names) != len(values):
        return match[0]
    before, after = match["before"].strip(), match["after"].strip()
    if "loss" in f"{before} {after}".lower():
        names = [_LETTERS.get(name.lower(), name) for name in names]
    if not after:
        before, after = "", before
    whole = (" ".join(filter(None, (before, name, after))) for name in names)
    return ", ".join(f"{name}: {value}" for name, value in zip(whole, values, strict=True))
