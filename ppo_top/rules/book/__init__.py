"""The rule book: all rules, in the order in which findings of equal severity are shown."""

from __future__ import annotations

from ppo_top.rules.book import (
    critic,
    diagnoses_kl,
    diagnoses_llm,
    diagnoses_standstill,
    diagnoses_updates,
    entropy,
    entropy_variability,
    episodes,
    generation,
    grpo_signal,
    kl_penalty,
    learning_rate,
    not_a_number,
    optimiser,
    outcome,
    progress,
    reference_kl,
    replay,
    returns,
    reward,
    reward_spread,
    reward_stagnation,
    sampler_mismatch,
    step_shape,
    step_size,
    value_loss,
)
from ppo_top.rules.engine.rule import Rule, rules_by_id

RULES: tuple[Rule, ...] = (
    *not_a_number.RULES,
    *step_size.RULES,
    *step_shape.RULES,
    *optimiser.RULES,
    *learning_rate.RULES,
    *reference_kl.RULES,
    *kl_penalty.RULES,
    *entropy.RULES,
    *entropy_variability.RULES,
    *critic.RULES,
    *returns.RULES,
    *value_loss.RULES,
    *replay.RULES,
    *episodes.RULES,
    *reward.RULES,
    *reward_stagnation.RULES,
    *reward_spread.RULES,
    *grpo_signal.RULES,
    *generation.RULES,
    *sampler_mismatch.RULES,
    *progress.RULES,
    *diagnoses_updates.RULES,
    *diagnoses_standstill.RULES,
    *diagnoses_llm.RULES,
    *diagnoses_kl.RULES,
    *outcome.RULES,
)

BY_ID: dict[str, Rule] = rules_by_id(RULES)
