"""One sick and one healthy case for each rule of language models."""

from __future__ import annotations

from tests.rules.cases import CRIT, INFO, WATCH, RuleCase, after
from tests.support.drawn_runs import jitter


def flat_reward(i: int) -> float:
    """A reward that stays where it is."""
    return 0.3 + jitter(i, 0.03)


def rising_reward(i: int) -> float:
    """A reward that climbs."""
    return 0.1 + 0.02 * i + jitter(i, 0.02)


REFERENCE_KL_CASES = (
    RuleCase(
        "ref-kl-high", {"ref_kl": lambda i: 0.5 * i}, {"ref_kl": lambda i: 8.0}, family="rlhf"
    ),
    RuleCase(
        "ref-kl-token-high",
        {"ref_kl_token": after(20, 0.6, 0.02), "reward_mean": flat_reward},
        {"ref_kl_token": after(20, 0.09, 0.02)},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "ref-kl-negative",
        {"ref_kl": after(20, -0.5, 0.2)},
        {"ref_kl": lambda i: -0.02 if i % 4 == 0 else 0.05},
        family="rlhf",
    ),
    RuleCase(
        "ref-kl-zero",
        {"ref_kl": 0.001, "reward_mean": flat_reward},
        {"ref_kl": lambda i: 0.05 * i, "reward_mean": flat_reward},
        INFO,
        family="rlhf",
        count=80,
    ),
    RuleCase(
        "kl-coef-rising",
        {"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": lambda i: 2.0 + 0.2 * i},
        {"kl_coef": lambda i: 0.2 * 0.99**i},
        WATCH,
        family="rlhf",
        trainer="trl-legacy",
    ),
    RuleCase(
        "kl-penalty-off",
        {"kl_coef": lambda i: 0.2 * 0.8**i},
        {"kl_coef": 0.05},
        INFO,
        family="rlhf",
    ),
    RuleCase(
        "kl-penalty-dominates",
        {"non_score_reward": lambda i: -1.9, "reward_mean": flat_reward},
        {"non_score_reward": lambda i: -0.1, "reward_mean": flat_reward},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "rlhf-reward-falls",
        {"rlhf_reward": lambda i: 0.5 - 0.03 * i + jitter(i, 0.02), "reward_mean": rising_reward},
        {"rlhf_reward": lambda i: 0.5 + jitter(i, 0.02), "reward_mean": rising_reward},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "drift-without-gain",
        {"ref_kl": lambda i: 0.2 * i, "reward_mean": flat_reward},
        {"ref_kl": lambda i: 0.2 * i, "reward_mean": rising_reward},
        WATCH,
        family="rlhf",
    ),
)

GRPO_SIGNAL_CASES = (
    RuleCase(
        "zero-variance-groups",
        {"frac_zero_std": after(10, 0.92, 0.2), "reward_mean": flat_reward},
        {"frac_zero_std": after(10, 0.55, 0.2)},
        family="grpo",
    ),
    RuleCase(
        "reward-spread-gone",
        {"reward_std": after(20, 0.0005, 0.3), "reward_mean": flat_reward},
        {"reward_std": after(20, 0.1, 0.3)},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "clip-one-sided",
        {"clip_high": 0.05, "clip_low": 0.001, "entropy": lambda i: 0.9 * 0.97**i},
        {"clip_high": 0.05, "clip_low": 0.03, "entropy": lambda i: 0.9 * 0.97**i},
        INFO,
        family="grpo",
    ),
    RuleCase(
        "reward-parts-diverge",
        {"reward_component_mean{accuracy}": lambda i: 0.6 - 0.008 * i + jitter(i, 0.01)},
        {"reward_component_mean{accuracy}": lambda i: 0.6 + jitter(i, 0.01)},
        WATCH,
        family="grpo",
    ),
)

