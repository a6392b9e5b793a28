"""The rule book: every rule there is, in the order in which findings of equal weight are shown."""

from __future__ import annotations

from ppo_top.rules import (
    critic,
    diagnoses,
    exploration,
    generation,
    kl_diagnoses,
    learning_rate,
    llm_diagnoses,
    mismatch,
    numeric,
    optimiser,
    penalty,
    progress,
    reference,
    returns,
    reward,
    signal,
    spread,
    stagnation,
    standstill,
    step_form,
    step_size,
    value_loss,
    variability,
)
from ppo_top.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *numeric.RULES,
    *step_size.RULES,
    *step_form.RULES,
    *optimiser.RULES,
    *learning_rate.RULES,
    *reference.RULES,
    *penalty.RULES,
    *exploration.RULES,
    *variability.RULES,
    *critic.RULES,
    *returns.RULES,
    *value_loss.RULES,
    *reward.RULES,
    *stagnation.RULES,
    *spread.RULES,
    *signal.RULES,
    *generation.RULES,
    *mismatch.RULES,
    *progress.RULES,
    *diagnoses.RULES,
    *standstill.RULES,
    *llm_diagnoses.RULES,
    *kl_diagnoses.RULES,
)

BY_ID: dict[str, Rule] = {rule.id: rule for rule in RULES}


def by_code(code: str) -> list[Rule]:
    """The rules that answer to a short code such as `P1` or `C14`."""
    return [rule for rule in RULES if code in rule.codes]
