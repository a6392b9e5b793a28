"""Which rules do not apply to a run and why, and which are still warming up."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.engine.terms import FAMILY_NAMES
from ppo_top.rules.engine.wording import label


class SkippedRule(NamedTuple):
    """A rule that does not apply to this run, and why."""

    rule: str
    title: str
    reason: str


def skipped_rules(
    rules: Iterable[Rule], run: JudgedRun, text_rows: Container[str], failed: Mapping[str, str]
) -> list[SkippedRule]:
    """Rules that do not apply to a run.

    `text_rows` holds the rules with console evidence, `failed` the errors of rules that raised.
    """
    reasons = ((rule, failed.get(rule.id) or _skip_reason(rule, run, text_rows)) for rule in rules)
    return [SkippedRule(rule.id, rule.title, why) for rule, why in reasons if why]


def _skip_reason(rule: Rule, run: JudgedRun, text_rows: Container[str]) -> str:
    if rule.id in run.profile.muted:
        return "muted in the settings"
    if run.family not in rule.families:
        return f"not for {FAMILY_NAMES.get(run.family, run.family)}"
    if rule.triggers and not point_count(rule, run) and rule.id not in text_rows:
        return f"{' or '.join(dict.fromkeys(map(label, rule.triggers)))} not logged"
    return ""


def point_count(rule: Rule, run: JudgedRun) -> int:
    """The number of points of the rule's first trigger that is logged."""
    found = (run.histories.get(concept) for concept in rule.triggers)
    return next((history.count for history in found if history is not None), 0)
