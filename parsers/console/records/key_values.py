"""Lines of names and numbers that a custom training loop prints, as opposed to prose.

A line is a record if its fields are pairs (`key: value`, `key=value`, `key value`), little else is
left over, and at least one name is that of a metric or a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import sentences
from ppo_top.parsers.console.records.normal_form import normalise_line
from ppo_top.parsers.console.records.pairs import (
    Pair,
    axis_of,
    is_bare_statistic,
    is_known,
    name_behind,
    parse_field,
    skip_separators,
)
from ppo_top.parsers.shared.names import languages, metric_names
from ppo_top.parsers.shared.names.counter_names import may_lead
from ppo_top.parsers.shared.text.number_text import as_step, may_hold_number
from ppo_top.text.lazy_pattern import lazy_pattern

MAX_PAIRS_LINE_CHARS = 8192
"""Longer lines are not searched for pairs."""

_FIELD_SEPARATOR = lazy_pattern(
    r"([\s|│;,](?:(?<=[|│\t;])\s*+|(?<=,)\s++"
    r"|(?<=[^\S\t])(?:[^\S\t]*+[|│\t;]\s*+|\s*+[-–—]\s++|\s*+/\s++(?=[A-Za-z]))"
    r"|(?<=\d\s)and (?=(?:[a-z]{1,12} ){0,2}(?:reward|return|score)s?[ :=])))"
)
"""A bar, tab or semicolon; a comma and blanks; a dash, or a slash before a name, between blanks;
the `and` of `frame 763, game 1 and reward -21.0`.

