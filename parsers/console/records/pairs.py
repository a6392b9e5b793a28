"""The pairs of a name and a number that fill a text: `key: value`, `key=value`, `key value`."""

from __future__ import annotations

import math
import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.records import sentences
from ppo_top.parsers.shared.names import languages, metric_names
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_UNIT_NAMES = (
    r"(?:%|it/s|s/it|steps?/s|frames/s|fps|tok(?:ens)?/s|secs?|seconds?|mins?|ms|us|h|s|[KMG]i?B)"
)
_UNIT_PATTERN = rf"(?:{_UNIT_NAMES}(?![\w/])|\s{_UNIT_NAMES}(?=\s*+(?:$|[,;|)\]])))?"
_NAME_WORD_PATTERN = rf"[A-Za-z(%#{languages.LETTERS}][\w%./()@#+\-^]*+"
_PAIR = lazy_pattern(
    rf"(?P<key>{_NAME_WORD_PATTERN}(?:[ ]{{1,2}}{_NAME_WORD_PATTERN}){{0,5}}?|@?[A-Za-z_]\w*)"
    rf"(?P<sep>[ ]{{0,40}}+[:=][ ]{{0,40}}+|[ ]{{1,40}}+)"
    rf"(?P<value>{NUMBER_PATTERN})(?:(?P<scale>[kKM])(?!\w))?"
    rf"(?:\s{{0,2}}(?:/|of\s)\s?(?P<total>\d[\d,]{{0,19}}+)(?![\w.]))?"
    rf"(?:\s?\(?(?:\+/?-|±)\s?(?P<spread>{NUMBER_PATTERN})\)?)?"
    rf"(?P<unit>{_UNIT_PATTERN})(?=$|[\s,;:|\])}}>]|<[-=]|\.\s{{1,3}}[A-Za-z][\w ]{{0,30}}[:=])"
)
_STATISTICS = frozenset({"std", "min", "max", "median"})
"""Names that leave open what they are of: `reward mean=0.8 std=0.2`."""
_STATISTIC = r"(?:mean|avg\.?|average|std|min|max|median)"
_MEAN_OF = lazy_pattern(
    rf"(?P<first>.+)[ _]{_STATISTIC}|{_STATISTIC}[ _](?P<last>.+)"
    rf"|(?P<inside>.+\(){_STATISTIC}\)",
    re.IGNORECASE,
)
"""Also `Average return: 0.8, std: 0.2` and `Adv(mean=0.8, std=0.2)`."""
_MEAN_WORDS = frozenset({"mean", "avg", "average"})
_TIME_UNITS = frozenset(("s", "sec", "secs", "second", "seconds", "ms", "us", "min", "mins"))
_DECORATION = (
    r"\u2190-\u21ff\u2300-\u2379\u237b-\u23ff\u2500-\u257f\u25a0-\u27bf\u2b00-\u2bff"
    r"\U0001f000-\U0001faff\ufe0f\u200d"
)
"""Arrows, box drawing, shapes and emoji: what scripts put before a name."""
_SEPARATORS = lazy_pattern(rf"[\s,;:|\[\](){{}}<>\-–—=*#•·.!{_DECORATION}]*+")
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6}
"""`Step 10K | reward 20.5`."""
_LEADING_WORD = lazy_pattern(
    r"[A-Za-z]\w{0,30} ?[:=] {0,3}[A-Za-z][\w.\-]{0,60}\s{1,3}+"
    r"(?=[A-Za-z]\w{0,30} ?[:=] {0,3}[\w.+\-%]{1,30} {1,3}[A-Za-z]\w{0,30} ?[:=])"
)
"""`EnvName: CartPole-v1 seed: 0 steps: 12k score: 21.5`: a word under a name, before several
numbers.
"""
_FEWEST_PAIRS_BEFORE_WORDS = 2
_FEWEST_ASSIGNMENTS = 3
_FINISHED = lazy_pattern(
    r"^(?:(?:completed|done|ended|finished|over)[.!]?(?: with)? "
    r"|(?i:(?:starting|beginning) (?=(?:training )?(?:iteration|epoch|episode|update)$))"
    r"|(?i:(?:finished|completed) (?=(?:training )?(?:iteration|epoch|update)$))"
    r"|of (?=episodes?$))"
)
"""`# of episode :20`, `Episode 7 completed with score: 21.5`, `Episode 7 ended. Score 21.5`;
`Starting training iteration 7`; `Finished epoch 7`."""
_CLOCK_START = lazy_pattern(r"^\d{1,3}:\d\d")


class Pair(NamedTuple):
    """A name and its number; `total` is N of `k/N`, `spread` what follows `+/-`."""

    key: str
    value: float
    is_blank_separated: bool
    """Only blanks separate name and number."""
    total: int | None
    spread: float | None


