"""The rules that apply to a run, with its limits: the same for all runs of one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.model import Profile, Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.rule import PersistenceSteps, Rule, RuleLimits

MAX_ROW_PLANS = 64
"""For how many different sets of metrics it is remembered which rules look at them."""

PlannedRule = tuple[int, str, int]
"""A rule that looks at a row: index, trigger metric or "", states of the reward."""

RowPlan = tuple[PlannedRule, ...]

PlannedDiagnosis = tuple[int, frozenset[str]]
"""A diagnosis: index, the rules of which one must have an open finding; none: always asked."""


class SelectedRule(NamedTuple):
    """A rule with its limits for a run.

    `milder` lowers severities by so many levels. It is asked at one of `every` points after the
    first `warmup`.
    """

    rule: Rule
    limits: RuleLimits
    max_severity: Severity
    milder: int
    steps: PersistenceSteps
    warmup: int
    every: int


class SelectedRules:
    """The rules for a run, out of `all_rules`; `index` gives their positions by id."""

    def __init__(
        self,
        all_rules: Sequence[Rule],
        rules: Sequence[SelectedRule],
    ) -> None:
        self.all_rules = tuple(all_rules)
        self.rules = tuple(rules)
        self.index = {each.rule.id: index for index, each in enumerate(rules)}
        self.ranking = frozenset(each.rule.id for each in rules if each.rule.ranks_causes)
        """The rules whose findings state causes ranked for the run."""
        self.diagnoses = tuple(i for i, each in enumerate(rules) if each.rule.members)
        self.untriggered_diagnoses = tuple(
            (index, frozenset(rules[index].rule.needs))
            for index in self.diagnoses
            if not rules[index].rule.triggers
        )
        self._plans: dict[tuple[str, ...], RowPlan] = {}

    def rules_for(self, values: Mapping[str, object]) -> RowPlan:
        """The rules that look at a row with these metrics."""
        key = tuple(values)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = tuple(
                (
                    index,
                    next((c for c in each.rule.triggers if c in values), ""),
                    each.rule.reward_states,
                )
                for index, each in enumerate(self.rules)
                if any(concept in values for concept in each.rule.triggers)
                or not (each.rule.triggers or each.rule.members)
            )
            if len(self._plans) > MAX_ROW_PLANS:
                del self._plans[next(iter(self._plans))]
        return plan


def select(profile: Profile, rules: Sequence[Rule]) -> SelectedRules:
    """The rules of the run's family that are not muted."""
    wanted = [rule for rule in rules if profile.family in rule.families]
    wanted = [rule for rule in wanted if rule.id not in profile.muted]
    selected = []
    for rule in wanted:
        limits = rule.limits_for(profile)
        steps, milder = rule.persistence_steps(limits), int(limits.get("milder", 0))
        warmup, every = int(limits.get("warmup", 0)), max(1, int(limits.get("every", 1)))
        severity = rule.max_severity(profile)
        selected.append(SelectedRule(rule, limits, severity, milder, steps, warmup, every))
    return SelectedRules(rules, selected)
