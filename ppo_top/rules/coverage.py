"""Which rules look at a run, which do not and why, and which are still warming up."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.rule import Limits, Rule
from ppo_top.rules.engine.terms import NAMES
from ppo_top.rules.engine.wording import label


class Skipped(NamedTuple):
    """A rule that does not look at this run, and why."""

    rule: str
    title: str
    why: str


class Warming(NamedTuple):
    """A rule that has not seen enough points yet: `have` of `need`."""

    rule: str
    concepts: tuple[str, ...]
    have: int
    need: int


def skipped(
    rules: Iterable[Rule], run: Run, noted: Container[str], broken: Mapping[str, str]
) -> list[Skipped]:
    """Rules that do not look at a run; `noted` are those of which the console spoke.

    `broken` says of a rule that has failed by a defect of its own how it did.
    """
    reasons = ((rule, broken.get(rule.id) or _why(rule, run, noted)) for rule in rules)
    return [Skipped(rule.id, rule.title, why) for rule, why in reasons if why]


def _why(rule: Rule, run: Run, noted: Container[str]) -> str:
    if rule.id in run.profile.muted:
        return "muted in the settings"
    if run.family not in rule.families:
        return f"not for {NAMES.get(run.family, run.family)}"
    if rule.on and not points(rule, run) and rule.id not in noted:
        return f"{' or '.join(dict.fromkeys(map(label, rule.on)))} not logged"
    return ""


def warming(rules: Iterable[tuple[Rule, Limits]], run: Run) -> list[Warming]:
    """Rules that have seen a part of the points that they need before they speak."""
    found = []
    for rule, limits in rules:
        need, have = int(limits.get("warmup", 0)), points(rule, run)
        if need and 0 < have <= need:
            found.append(Warming(rule.id, rule.concepts, have, need + 1))
    return found


def points(rule: Rule, run: Run) -> int:
    """How many points there are of what a rule looks at."""
    found = (run.histories.get(concept) for concept in rule.on)
    return next((history.count for history in found if history is not None), 0)