def parse_field(text: str) -> list[Pair] | None:
    """The pairs that fill the text completely; None if something else is left.

    A number after a word of prose, without `:` or `=`, is something else.
    """
    found: list[Pair] = []
    position = skip_separators(text, 0)
    if word := _LEADING_WORD.match(text, position):
        position = word.end()
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None or _CLOCK_START.match(text, match.start("value")):
            return found if _are_written_out(found) else None
        pair = _make_pair(match)
        if found and is_bare_statistic(pair.key):
            pair = pair._replace(key=name_behind(pair.key, found[-1].key))
        if pair.is_blank_separated and metric_names.is_prose(pair.key) and not _is_of_total(pair):
            is_sentence = sentences.says_length(text[position:])
            return found if _are_written_out(found) and not is_sentence else None
        found.append(pair)
        position = skip_separators(text, match.end())
    return _without_words(found, text)


def _without_words(found: list[Pair], text: str) -> list[Pair]:
    """Without the words before the first of many assignments: `info update step=12 kl=0.01`."""
    name = found[0].key.rpartition(" ")[2] if len(found) >= _FEWEST_ASSIGNMENTS else ""
    if name and axis_of(found[0]) is None and metric_names.step_axis(name) and f"{name}=" in text:
        found[0] = found[0]._replace(key=name)
    return found


def _is_of_total(pair: Pair) -> bool:
    """Whether it is a step of so many, whatever stands before: `Result for episode 3 of 500`."""
    return pair.total is not None and axis_of(pair) is not None


def _are_written_out(pairs: list[Pair]) -> bool:
    """Whether words may follow the pairs: `lr=1e-3 (10437 steps/s)`, `kl: 0.1 saved checkpoint`."""
    if len(pairs) < _FEWEST_PAIRS_BEFORE_WORDS or not any(map(is_known, pairs)):
        return False
    return not any(pair.is_blank_separated and axis_of(pair) is None for pair in pairs)


def skip_separators(text: str, position: int) -> int:
    """Where the next name may begin."""
    match = _SEPARATORS.match(text, position)
    return match.end() if match else position


def _make_pair(match: re.Match[str]) -> Pair:
    value = parse_number(match["value"])
    if value is not None and match["scale"]:
        value *= _SCALES[match["scale"]]
    total, spread = match["total"], match["spread"]
    name, unit = _clean_name(match["key"]), match["unit"].strip()
    if unit == "%" and not name.endswith("%"):
        name += "%"
    elif unit in _TIME_UNITS and _is_count(name):
        name += " time"
    return Pair(
        name,
        math.nan if value is None else value,
        not match["sep"].strip(),
        int(total.replace(",", "")) if total else None,
        parse_number(spread) if spread else None,
    )


def _is_count(name: str) -> bool:
    """Whether a name is that of steps or episodes, which are no time: `Step: 0.04s`."""
    return metric_names.is_bare_count(name) or metric_names.step_axis(name) is not None


def _clean_name(key: str) -> str:
    """A name without surrounding punctuation; brackets inside it are kept."""
    name = _FINISHED.sub("", " ".join(key.split()).strip("()#-. ")).removesuffix(" is")
    if ("(" in name) != (")" in name):
        return f"{name})" if "(" in name else f"({name}"
    return name


_PARTS = frozenset({"micro", "mini", "inner", "sub"})
"""What a counter of parts of a step begins with."""


def axis_of(pair: Pair) -> str | None:
    """What a step counts: `GRPO step 10/500` is one too, since it says how many there will be.

    So are `T = 100 / 5000` and `Episodes: 12/500`; `Micro Step 3/8` is a part of one.
    """
    before, _, last = pair.key.rpartition(" ")
    if before.lower() in _PARTS:
        return None
    name = pair.key if pair.total is None else last
    if pair.total is not None and pair.key.lower() == "t":
        return "timesteps"
    if pair.total is not None and metric_names.counts_episodes(pair.key):
        return "episode"
    return metric_names.step_axis(pair.key) or metric_names.step_axis(name)


def is_known(pair: Pair) -> bool:
    """Whether it is a step, or its name is that of a metric."""
    return axis_of(pair) is not None or metric_names.is_metric(pair.key)


def is_bare_statistic(name: str) -> bool:
    """Whether a name says a statistic, and not of what."""
    return name.lower() in _STATISTICS


def name_behind(name: str, before: str) -> str:
    """The name of a bare statistic behind another number: with what it is of, if that says it."""
    if before.lower() in _MEAN_WORDS:
        return f"{before} +/-" if name.lower() == "std" else name
    if mean := _MEAN_OF.fullmatch(before):
        stem = mean["first"] or mean["last"]
        return f"{stem} {name}" if stem else f"{mean['inside']}{name})"
    return f"{before} {name}" if metric_names.is_reward(before) else name
