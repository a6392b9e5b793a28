"""The rule book: all rules, in the order in which findings of equal severity are shown."""

from __future__ import annotations

from ppo_top.rules.book.critic import (
    explained_variance,
    returns,
    same_value,
    value_loss,
    value_loss_spike,
)
from ppo_top.rules.book.diagnoses import (
    kl_control,
    language_models,
    oversized_updates,
    stalled_learning,
)
from ppo_top.rules.book.exploration import (
    entropy_collapse,
    entropy_not_falling,
    entropy_variability,
)
from ppo_top.rules.book.llm import (
    generation,
    grpo_signal,
    kl_penalty,
    preference,
    reference_kl,
    sampler_mismatch,
)
from ppo_top.rules.book.off_policy import action_values, replay
from ppo_top.rules.book.reward import (
    below_start,
    crash,
    episodes,
    outcome,
    spread,
    stagnation,
    unlearned,
)
from ppo_top.rules.book.run import console_reports, machine, not_a_number, progress, settings
from ppo_top.rules.book.updates import kl_feedback, learning_rate, optimiser, step_shape, step_size
from ppo_top.rules.engine.rule import Rule, rules_by_id

RULES: tuple[Rule, ...] = (
    *not_a_number.RULES,
    *console_reports.RULES,
    *step_size.RULES,
    *step_shape.RULES,
    *optimiser.RULES,
    *learning_rate.RULES,
    *kl_feedback.RULES,
    *settings.RULES,
    *reference_kl.RULES,
    *kl_penalty.RULES,
    *entropy_collapse.RULES,
    *entropy_not_falling.RULES,
    *entropy_variability.RULES,
    *same_value.RULES,
    *explained_variance.RULES,
    *returns.RULES,
    *value_loss_spike.RULES,
    *value_loss.RULES,
    *replay.RULES,
    *action_values.RULES,
    *episodes.RULES,
    *crash.RULES,
    *unlearned.RULES,
    *below_start.RULES,
    *stagnation.RULES,
    *spread.RULES,
    *grpo_signal.RULES,
    *generation.RULES,
    *preference.RULES,
    *sampler_mismatch.RULES,
    *progress.RULES,
    *machine.RULES,
    *oversized_updates.RULES,
    *stalled_learning.RULES,
    *language_models.RULES,
    *kl_control.RULES,
    *outcome.RULES,
)

BY_ID: dict[str, Rule] = rules_by_id(RULES)
