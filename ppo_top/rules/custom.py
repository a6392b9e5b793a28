"""Rules that users write in their settings: a metric and a limit that it is not to pass."""

from __future__ import annotations

from ppo_top.catalogue import TAG
from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.rule import Limits, Read, Reading, Rule, persist
from ppo_top.rules.engine.terms import EVERY
from ppo_top.rules.engine.wording import label, num
from ppo_top.settings.custom_rule import OwnRule


def rule_of(own: OwnRule, profile: Profile) -> Rule:
    """A user's entry as a rule of the book; a tag that stands for a concept is judged as that."""
    concept = _concept(own.metric, profile)
    return Rule(
        id=own.id,
        title=own.title or f"{label(concept)} out of its limits",
        codes=(),
        sees=f"{own.metric} {_words(own)}",
        concepts=(concept,),
        read=_reader(own, concept),
        on=(concept,),
        families=EVERY,
        limits={"warmup": own.warmup, "clear_after": max(1, own.clear)},
        persist=persist(max(1, min(own.k, own.n)), max(1, own.n)),
        causes=own.causes,
        tries=tuple(sentence.replace("{", "{{").replace("}", "}}") for sentence in own.tries),
        source="your settings",
        grade="A",
    )


def _concept(metric: str, profile: Profile) -> str:
    """The name under which rows hold a metric that a user calls by its concept or by its tag."""
    by_tag = {tag: concept for concept, tag in profile.tags.items()}
    if metric in by_tag:
        return by_tag[metric]
    return metric if metric in profile.tags or "/" not in metric else TAG + metric


def _words(own: OwnRule) -> str:
    sides = (("above", own.above), ("below", own.below))
    return " or ".join(f"{word} {num(limit)}" for word, limit in sides if limit is not None)


def _reader(own: OwnRule, concept: str) -> Read:
    severity = Severity[own.severity.upper()]

    def read(run: Run, limits: Limits) -> Reading | None:
        value = run.values[concept]
        too_high = own.above is not None and value > own.above
        too_low = own.below is not None and value < own.below
        if not (too_high or too_low):
            return None
        message = own.say or f"{own.metric} is {num(value)}, {_words(own)}"
        return Reading(severity, value, own.above if too_high else own.below, message)

    return read
