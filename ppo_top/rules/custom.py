"""Rules that users write in their settings: a metric and a limit that it is not to pass."""

from __future__ import annotations

from ppo_top.catalogue import TAG_PREFIX
from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.rule import Assessment, Condition, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import ALL_FAMILIES
from ppo_top.rules.engine.wording import label, num
from ppo_top.settings.custom_rule import CustomRule


def build_custom_rule(own: CustomRule, profile: Profile) -> Rule:
    """A user's entry as a rule of the book; a tag that stands for a concept is judged as that."""
    concept = _concept(own.metric, profile)
    return Rule(
        id=own.id,
        title=own.title or f"{label(concept)} out of its limits",
        codes=(),
        description=f"{own.metric} {_limits_text(own)}",
        concepts=(concept,),
        assess=_build_condition(own, concept),
        triggers=(concept,),
        families=ALL_FAMILIES,
        limits={"warmup": own.warmup, "clear_after": max(1, own.clear)},
        persistence=k_of_n(max(1, min(own.k, own.n)), max(1, own.n)),
        causes=own.causes,
        remedies=tuple(sentence.replace("{", "{{").replace("}", "}}") for sentence in own.remedies),
        source="your settings",
        grade="A",
    )


def _concept(metric: str, profile: Profile) -> str:
    """The name under which rows hold a metric that a user calls by its concept or by its tag."""
    by_tag = {tag: concept for concept, tag in profile.tags.items()}
    if metric in by_tag:
        return by_tag[metric]
    return metric if metric in profile.tags or "/" not in metric else TAG_PREFIX + metric


def _limits_text(own: CustomRule) -> str:
    sides = (("above", own.above), ("below", own.below))
    return " or ".join(f"{word} {num(limit)}" for word, limit in sides if limit is not None)


def _build_condition(own: CustomRule, concept: str) -> Condition:
    severity = Severity[own.severity.upper()]

    def read(run: RuleContext, limits: RuleLimits) -> Assessment | None:
        value = run.values[concept]
        too_high = own.above is not None and value > own.above
        too_low = own.below is not None and value < own.below
        if not (too_high or too_low):
            return None
        message = own.say or f"{own.metric} is {num(value)}, {_limits_text(own)}"
        return Assessment(severity, value, own.above if too_high else own.below, message)

    return read
