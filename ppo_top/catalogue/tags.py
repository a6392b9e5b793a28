"""What a tag means: by the trainer's table, or guessed from its name for unknown trainers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from ppo_top.catalogue.concepts import DISTRIBUTION_SUFFIX, concept, is_concept
from ppo_top.catalogue.table import NO_CONCEPT, TagEntry, shared_table, trainer_tables
from ppo_top.catalogue.trainers import Trainer
from ppo_top.model import UNKNOWN_SAMPLE, Sample
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.lazy_pattern import lazy_pattern

IGNORE = "ignore"
"""Marks a tag neither drawn nor judged: a copy on another axis, or not about training."""

HISTOGRAM_PART_PRIORITY = 1000
"""Added to the priority of a tag that is one statistic of a histogram."""

OWN_NAMES = "own-names"
"""The fact that a trainer is a script of one's own: names beyond its table are guessed."""

MAYBE = "maybe"
"""Marks a name that suggests a metric, but may well be another one."""

EITHER_SIGN = "either-sign"
"""Marks a name under which some scripts log a metric and others its negative."""

_EVALUATION = "eval/"
_GUESS_PRIORITY = 10_000
"""Added to the priority of a guess, behind all that a trainer's table knows."""
_HISTOGRAM_SUMMARY = lazy_pattern(r"(.+)[/@:](p\d+|min|max|mean|median|count)")
_LAST_NUMBER = lazy_pattern(r"(?:_|(?<=[a-z]{3}))\d{1,2}$")
"""The number of an agent or a network, or of a file: `reward_1`, `actor_loss_2`, `rewards2`."""
_OF_ONE_PRIORITY = 500
"""Added to the priority of a tag that is one agent's: the mean of all is preferred."""
_COPIES = " vs samples", " vs tokens"
"""How Megatron-LM's event files name what they hold a second time, against another axis."""
_SERIES_WORD = lazy_pattern(
    r"(?<!step)(?<!steps)(?<!frames)(?<!episode)(?<!episodes)_(?:curve|history|list|values)$"
)
"""What holds the numbers: `entropy_curve`, `loss_history`; lists of steps may be of episodes'."""
_DOT = lazy_pattern(r"(?<=[a-z])\.(?=[a-z])")
"""`policy.loss`"""
_CAMEL_CASE = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_IN_PERCENT = lazy_pattern(r"[\s_(]*(?:%|(?<=[\s_(])(?:pct|percent))\)?$", re.IGNORECASE)
"""`Win Rate%`, `success_rate_pct`: the unit of the number."""
_BRACKETED_WINDOW = lazy_pattern(r"_?\((?:\D*[^a-z\d])?(\d+)\w*\)$")
"""The window of a mean, after the name: `mean_reward_(last_100)`."""
_NAMED_WINDOW = lazy_pattern(
    r"(?:^|(?<=/)|(?P<word>mean|avg|average|rew(?:ard)?s?|ret(?:urn)?s?|scores?)_"
    r"|(?:(?:^|_)(?:over|of|in))?_?(?:the_)?(?:last|past|previous)_)"
    r"(?P<size>[1-9]\d{1,2}|1000)_?(?:ep(?:isode)?s?|games?)?(?=_|$)"
)
"""The same within it: `avg_reward_100`, `last_50_episodes_mean_score`."""
_MEAN_WORD = lazy_pattern(r"mean|avg|average")
_OTHER_WORD = lazy_pattern(r"_\((?:reward|return|score)s?\)$")
"""The same in another word: `mean_return_(reward)`."""


class Meaning(NamedTuple):
    """What a tag stands for: metric = `offset` + `scale` * logged number.

    `per_episode`: one point per episode, to be aligned with updates. `zero_missing`: 0 means "no
    measurement". `priority`: of two tags of one metric, the lower number wins. `fallback`: guessed
    from the name alone. `sample`: what one point is. `either_sign`: the first value tells whether
    the number is the metric or its negative.
    """

    concept: str
    scale: float = 1.0
    offset: float = 0.0
    per_episode: bool = False
    zero_missing: bool = False
    priority: int = 0
    fallback: bool = False
    sample: Sample = UNKNOWN_SAMPLE
    either_sign: bool = False


def meaning(trainer: Trainer, tag: str, aliases: Mapping[str, str] | None = None) -> Meaning | None:
    """What a tag of this trainer means, or None if it maps to no metric.

    `aliases` are the user's own mappings: `{"my/kl": "approx_kl", "my/h": "entropy neg"}`.
    """
    if aliases and tag in aliases:
        return alias_meaning(aliases[tag])
    return _meaning(trainer.id, tag)


def alias_meaning(alias: str) -> Meaning | None:
    """A user's alias, a metric and optional modifiers, as a meaning; None if unknown."""
    name, *modifiers = alias.split() or [""]
    if not is_concept(name):
        return None
    return _meaning_of_entry(TagEntry("", name, tuple(modifiers), "", 0), "")


@lru_cache(maxsize=4096)
def _meaning(trainer: str, tag: str) -> Meaning | None:
    if tag.endswith(_COPIES):
        return Meaning(IGNORE)
    table = trainer_tables().get(trainer)
    if table is None:
        return _guess_meaning(tag)
    found = table.find_entry(tag)
    if found is not None:
        return _meaning_of_entry(*found)
    if OWN_NAMES in table.facts:
        return _guess_meaning(tag)
    if tag.startswith(_EVALUATION):
        return _guess_evaluation(tag)
    summary = _HISTOGRAM_SUMMARY.fullmatch(tag)
    base = table.find_entry(summary[1]) if summary else None
    if summary is None or base is None or not base[0].concept.endswith(DISTRIBUTION_SUFFIX):
        return None
    part = _summarised(base[0].concept, summary[2])
    return Meaning(part, priority=HISTOGRAM_PART_PRIORITY + base[0].line)


