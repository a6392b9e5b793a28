"""Diagnoses around the KL to the reference: sampler, controller, penalty, old log-probs."""

from __future__ import annotations

from tests.rules.courses import STILL, after, flat_reward, rising_reward
from tests.rules.specification import CRIT, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import jitter


# fmt: off
class TestSamplerExploited(RuleTests):
    """Reward gain may be a sampler-mismatch artefact."""

    rule = "sampler-exploited"
    examples = (
        RuleCase({"ref_kl": lambda i: -0.05 * i, "reward_mean": rising_reward},
            {"ref_kl": lambda i: -0.05 * i, "reward_mean": flat_reward}, CRIT, family="rlhf"),
        Contrast("the reward rises", {"ref_kl": after(20, -2.0, 0.1)}, STILL, CRIT, 0,
            family="rlhf"),
    )


class TestKlControllerSaturated(RuleTests):
    """KL controller saturated."""

    rule = "kl-controller-saturated"
    examples = (
        RuleCase({"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": lambda i: 2.0 + 0.4 * i},
            {"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": 4.0}, WATCH, family="rlhf",
            trainer="trl-legacy"),
        Contrast("the KL is high",
            {"kl_coef": lambda i: 0.05 * 1.02**i, "ref_kl": 15.0, "resp_len_mean": None},
            {"ref_kl": 9.0}, WATCH, 0, family="rlhf"),
    )


class TestKlPenaltyTooStrong(RuleTests):
    """KL penalty too strong."""

    rule = "kl-penalty-too-strong"
    examples = (
        RuleCase({"non_score_reward": lambda i: -1.9, "reward_mean": flat_reward},
            {"non_score_reward": lambda i: -1.9, "reward_mean": lambda i: 0.1 * i}, WATCH,
            family="rlhf"),
        Contrast("the score is flat", {"non_score_reward": -0.6, "reward_std": 1.0, **STILL},
            {"reward_mean": lambda i: 0.2 + 0.006 * i + jitter(i, 0.02)}, WATCH, 0, family="rlhf"),
    )


class TestLogprobsDisagree(RuleTests):
    """Log-prob mismatch from the start."""

    rule = "logprobs-disagree"
    examples = (
        RuleCase({"ratio_mean": 1.25}, {"ratio_mean": after(10, 1.25, 1.0)}, CRIT, family="rlhf"),
        Contrast("no update of such a rate moves it", {"ratio_mean": 1.25, "lr": 9.5e-4},
            {"lr": 1.05e-3}, CRIT, 0, family="rlhf"),
    )