GENERATION_CASES = (
    RuleCase(
        "completions-truncated",
        {"truncated_frac": lambda i: min(0.95, 0.03 * i)},
        {"truncated_frac": lambda i: 0.2},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "length-runaway",
        {"resp_len_mean": lambda i: 100 + 8.0 * i, "reward_mean": flat_reward},
        {"resp_len_mean": lambda i: 100 + 8.0 * i, "reward_mean": rising_reward},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "length-spread",
        {"resp_len_std": lambda i: 8 + 2.0 * max(0, i - 15)},
        {"resp_len_std": lambda i: 8 + 0.2 * i},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "no-eos",
        {"truncated_frac": 1.0, "term_len_mean": None},
        {"truncated_frac": 0.9, "term_len_mean": 12.0},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "prompts-changed",
        {"query_len_mean": after(30, 80.0, 30.0)},
        {"query_len_mean": after(30, 40.0, 30.0)},
        INFO,
        family="rlhf",
    ),
    RuleCase(
        "logprobs-shift",
        {"logprobs_p50": -2.0, "ref_logprobs_p50": lambda i: -2.4 - 0.03 * i},
        {"logprobs_p50": -2.0, "ref_logprobs_p50": lambda i: -2.4 - 0.016 * i},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "reward-part-flat",
        {"reward_component_mean{accuracy}": 0.0},
        {"reward_component_mean{accuracy}": lambda i: 0.0 if i < 25 else 0.02},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "value-loss-zero",
        {"value_loss": after(30, 0.0, 0.4)},
        {"value_loss": after(30, 1e-6, 0.4)},
        family="rlhf",
    ),
    RuleCase("tools-fail", {"tool_fail_freq": 0.8}, {"tool_fail_freq": 0.2}, WATCH, family="grpo"),
    RuleCase(
        "entropy-explodes",
        {"entropy": lambda i: 0.5 * 1.04**i, "truncated_frac": lambda i: 0.02 * i},
        {"entropy": lambda i: 0.5 + 0.002 * i},
        WATCH,
        family="grpo",
        count=90,
    ),
    RuleCase(
        "sampler-mismatch",
        {"logp_diff_mean": after(20, 0.2, 0.01)},
        {"logp_diff_mean": 0.04},
        family="grpo",
    ),
)

PREFERENCE_CASES = (
    RuleCase(
        "preference-inverted",
        {"preference_accuracy": 0.2, "preference_margin": lambda i: -0.02 * i},
        {"preference_accuracy": 0.2, "preference_margin": lambda i: 0.02 * i},
        family="preference",
    ),
    RuleCase(
        "preference-at-chance",
        {"preference_accuracy": lambda i: 0.5 + jitter(i, 0.1)},
        {"preference_accuracy": lambda i: 0.6 + jitter(i, 0.1)},
        WATCH,
        family="preference",
        config={"max_steps": 60_000},
    ),
    RuleCase(
        "preference-not-learned",
        {"total_loss": lambda i: 0.693 + jitter(i, 0.002)},
        {"total_loss": lambda i: 0.693 - 0.001 * i},
        WATCH,
        family="preference",
    ),
)

LLM_DIAGNOSIS_CASES = (
    RuleCase(
        "reward-hacking",
        {
            "ref_kl_token": lambda i: 0.01 * i,
            "resp_len_mean": lambda i: 100 + 2.0 * i,
            "reward_mean": rising_reward,
            "reward_component_mean{lab/reward-model}": rising_reward,
        },
        {"ref_kl_token": lambda i: 0.01 * i, "reward_mean": rising_reward},
        WATCH,
        family="grpo",
    ),
    RuleCase(
        "no-learning-signal",
        {
            "frac_zero_std": after(10, 1.0, 0.2),
            "grad_norm": after(10, 0.0, 1.0),
            "reward_mean": flat_reward,
        },
        {"frac_zero_std": after(10, 0.9, 0.2), "reward_mean": flat_reward},
        CRIT,
        family="grpo",
    ),
    RuleCase(
        "mismatch-collapse",
        {"logp_diff_mean": after(20, 0.2, 0.01), "entropy": lambda i: 0.5 + 0.01 * i},
        {"logp_diff_mean": after(20, 0.2, 0.01)},
        CRIT,
        family="grpo",
    ),
    RuleCase(
        "runaway-generation",
        {
            "entropy": lambda i: 0.5 * 1.05**i,
            "truncated_frac": lambda i: min(1.0, 0.02 * i),
            "reward_mean": lambda i: (
                rising_reward(i) if i < 30 else max(0.0, rising_reward(30) - 0.05 * (i - 30))
            ),
        },
        {"entropy": lambda i: 0.5 * 1.05**i},
        CRIT,
        family="grpo",
    ),
    RuleCase(
        "sampler-exploited",
        {"ref_kl": lambda i: -0.05 * i, "reward_mean": rising_reward},
        {"ref_kl": lambda i: -0.05 * i, "reward_mean": flat_reward},
        CRIT,
        family="rlhf",
    ),
    RuleCase(
        "kl-controller-saturated",
        {"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": lambda i: 2.0 + 0.4 * i},
        {"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": 4.0},
        WATCH,
        family="rlhf",
        trainer="trl-legacy",
    ),
    RuleCase(
        "kl-penalty-too-strong",
        {"non_score_reward": lambda i: -1.9, "reward_mean": flat_reward},
        {"non_score_reward": lambda i: -1.9, "reward_mean": lambda i: 0.1 * i},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "logprobs-disagree",
        {"ratio_mean": 1.25},
        {"ratio_mean": after(10, 1.25, 1.0)},
        CRIT,
        family="rlhf",
    ),
)

LLM_CASES = (
    *REFERENCE_KL_CASES,
    *GRPO_SIGNAL_CASES,
    *GENERATION_CASES,
    *PREFERENCE_CASES,
    *LLM_DIAGNOSIS_CASES,
)
