"""The rule book: every rule there is, in the order in which findings of equal weight are shown."""

from __future__ import annotations

from ppo_top.rules import (
    critic,
    diagnoses,
    exploration,
    generation,
    llm_diagnoses,
    mismatch,
    numeric,
    optimiser,
    progress,
    reference,
    reward,
    signal,
    step_size,
)
from ppo_top.rules.rule import ENGINE_LIMITS, Rule

RULES: tuple[Rule, ...] = (
    *numeric.RULES,
    *step_size.RULES,
    *optimiser.RULES,
    *reference.RULES,
    *exploration.RULES,
    *critic.RULES,
    *reward.RULES,
    *reward.MORE,
    *signal.RULES,
    *generation.RULES,
    *mismatch.RULES,
    *progress.RULES,
    *diagnoses.RULES,
    *llm_diagnoses.RULES,
)

BY_ID: dict[str, Rule] = {rule.id: rule for rule in RULES}


def thresholds() -> dict[str, tuple[str, ...]]:
    """Rule -> the names that a settings file may set for it."""
    return {rule.id: (*rule.limits, *ENGINE_LIMITS) for rule in RULES}


def by_code(code: str) -> list[Rule]:
    """The rules that answer to a short code such as `P1` or `C14`."""
    return [rule for rule in RULES if code in rule.codes]
