"""Diagnoses for language models: reward hacking, runaway text, no signal, sampler mismatch."""

from __future__ import annotations

from tests.rules.courses import FALLS, GAINS, RISES, STILL, after, flat_reward, rising_reward
from tests.rules.specification import CRIT, WARN, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, jitter

SPREAD_GONE: DrawnColumns = {
    "frac_zero_std": None, "reward_std": after(30, 0.01, 1.0), "grad_norm": after(30, 1e-9, 0.8),
}  # fmt: skip

HACKS: DrawnColumns = {"ref_kl": lambda i: 1 + 0.2 * i, "resp_len_mean": after(30, 80.0, 50.0)}

LONGER: DrawnColumns = {"resp_len_mean": after(25, 66.0, 50.0), "value_clip_fraction": 0.5}
"""Text becomes longer, and something else is remarked on."""


# fmt: off
class TestRewardHacking(RuleTests):
    """Possible reward hacking."""

    rule = "reward-hacking"
    examples = (
        RuleCase({"ref_kl_token": lambda i: 0.01 * i, "resp_len_mean": lambda i: 100 + 2.0 * i,
            "reward_mean": rising_reward, "reward_component_mean{lab/reward-model}": rising_reward},
            {"ref_kl_token": lambda i: 0.01 * i, "reward_mean": rising_reward}, WATCH,
            family="grpo"),
        Contrast("the length is logged for 25 updates",
            {"ref_kl": lambda i: 1 + 0.2 * i, "resp_len_mean": after(30, 80.0, 50.0)},
            {"resp_len_mean": lambda i: None if i < 40 else 50.0 if i < 46 else 80.0}, WATCH, 0,
            family="rlhf"),
        Contrast("reward was gained", {**HACKS, **GAINS}, STILL, WATCH, 0, family="rlhf"),
        Contrast("the KL is high, though it climbs no more", {**HACKS, **RISES, "ref_kl": 15.0},
            {"ref_kl": 5.0}, WATCH, 0, family="rlhf"),
        Contrast("a KL below ten nats rises", {"ref_kl": lambda i: 1 + 0.1 * i, **LONGER},
            {"ref_kl": 1.0}, WATCH, 0, family="rlhf"),
        Contrast("a KL below ten nats is logged for 25 updates",
            {"ref_kl": lambda i: 1 + 0.1 * i if i >= 30 else None, **LONGER},
            {"ref_kl": lambda i: 1 + 0.1 * i if i >= 37 else None}, WATCH, 0, family="rlhf"),
        Contrast("text had any length at the start", {"ref_kl": lambda i: 1 + 0.3 * i, **LONGER},
            {"resp_len_mean": after(25, 66.0, 0.0)}, WATCH, 0, family="rlhf"),
        Contrast("the reward rises, though it has not gained much yet",
            {"ref_kl": lambda i: 1 + 0.3 * i, **LONGER,
            "reward_mean": lambda i: 0.5 + 0.01 * max(0, i - 40) + jitter(i, 0.02)}, STILL, WATCH,
            0, family="rlhf"),
        Contrast("the length changed by three tenths",
            {"ref_kl": lambda i: 1 + 0.3 * i, "resp_len_mean": after(25, 66.0, 50.0)},
            {"resp_len_mean": after(25, 64.0, 50.0)}, WATCH, 0, family="rlhf"),
        Contrast("the KL rises with it",
            {"ref_kl": lambda i: 1 + 0.3 * i, "resp_len_mean": after(25, 66.0, 50.0)},
            {"ref_kl": 1.0}, WATCH, 0, family="rlhf"),
        Contrast("a model rewards: longer answers that rules reward are reasoning",
            {"ref_kl_token": lambda i: 0.01 * i, "resp_len_mean": lambda i: 100.0 + 5.0 * i,
            **RISES, "reward_component_mean{reward-model}": 0.5},
            {"reward_component_mean{reward-model}": None, "reward_component_mean{accuracy}": 0.5},
            WATCH, 0, family="grpo"),
        Contrast("what was gained is kept", {"ref_kl": lambda i: 1 + 0.3 * i,
            "resp_len_mean": after(25, 66.0, 50.0), "reward_mean": lambda i: 0.1 * min(i, 35)},
            {"reward_mean": lambda i: 0.1 * i if i < 25 else 0.0}, WATCH, 0, family="rlhf"),
        Contrast("reward is gained",
            {"ref_kl": lambda i: 1 + 0.3 * i, "resp_len_mean": after(25, 66.0, 50.0)}, STILL, WATCH,
            0, family="rlhf"),
        Contrast("the reward has risen", {"ref_kl": lambda i: 0.5 + 0.4 * i,
            "resp_len_mean": lambda i: 50.0 + 4.0 * i, "reward_mean": lambda i: 0.1 * min(i, 35)},
            {"reward_mean": 1.0}, WATCH, 0, family="rlhf"),
        Contrast("answers that rules reward grow far from the reference",
            {"ref_kl_token": None, "ref_kl": lambda i: 1.0 + 0.5 * i, **RISES,
            "resp_len_mean": after(25, 80.0, 50.0)}, {"ref_kl": lambda i: 1.0 + 0.1 * i},
            WATCH, 0, family="grpo"),
    )


