"""A report does not contradict itself: no option is both raised and lowered.

Nor are two options that serve the same purpose, and no cause stands beside its opposite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ppo_top.catalogue import hyperparameter
from ppo_top.catalogue.causes import known_causes
from ppo_top.model import Finding

_DIRECTIONS = {
    **dict.fromkeys(("raise", "more", "larger", "longer", "higher", "stronger"), 1),
    **dict.fromkeys(("lower", "fewer", "smaller", "less", "shorter", "weaker"), -1),
}
_DIRECTION = re.compile(rf"\b({'|'.join(_DIRECTIONS)})\b")
_NAME = re.compile(r"[A-Za-z][\w./]*")

_PURPOSES = {
    **dict.fromkeys(("learning_rate", "clip_range", "n_epochs", "target_kl"), "size of updates"),
    **dict.fromkeys(("ent_coef", "temperature"), "exploration"),
}
"""What several options are for: one of them is not raised while another one is lowered."""

_LESS_EXPLORATION = re.compile(r"\bless action noise|\bfinal exploration rate")
_LIMIT = re.compile(r"^set ([\w./]+) to ")

_remembered = lru_cache(maxsize=2048)
"""Runs of one kind are given the same sentences again and again."""

Direction = tuple[str, int]
"""An option's canonical name, and 1 where advice raises it, -1 where it lowers it."""


@_remembered
def direction_of(advice: str, trainer: str) -> Direction | None:
    """What a sentence of advice does to which option; None if it does neither."""
    found = _DIRECTION.search(advice)
    if found is None:
        return None
    option = _option_in(advice, trainer, found.end())
    return (option, _DIRECTIONS[found[1]]) if option is not None else None


@_remembered
def _option_in(advice: str, trainer: str, start: int = 0) -> str | None:
    """The canonical name of the first option that is named from a place on."""
    words = _NAME.findall(advice, start)
    options = (hyperparameter(word.rstrip("."), trainer) for word in words)
    return next((name for name in options if name is not None), None)


@_remembered
def purpose_of(advice: str, trainer: str) -> Direction | None:
    """What a sentence of advice is for, and which way; an option by itself where it is alone."""
    if _LESS_EXPLORATION.search(advice):
        return "exploration", -1
    limited = _LIMIT.search(advice)
    if limited is not None and hyperparameter(limited[1], trainer) == "target_kl":
        return _PURPOSES["target_kl"], -1
    found = direction_of(advice, trainer)
    return (_PURPOSES.get(found[0], found[0]), found[1]) if found is not None else None


def without_repeats(advice: Iterable[str], trainer: str) -> tuple[str, ...]:
    """Advice without what says the same of an option again, or the opposite."""
    said: set[str] = set()
    kept: list[str] = []
    for each in advice:
        direction = direction_of(each, trainer)
        option = _option_in(each, trainer) or each
        subject = direction[0] if direction is not None else option if option in said else each
        is_longer = any(other.startswith(each) or each.startswith(other) for other in kept)
        if subject not in said and not is_longer:
            said.add(subject)
            kept.append(each)
    return tuple(kept)


def without_opposites(causes: Iterable[str], said: Iterable[str] = ()) -> list[str]:
    """Causes, likeliest first, without those that are the opposite of an earlier or a said one."""
    opposites, kept = known_causes().opposites, list[str]()
    before = list(said)
    for cause in causes:
        if not any((cause, other) in opposites for other in (*before, *kept)):
            kept.append(cause)
    return kept


def keep_consistent(findings: Iterable[Finding], trainer: str) -> list[Finding]:
    """Drop causes and advice that contradict a finding which explains more; those that changed.

    The most severe decides, then the diagnosis that combines most findings, then the oldest.
    """
    ways: dict[str, int] = {}
    said: list[str] = []
    changed = []
    for finding in sorted(findings, key=_rank):
        causes = _consistent_causes(finding.causes, said)
        remedies = _consistent(finding.remedies, ways, trainer)
        if (causes, remedies) != (finding.causes, finding.remedies):
            finding.causes, finding.remedies = causes, remedies
            changed.append(finding)
    return changed


def _consistent_causes(sentences: Sequence[str], said: list[str]) -> tuple[str, ...]:
    """The sentences whose cause is not the opposite of one that was said; adds their causes."""
    by_sentence = known_causes().by_sentence
    kept = without_opposites((by_sentence.get(each, each) for each in sentences), said)
    said += kept
    return tuple(each for each in sentences if by_sentence.get(each, each) in kept)


def _rank(finding: Finding) -> tuple[int, int, int]:
    return -finding.severity, -len(finding.members), finding.since.row


def _consistent(advice: Sequence[str], said: dict[str, int], trainer: str) -> tuple[str, ...]:
    """The advice that does not contradict what was said; adds its own to it."""
    kept = []
    for each in advice:
        purpose, way = purpose_of(each, trainer) or ("", 0)
        if not purpose or said.setdefault(purpose, way) == way:
            kept.append(each)
    return tuple(kept)
