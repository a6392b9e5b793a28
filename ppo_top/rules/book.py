"""The rule book: every rule there is, in the order in which findings of equal weight are shown."""

from __future__ import annotations

from ppo_top.rules import (
    critic,
    diagnoses,
    exploration,
    numeric,
    optimiser,
    progress,
    reward,
    step_size,
)
from ppo_top.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *numeric.RULES,
    *step_size.RULES,
    *optimiser.RULES,
    *exploration.RULES,
    *critic.RULES,
    *reward.RULES,
    *reward.MORE,
    *progress.RULES,
    *diagnoses.RULES,
)

BY_ID: dict[str, Rule] = {rule.id: rule for rule in RULES}
