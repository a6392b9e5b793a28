"""Custom rules from the settings: a metric and the limits it must keep."""

from __future__ import annotations

from ppo_top.catalogue import TAG_PREFIX
from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Condition, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import ALL_FAMILIES
from ppo_top.rules.engine.wording import label, num
from ppo_top.settings.custom_rule import CustomRule


def build_custom_rule(entry: CustomRule, profile: Profile) -> Rule:
    """A settings entry as a rule; a tag that maps to a metric is judged as that metric."""
    concept = _concept(entry.metric, profile)
    return Rule(
        id=entry.id,
        title=entry.title or f"{label(concept)} out of limits",
        description=f"{entry.metric} {_limits_text(entry)}",
        concepts=(concept,),
        assess=_build_condition(entry, concept),
        families=ALL_FAMILIES,
        limits={"warmup": entry.warmup, "clear_after": max(1, entry.clear)},
        persistence=k_of_n(max(1, min(entry.k, entry.n)), max(1, entry.n)),
        causes=entry.causes,
        remedies=tuple(each.replace("{", "{{").replace("}", "}}") for each in entry.remedies),
        source="your settings",
        grade="A",
    )


def _concept(metric: str, profile: Profile) -> str:
    """The name under which rows hold a metric given by its key or its tag."""
    by_tag = {tag: concept for concept, tag in profile.tags.items()}
    if metric in by_tag:
        return by_tag[metric]
    return metric if metric in profile.tags or "/" not in metric else TAG_PREFIX + metric


def _limits_text(entry: CustomRule) -> str:
    sides = (("above", entry.above), ("below", entry.below))
    return " or ".join(f"{word} {num(limit)}" for word, limit in sides if limit is not None)


def _build_condition(entry: CustomRule, concept: str) -> Condition:
    severity = Severity[entry.severity.upper()]

    def assess(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
        value = run.values[concept]
        too_high = entry.above is not None and value > entry.above
        too_low = entry.below is not None and value < entry.below
        if not (too_high or too_low):
            return None
        message = entry.say or f"{entry.metric} is {num(value)}, {_limits_text(entry)}"
        return Assessment(severity, value, entry.above if too_high else entry.below, message)

    return assess
