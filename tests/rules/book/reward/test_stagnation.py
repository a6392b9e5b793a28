"""Rewards that get nowhere: a plateau, or swings without a trend."""

from __future__ import annotations

from tests.rules.courses import after, settled, swinging
from tests.rules.specification import INFO, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import jitter


# fmt: off
class TestRewardPlateau(RuleTests):
    """Reward plateau."""

    rule = "reward-plateau"
    examples = (
        RuleCase({"reward_mean": settled}, {"reward_mean": lambda i: 20 + 6.0 * i}, INFO),
        Contrast("more than four fifths of the groups tie",
            {"reward_mean": lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02), "frac_zero_std": 0.82},
            {"frac_zero_std": 0.78}, WATCH, INFO, family="grpo", count=120),
        Contrast("the learning rate has all but run out",
            {"reward_mean": lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02),
            "lr": lambda i: 1e-6 if i == 0 else 0.97e-8},
            {"lr": lambda i: 1e-6 if i == 0 else 1.03e-8}, WATCH, INFO, family="grpo", count=120),
        Contrast("a tenth of the first entropy is left",
            {"reward_mean": lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02),
            "entropy": after(40, 0.097, 1.0)}, {"entropy": after(40, 0.103, 1.0)}, WATCH, INFO,
            family="grpo", count=120),
    )


class TestRewardSwings(RuleTests):
    """Reward oscillating."""

    rule = "reward-swings"
    examples = (
        RuleCase({"reward_mean": lambda i: swinging(i, 40.0)},
            {"reward_mean": lambda i: swinging(i, 160.0)}),
    )
