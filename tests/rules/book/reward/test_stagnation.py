"""Rewards that get nowhere: a plateau, or swings without a trend."""

from __future__ import annotations

from tests.rules.courses import after, settled, swinging
from tests.rules.specification import INFO, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, gauss, jitter


def until_row(row: int) -> DrawnColumns:
    """A reward that rises up to a row, and then stays."""
    return {"reward_mean": lambda i: 20.0 + 2.0 * min(i, row) + jitter(i, 3)}


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
        Contrast("a rate that follows the KL may rise again", {"reward_mean": settled,
            "lr": lambda i: 1e-3 if i == 0 else 0.97e-5}, {}, INFO, WATCH, trainer="rsl_rl",
            otherwise_trainer="sb3"),
        Contrast("a tenth of the first entropy is left",
            {"reward_mean": lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02),
            "entropy": after(40, 0.097, 1.0)}, {"entropy": after(40, 0.103, 1.0)}, WATCH, INFO,
            family="grpo", count=120),
        Contrast("most of the gain is kept", {"reward_mean": settled},
            {"reward_mean": lambda i: settled(i) if i < 30 else 60.0 + jitter(i, 3)}, INFO, 0),
        Contrast("there is more to get", {"reward_mean": settled}, {}, INFO, 0,
            differs_config={"reward_threshold": 140.0}),
        Contrast("the last quarter of the run is no higher than the one before", until_row(80),
            until_row(112), INFO, 0, count=160),
        Contrast("updates have stopped to change anything", {"reward_mean": settled,
            "approx_kl": after(25, 1e-8, 0.01), "clip_fraction": after(25, 0.0, 0.1)},
            {"approx_kl": 0.01}, WATCH, INFO, count=120),
    )


class TestRewardSwings(RuleTests):
    """Reward oscillating."""

    rule = "reward-swings"
    examples = (
        RuleCase({"reward_mean": lambda i: swinging(i, 40.0)},
            {"reward_mean": lambda i: swinging(i, 160.0)}),
        Contrast("levels go up and down by most of their size, where nothing was gained",
            {"reward_mean": lambda i: 40.0 + gauss(i, 60.0)},
            {"reward_mean": lambda i: 400.0 + gauss(i, 60.0)}, WATCH, 0),
    )