It begins with one of all first characters: the search skips what cannot begin it.
"""
_TUPLE_OF_WORDS = lazy_pattern(r"\('[^'()]{0,60}'(?:, ?'?[^'(),]{0,60}'?){0,8},?\)")
"""`Cause: ('spleen', 0.8)`: its commas part no fields."""
_DURATION = lazy_pattern(r"\s*+(?:\d++[dhm]\s?+){0,3}(?:\d++(?:\.\d++)?s)?\s*+")
"""A field of how long it took, without a name: `8.15s`, `2m 31s`."""
_LEADING_NUMBER = lazy_pattern(
    r"(?P<number>\d{1,15})(?:st|nd|rd|th)?(?: (?P<unit>[A-Za-z]{2,10})(?=[ :,;|]))??"
    r"\s?(?:[:,;|]|-{1,3}>?|=>)?\s{1,8}+(?=[A-Za-z])"
)
"""`120 reward: 21.5 loss: 0.3`, as `print(step, "reward:", ...)` writes it; `120 episodes: ...`."""
_FEWEST_PAIRS_OF_LAYOUT = 4
_EPISODE_COUNT_NAMES = (
    *("episodes", "nepisodes", "numepisodes", "episodecount"),
    *languages.EPISODE_COUNTS,
)
_FINISHED_STEP = lazy_pattern(
    r"\W{0,9}((?:[Ee]pisode|[Ee]p|EP|[Ee]poch|[Ii]teration|[Uu]pdate|[Ss]tep) \d{1,15}) {1,2}"
    r"[^\W\d_]{1,20}\W{0,3}"
)
"""`Episode 12 finished, reward: 5.0`: the word says nothing that is needed."""
_LENGTHS = ("length", "len", "episodelength", "eplen")
_MEAN_WORDS = frozenset({"average", "avg", "mean"})
_FEWEST_LETTERS = 3
_STEP_LETTERS = ("t", "i", "k", "n")
_TENSORFLOW_VARIABLE = lazy_pattern(
    r"/(?:kernel|bias|beta|gamma|w|b|weights|logstd)(?:_\d{1,3})?:\S"
)
"""`actor/dense/kernel:0 <- actor/dense/kernel:0 + noise`: the number is part of its name."""

_SAVED = lazy_pattern(
    r"(?i)\W*+(?:(?:checkpoint|model|weights|policy) saved"
    r"|sav(?:ed|ing) (?:(?:the|a|new) )?(?:checkpoint|model|weights|policy))\b"
)
"""`Checkpoint saved at useful_step=20 (total_step=26)`: the records say the step in another way."""
_HEADING_OF_ANSWER = lazy_pattern(
    r"\s*+(?:\*\*Step \d{1,15}:?\*\*:?|#{2,6} \**Step \d{1,15}:\**)\s*+"
)
"""In Markdown, of a language model: the steps of its answer."""


def is_episode_count(key: str) -> bool:
    """Whether the number says how many episodes were averaged."""
    return metric_names.normalise(key) in _EPISODE_COUNT_NAMES


def parse_line(text: str, bare_steps_count: bool | None = None) -> ConsoleRecord | None:
    """The record of a line, or None if it is prose.

    `bare_steps_count`: whether `steps` beside a count of episodes are those of all so far, not of
    one episode; None while only their name tells.
    """
    if not may_be_record(text):
        return None
    return parse_normal_line(text, normalise_line(text), bare_steps_count)


def may_be_record(text: str) -> bool:
    """Whether a line is short enough and holds what may be a number."""
    return len(text) <= MAX_PAIRS_LINE_CHARS and may_hold_number(text)


def parse_normal_line(
    text: str, normal: str, bare_steps_count: bool | None
) -> ConsoleRecord | None:
    """`parse_line` of a line that may be a record, with its normal form."""
    if "/" in text and _TENSORFLOW_VARIABLE.search(text):
        return None
    if "Step" in text and _HEADING_OF_ANSWER.fullmatch(text):
        return None
    if (found := _read_after_number(normal, bare_steps_count)) is not None:
        return found
    found, is_whole = _read_fields(normal, bare_steps_count)
    if found is not None and "sav" in text[:40].lower() and _SAVED.match(text):
        return found if any(metric_names.is_metric(name) for name, _ in found.values) else None
    if found is None or found.step is None:
        said = sentences.parse_line(text) or _read_around_step(normal, bare_steps_count)
        return said or (found and _with_leading_count(found))
    return found if is_whole else _with_sentence(found, normal)


def _with_leading_count(found: ConsoleRecord) -> ConsoleRecord:
    """The record with the steps that it says first, which may be its step: `Steps: 200, ...`.

    The number of a training may stand before them: `seed: 1 steps: 2k score: 21.5`.
    """
    name, value = found.leading
    step = as_step(value) if len(found.values) > 1 and may_lead(name) else None
    if step is None or math.isnan(value):
        return found
    return found._replace(step=step, axis="timesteps", begins_line=True)


def _read_after_number(text: str, bare_steps_count: bool | None) -> ConsoleRecord | None:
    """The record behind a number that the line begins with and that may be its step."""
    if not text[:1].isdigit() or (number := _LEADING_NUMBER.match(text)) is None:
        return None
    axis = metric_names.step_axis(number["unit"] or "iteration")
    found, _ = _read_fields(text[number.end() :], bare_steps_count)
    if axis is None or found is None or found.step is not None:
        return found
    return found._replace(step=int(number["number"]), axis=axis, begins_line=True)


def _read_around_step(text: str, bare_steps_count: bool | None) -> ConsoleRecord | None:
    """The record around a step that stands in words: `Running reward: 21.5 at episode 120`.

    `Average reward after 4 episodes: 21.5` may say of how many it is the mean, unless it rises.
    """
    said = sentences.find_step(text)
    if said is None:
        return None
    found, _ = _read_fields(said.rest, bare_steps_count)
    if found is None and (pairs := parse_field(said.rest)):
        found = _make_record(pairs, bare_steps_count)
    if found is None or found.step is not None:
        return None
    tags = [tag for tag, _ in found.values]
    is_metric = any(metric_names.is_metric(tag) or _is_length(tag) for tag in tags)
    if any(map(metric_names.is_prose, tags)) or not is_metric:
        return None
    found = found._replace(step=said.step, axis=said.axis)
    if said.axis != "episode":
        return found
    if not _MEAN_WORDS.isdisjoint(metric_names.split_words(tags[0])):
        return found._replace(begins_line=True)
    return found._replace(values=[(said.axis, float(said.step)), *found.values])


def _is_length(name: str) -> bool:
    """Whether a name is that of the lengths of episodes: `Average Len`."""
    return metric_names.split_words(name)[-1:] in (("len",), ("length",))


def _read_fields(text: str, bare_steps_count: bool | None) -> tuple[ConsoleRecord | None, bool]:
    """The record of the fields that are pairs, if they are enough; whether all fields are."""
    fields, readable = _parse_fields(text)
    if len(fields) > 1 and (finished := _FINISHED_STEP.fullmatch(fields[0])):
        readable.insert(0, parse_field(finished[1]) or [])
    every = [pair for each in readable for pair in each]
    pairs = [pair for pair in every if _is_usable(pair) or _counts_batches(pair, every)]
    is_whole = len(readable) == len(fields)
    step = _letter_step(pairs) if is_whole else None
    has_heading = len(readable) > 1 and len(readable[0]) == 1
    is_record = step or _are_record(pairs, has_heading=has_heading)
    is_record = is_record or (is_whole and _are_layout(pairs))
    if not pairs or 2 * len(readable) < len(fields) or not is_record:
        return None, False
    found = _make_record(pairs, bare_steps_count)
    if step is not None:
        found = found._replace(step=as_step(step.value), axis="step")
    return found, is_whole


def _parse_fields(text: str) -> tuple[list[str], list[list[Pair]]]:
    """The fields of a line, and the pairs of those that hold nothing else."""
    fields: list[str] = []
    readable: list[list[Pair]] = []
    before: list[Pair] | None = None
    parts = _FIELD_SEPARATOR.split(_TUPLE_OF_WORDS.sub("()", text) if "('" in text else text)
    for separator, field in zip(["", *parts[1::2]], parts[::2], strict=True):
        if skip_separators(field, 0) >= len(field) or _DURATION.fullmatch(field):
            continue
        fields.append(field)
        pairs = parse_field(field)
        if pairs and separator.startswith(",") and is_bare_statistic(name := pairs[0].key):
            if before is None:  # of what, is not read
                continue
            pairs[0] = pairs[0]._replace(key=name_behind(name, before[-1].key))
        if pairs:
            readable.append(pairs)
        before = pairs or None
    return fields, readable


def _with_sentence(found: ConsoleRecord, text: str) -> ConsoleRecord:
    """The record with the reward that a field of words says: `with reward -21.5`."""
    if any(metric_names.is_reward(tag) for tag, _ in found.values):
        return found
    said = sentences.parse_line(text)
    return found if said is None else found._replace(values=[*found.values, *said.values[1:]])


def _letter_step(pairs: list[Pair]) -> Pair | None:
    """The step that is one letter: `t=00050 | eps=0.2 | r=0.475`, `T: 50 R: 0.4 L: 0.1`."""
    if len(pairs) < _FEWEST_LETTERS or pairs[0].key.lower() not in _STEP_LETTERS:
        return None
    if pairs[0].key.isupper() and any(len(pair.key) > 1 for pair in pairs):
        return None  # `T` may be the temperature
    is_stepped = any(metric_names.step_axis(pair.key) is not None for pair in pairs)
    is_written_out = not pairs[0].is_blank_separated and as_step(pairs[0].value) is not None
    return pairs[0] if is_written_out and not is_stepped else None


def _is_usable(pair: Pair) -> bool:
    """Whether a pair is of use: `3/10` is not, unless it is a step, a training or a reward."""
    if pair.total is None or axis_of(pair) is not None:
        return True
    return metric_names.is_reward(pair.key) or metric_names.numbers_training(pair.key)


def _counts_batches(pair: Pair, beside: Iterable[Pair]) -> bool:
    """Whether a pair is the step within an epoch: `Epoch [1/3], Batch [20/60], Loss: 0.5`."""
    is_batch = pair.total is not None and pair.key.lower() == "batch"
    return is_batch and any(axis_of(other) == "epoch" for other in beside)


def _are_record(pairs: list[Pair], *, has_heading: bool) -> bool:
    """Whether the number of pairs and their names make a record; `update 3:` is a heading.

    `has_heading`: the first pair has a field of its own, as in `Checkpoint 7000 | Reward: 21.5`.
    """
    if len(pairs) == 1 and pairs[0].total is None and metric_names.may_be_title(pairs[0].key):
        return False
    if len(pairs) == 1 and pairs[0].is_blank_separated:
        is_identifier = not {"_", "/"}.isdisjoint(pairs[0].key) and " " not in pairs[0].key
        return axis_of(pairs[0]) is not None or (is_identifier and is_known(pairs[0]))
    inner = pairs[1:] if has_heading else pairs
    has_blanks = any(pair.is_blank_separated and axis_of(pair) is None for pair in inner)
    known = sum(map(is_known, pairs))
    if has_blanks and _is_length_of_episode(pairs):
        return True
    if has_blanks and all(axis_of(pair) is not None or not is_known(pair) for pair in pairs):
        return False  # `Step 1: Analyzing Formula 2`, of an answer
    return known > 0 and (not has_blanks or 2 * known >= len(pairs))


def _is_length_of_episode(pairs: list[Pair]) -> bool:
    """Whether they are `Episode 12   Length 57`, without anything else."""
    axes = [axis_of(pair) for pair in pairs]
    return axes == ["episode", None] and metric_names.normalise(pairs[1].key) in _LENGTHS


def _are_layout(pairs: list[Pair]) -> bool:
    """Whether they are a step and what a script measures there, whatever it calls it."""
    return len(pairs) >= _FEWEST_PAIRS_OF_LAYOUT and axis_of(pairs[0]) is not None


def _make_record(pairs: list[Pair], bare_steps_count: bool | None) -> ConsoleRecord:
    step, counts = None, ""
    config: dict[str, ConfigValue] = {}
    axes = [(p, "iteration" if _counts_batches(p, pairs) else axis_of(p)) for p in pairs]
    if bare_steps_count is not None and any(metric_names.counts_episodes(p.key) for p in pairs):
        steps = "timesteps" if bare_steps_count else None
        axes = [(p, steps if metric_names.is_bare_count(p.key) else axis) for p, axis in axes]
    for name in metric_names.STEP_AXES:
        for pair, axis in axes:
            if axis != name:
                continue
            if pair.total is not None:
                config[metric_names.TOTAL_SETTINGS[name]] = pair.total
            if step is None and (step := as_step(pair.value)) is not None:
                counts = name
    values = [(pair.key, pair.value) for pair in pairs if not _is_placeholder(pair, pairs)]
    values += [(f"{p.key} +/-", p.spread) for p in pairs if p.spread is not None]
    return ConsoleRecord(values, step, counts, config)


def _is_placeholder(pair: Pair, pairs: list[Pair]) -> bool:
    """Whether a reward is the 0 (or nan) that loops print before any episode has ended."""
    if not metric_names.is_reward(pair.key) or (pair.value != 0.0 and not math.isnan(pair.value)):
        return False
    return any(other.value == 0 and is_episode_count(other.key) for other in pairs)
