"""Lines of names and numbers that a training loop of one's own prints, told from ordinary prose.

A line counts when its fields are pairs (`key: value`, `key=value`, `key value`), nothing else of
weight is left over, and at least one name is that of a metric or of a step.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared import metric_names as vocabulary
from ppo_top.parsers.shared.number_text import NUMBER, number, unwrap, whole

LONGEST = 8192
"""Characters of a line that may hold pairs."""

_UNITS = (
    r"(?:%|it/s|s/it|steps?/s|frames/s|fps|tok(?:ens)?/s|secs?|seconds?|mins?|ms|us|h|s|[KMG]i?B)"
)
_UNIT = rf"(?:{_UNITS}(?![\w/])|\s{_UNITS}(?=\s*+(?:$|[,;|)\]])))?"
_WORD = r"[A-Za-z(%#][\w%./()@#+\-^]*+"
_PAIR = re.compile(
    rf"(?P<key>{_WORD}(?:[ ]{{1,2}}{_WORD}){{0,5}}?|@?[A-Za-z_]\w*)"
    rf"(?P<sep>[ ]{{0,40}}+[:=][ ]{{0,40}}+|[ ]{{1,40}}+)"
    rf"(?P<value>{NUMBER})"
    rf"(?:\s?(?:/|of\s)\s?(?P<total>\d[\d,]{{0,19}}+)(?![\w.]))?"
    rf"(?:\s?\(?(?:\+/?-|±)\s?(?P<spread>{NUMBER})\)?)?"
    rf"{_UNIT}(?=$|[\s,;:|\])}}>])"
)
_SIGNS = (
    r"\u2190-\u21ff\u2300-\u23ff\u2500-\u257f\u25a0-\u27bf\u2b00-\u2bff"
    r"\U0001f000-\U0001faff\ufe0f\u200d"
)
"""Arrows, lines of boxes and trees, shapes and emoji: what scripts put before a name."""
_GAP = re.compile(rf"[\s,;:|\[\](){{}}<>\-–—=*#•·.!{_SIGNS}]*+")
_FIELDS = re.compile(r"\s*+[|│\t;]\s*+|,\s++|\s++[-–—]\s++")
_COUNT = re.compile(r"\[\s?(\d{1,15})\s?/\s?(\d{1,15})\s?\]")
_BRACKETED = re.compile(r"\[([A-Za-z][^\[\]=]{0,60})\]")
_TABBED = re.compile(r"([:=])[ \t]{1,16}+(?=[-+.\w])")
_PLACE = re.compile(r"^\s{0,16}+(\d{1,15}/\d{1,15}): (?=[A-Za-z])")
"""keras-rl begins its lines with the step: `1024/50000: episode: 12, ...`."""
_ORDINAL = re.compile(r"#(?=\d)")
_REMARK = re.compile(r"\((?:[A-Za-z]{1,12}[ =])?\d{1,7}(?: [A-Za-z]{1,12}){0,2}\)(?=\s?[:=])")
"""What a mean is over: `Mean reward (last 100 episodes): 195.2`."""
_EPISODES = ("episodes", "nepisodes", "numepisodes", "episodecount")
_WIDE = re.compile(r"[^\S\t]{4,}+")
"""Blanks that are searched again and again would cost a square of their number."""
_CLOCK = re.compile(r"^\d{1,3}:\d\d")


class Pair(NamedTuple):
    """A name and its number; `total` is N of `k/N`, `spread` what follows `+/-`."""

    key: str
    value: float
    bare: bool
    """Only blanks stand between the name and the number."""
    total: int | None
    spread: float | None


def field(text: str) -> list[Pair] | None:
    """The pairs that fill the text from end to end; None when something else is left.

    A number behind a word of sentences, without `:` or `=`, is something else.
    """
    found: list[Pair] = []
    place = _skip(text, 0)
    while place < len(text):
        match = _PAIR.match(text, place)
        if match is None or _CLOCK.match(text, match.start("value")):
            return None
        pair = _pair(match)
        if pair.bare and vocabulary.is_prose(pair.key):
            return None
        found.append(pair)
        place = _skip(text, match.end())
    return found


def _skip(text: str, place: int) -> int:
    match = _GAP.match(text, place)
    return match.end() if match else place


def _pair(match: re.Match[str]) -> Pair:
    value = number(match["value"])
    total = match["total"]
    spread = match["spread"]
    return Pair(
        _name(match["key"]),
        math.nan if value is None else value,
        not match["sep"].strip(),
        int(total.replace(",", "")) if total else None,
        number(spread) if spread else None,
    )


def _name(key: str) -> str:
    """A name without the signs around it; the brackets of a remark inside it belong to it."""
    name = " ".join(key.split()).strip("()#-.")
    if ("(" in name) != (")" in name):
        return f"{name})" if "(" in name else f"({name}"
    return name


def prepare(text: str) -> str:
    """Numbers out of their wrappers, `[3/10]` and `[Epoch 3]` out of their brackets.

    `Epoch #3` becomes `Epoch 3`; a remark with a number becomes one word of its name.
    """
    text = unwrap(text)
    if ": episode: " in text:
        text = _PLACE.sub(r"step \1, ", text)
    if "\t" in text:
        text = _TABBED.sub(r"\1 ", text)
    if "#" in text:
        text = _ORDINAL.sub("", text)
    if "(" in text:
        text = _REMARK.sub(lambda remark: re.sub("[ =]", "_", remark[0]), text)
    if "[" in text:
        text = _BRACKETED.sub(r" \1 ", _COUNT.sub(r" \1/\2 ", text))
    text = text.strip()
    return _WIDE.sub("   ", text) if "  " in text or not text.isascii() else text


def counts(key: str) -> bool:
    """Whether the number tells how many episodes a mean is over."""
    return "".join(char for char in key.lower() if char.isalnum()) in _EPISODES


def read(text: str) -> Record | None:
    """The record of a line, or None when the line is prose."""
    if len(text) > LONGEST or not any(char.isdigit() or char in "nN" for char in text):
        return None
    fields = [each for each in _FIELDS.split(prepare(text)) if _skip(each, 0) < len(each)]
    readable = [pairs for each in fields if (pairs := field(each))]
    pairs = [pair for each in readable for pair in each if _sound(pair)]
    if not pairs or 2 * len(readable) < len(fields) or not _convincing(pairs):
        return None
    return _record(pairs)


def _sound(pair: Pair) -> bool:
    """Whether a pair is worth having: `3/10` of something that is no step is not."""
    return pair.total is None or vocabulary.axis(pair.key) is not None


def _convincing(pairs: list[Pair]) -> bool:
    """Whether so many pairs with such names are a record and not an accident."""
    metrics = sum(vocabulary.is_metric(pair.key) for pair in pairs)
    counted = [pair for pair in pairs if vocabulary.axis(pair.key) is not None]
    if len(pairs) == 1:
        alone = pairs[0]
        return bool(counted) or (metrics == 1 and not alone.bare)
    if metrics == len(counted) == 0:
        return False
    if any(pair.bare for pair in pairs):
        return 2 * len([p for p in pairs if _known(p)]) >= len(pairs)
    return metrics > 0 or len(counted) > 0


def _known(pair: Pair) -> bool:
    return vocabulary.axis(pair.key) is not None or vocabulary.is_metric(pair.key)


def _record(pairs: list[Pair]) -> Record:
    step, counts = None, ""
    config: dict[str, ConfigValue] = {}
    for name in vocabulary.AXES:
        for pair in pairs:
            if vocabulary.axis(pair.key) != name:
                continue
            if pair.total is not None:
                config[vocabulary.TOTALS[name]] = pair.total
            if step is None and (step := whole(pair.value)) is not None:
                counts = name
    values = [(pair.key, pair.value) for pair in pairs if not _placeholder(pair, pairs)]
    values += [(f"{p.key} +/-", p.spread) for p in pairs if p.spread is not None]
    return Record(values, step, counts, config)


def _placeholder(pair: Pair, pairs: list[Pair]) -> bool:
    """A mean over no episode: loops print 0 (or nan) where no episode has ended yet."""
    if not vocabulary.is_reward(pair.key) or (pair.value != 0.0 and not math.isnan(pair.value)):
        return False
    return any(other.value == 0 and counts(other.key) for other in pairs)