def _summarised(concept: str, summary: str) -> str:
    """The metric of one statistic of a histogram: `reward_p50`, `reward_max`, `ratio_dist{max}`."""
    plain = concept.removesuffix(DISTRIBUTION_SUFFIX)
    part = f"{plain}_{'p50' if summary == 'median' else summary}"
    named = summary not in ("mean", "count") and is_concept(part)
    return part if named else f"{concept}{{{summary}}}"


def _meaning_of_entry(entry: TagEntry, parameter: str) -> Meaning | None:
    ignored = IGNORE in entry.modifiers
    if entry.concept == NO_CONCEPT and not ignored:
        return None
    scale, offset = entry.scale
    return Meaning(
        concept=IGNORE if ignored else entry.concept.replace("{f}", f"{{{parameter}}}"),
        scale=scale,
        offset=offset,
        per_episode="bin" in entry.modifiers,
        zero_missing="zero-missing" in entry.modifiers,
        priority=entry.line,
        sample=entry.sample,
    )


class _Guess(NamedTuple):
    """A line of the table of guesses: a regex on a tag's path, and an alias that it stands for."""

    expression: re.Pattern[str]
    alias: str
    words: tuple[str, ...]


@cache
def _guesses() -> list[_Guess]:
    lines = shared_table("likeness")
    return [_Guess(re.compile(name), alias, tuple(words)) for name, alias, *words in lines]


def _as_path(tag: str) -> str:
    """A tag as guesses know it: words joined by underscores, groups by slashes."""
    return re.sub(r"[ \-]+", "_", re.sub(r"\s*/\s*|(?<=\w): ", "/", tag.strip()))


def _without_window(path: str) -> tuple[str, int]:
    """A name without the window of its mean, and the episodes in that; 0 without one."""
    if (found := _BRACKETED_WINDOW.search(path)) is not None:
        return path[: found.start()], int(found[1])
    if not _MEAN_WORD.search(path) or (found := _NAMED_WINDOW.search(path)) is None:
        return path, 0
    rest = f"{path[: found.start()]}{found['word'] or ''}{path[found.end() :]}"
    return rest.replace("/_", "/").strip("_"), int(found["size"])


def _best_guess(tag: str) -> tuple[int, _Guess] | None:
    """The first line that matches a tag's path, and its number."""
    text = _as_path(tag)
    path = _OTHER_WORD.sub("", _without_window(text.lower())[0])
    apart = _CAMEL_CASE.sub("_", text).lower()
    whole = _LAST_NUMBER.sub("", path)
    plain = _DOT.sub("_", apart.removesuffix("_average"))
    series = _SERIES_WORD.sub("", plain)
    for each in dict.fromkeys((path, whole, apart, plain, series)):
        for number, guess in enumerate(_guesses()):
            if match := guess.expression.search(each):
                parameter = match.groupdict().get("f", "")
                number += _OF_ONE_PRIORITY if each == whole != path else 0
                return number, guess._replace(alias=guess.alias.replace("{f}", f"{{{parameter}}}"))
    return None


def _guess_meaning(tag: str) -> Meaning | None:
    """What a tag of an unknown trainer means, where its name says so plainly."""
    plain = _IN_PERCENT.sub("", tag)
    found = _best_guess(plain)
    if found is None or found[1].alias == NO_CONCEPT or MAYBE in found[1].words:
        return None
    number, guess = found
    is_percent = plain != tag
    if is_percent and not (is_concept(guess.alias) and concept(guess.alias).fmt == "pct"):
        return None
    binned, window = "bin" in guess.words, _without_window(_as_path(tag).lower())[1]
    sample = Sample("episode") if binned else UNKNOWN_SAMPLE
    sample = Sample("window", window) if window else sample
    return Meaning(
        guess.alias,
        scale=0.01 if is_percent else 1.0,
        per_episode=binned,
        priority=number,
        fallback=True,
        sample=sample,
        either_sign=EITHER_SIGN in guess.words,
    )


def _guess_evaluation(tag: str) -> Meaning | None:
    """What a script has printed of an evaluation of its own: `Mean Reward: 19.1` behind
    `Evaluating...`; what the trainer logs itself comes first.
    """
    guess = _guess_meaning(tag)
    if guess is None or not guess.concept.startswith("eval_"):
        return None
    return guess._replace(priority=guess.priority + _GUESS_PRIORITY)


@lru_cache(maxsize=4096)
def reward_by_name(trainer: Trainer, tag: str) -> Meaning | None:
    """The reward that a tag seems to be which this trainer does not write itself, else None.

    Such as `custom/episode_reward_mean`, from a user's callback.
    """
    table = trainer_tables().get(trainer.id)
    if table is None or table.find_entry(tag) is not None:
        return None
    guess = _guess_meaning(tag)
    return guess if guess is not None and guess.concept == "reward_mean" else None


def suggested_alias(tag: str) -> str | None:
    """The alias that a tag of an unknown trainer may stand for (`entropy neg`), if unsure."""
    found = _best_guess(tag)
    if found is None:
        return None
    if EITHER_SIGN in found[1].words:
        return f"{found[1].alias} neg"
    return found[1].alias if MAYBE in found[1].words else None