class TestNoLearningSignal(RuleTests):
    """No learning signal."""

    rule = "no-learning-signal"
    examples = (
        RuleCase({"frac_zero_std": after(10, 1.0, 0.2), "grad_norm": after(10, 0.0, 1.0),
            "reward_mean": flat_reward},
            {"frac_zero_std": after(10, 0.9, 0.2), "reward_mean": flat_reward}, CRIT,
            family="grpo"),
        Contrast("the gradient is a hundredth", SPREAD_GONE, {"grad_norm": 0.8}, CRIT, 0,
            family="grpo"),
        Contrast("a gradient is logged", SPREAD_GONE, {"grad_norm": None}, CRIT, 0, family="grpo"),
        Contrast("the gradient ever was more", SPREAD_GONE, {"grad_norm": 0.0}, CRIT, 0,
            family="grpo"),
        Contrast("nothing tells how many groups tie", SPREAD_GONE, {"frac_zero_std": 0.2}, CRIT, 0,
            family="grpo"),
        Contrast("the gradient ever was more than nothing", {"frac_zero_std": None,
            "reward_std": after(30, 0.01, 1.0), "grad_norm": after(30, 1e-9, 0.8)},
            {"grad_norm": 0.0}, CRIT, 0, family="grpo"),
        Contrast("all groups tie", {"frac_zero_std": 1.0, **STILL}, {"frac_zero_std": 0.95}, CRIT,
            0, family="grpo"),
        Contrast("most is still to be learned", {"frac_zero_std": after(60, 1.0, 0.9),
            "reward_mean": lambda i: min(0.85, 0.02 * i) + jitter(i, 0.01)},
            {"reward_mean": lambda i: min(0.95, 0.02 * i) + jitter(i, 0.01)}, CRIT, WATCH,
            family="grpo", count=80),
        Contrast("groups tie though answers are right now and then",
            {"frac_zero_std": 1.0, "grad_norm": None, **STILL},
            {"reward_mean": lambda i: 0.05 + jitter(i, 0.02)}, CRIT, WARN, family="grpo", count=45),
    )


class TestMismatchCollapse(RuleTests):
    """Collapse from sampler mismatch."""

    rule = "mismatch-collapse"
    examples = (
        RuleCase({"logp_diff_mean": after(20, 0.2, 0.01), "entropy": lambda i: 0.5 + 0.01 * i},
            {"logp_diff_mean": after(20, 0.2, 0.01)}, CRIT, family="grpo"),
        Contrast("gradients treble", {"logp_diff_mean": after(30, 0.3, 0.01),
            "grad_norm": lambda i: 0.8 * 1.15 ** max(0, i - 30)}, {"grad_norm": 0.8}, CRIT, 0,
            family="grpo"),
        Contrast("the reward falls", {"logp_diff_mean": 0.5, "is_ratio_mean": 0.3, **FALLS}, RISES,
            CRIT, 0, family="grpo"),
    )


class TestRunawayGeneration(RuleTests):
    """Runaway generation."""

    rule = "runaway-generation"
    examples = (
        RuleCase({"entropy": lambda i: 0.5 * 1.05**i,
            "truncated_frac": lambda i: min(1.0, 0.02 * i),
            "reward_mean": lambda i: (rising_reward(i) if i < 30 else max(0.0, rising_reward(30) -
                0.05 * (i - 30)) )}, {"entropy": lambda i: 0.5 * 1.05**i}, CRIT, family="grpo"),
        Contrast("ever more of the text is cut, though not most", {"entropy": after(30, 3.0, 0.6),
            "truncated_frac": lambda i: 0.05 + 0.004 * i, **FALLS}, {"truncated_frac": 0.05}, CRIT,
            0, family="grpo"),
        Contrast("most of the text has been cut for long",
            {"entropy": after(35, 3.0, 0.6), "truncated_frac": after(15, 0.9, 0.05), **FALLS},
            {"truncated_frac": 0.05}, CRIT, 0, family="grpo"),
        Contrast("gradients treble where the reward does not fall", {"entropy": after(30, 3.0, 0.6),
            "truncated_frac": after(30, 0.6, 0.05), **STILL,
            "grad_norm": lambda i: 0.8 * 1.15 ** max(0, i - 30)}, {"grad_norm": 0.8}, CRIT, 0,
            family="grpo"),
        Contrast("more than a tenth of the text is cut", {"entropy": after(30, 3.0, 0.6), **FALLS,
            "truncated_frac": lambda i: 0.05 + 0.002 * max(0, i - 25)},
            {"truncated_frac": lambda i: 0.02 + 0.002 * max(0, i - 25)}, CRIT, 0, family="grpo",
            count=60),
        Contrast("the text runs to the limit",
            {"entropy": after(30, 3.0, 0.6), "truncated_frac": after(30, 0.6, 0.05), **FALLS},
            {"truncated_frac": 0.05}, CRIT, 0, family="grpo"),
        Contrast("the reward falls",
            {"entropy": after(30, 3.0, 0.6), "truncated_frac": after(30, 0.6, 0.05), **FALLS},
            RISES, CRIT, 0, family="grpo"),
    )
