"""The KL penalty: its controller, its cost, and what it buys."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.courses import RISES, STILL, after, flat_reward, late, rising_reward
from tests.rules.specification import INFO, WATCH, Boundary, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

PENALTY: DrawnColumns = {"non_score_reward": -0.52, "reward_std": 1.0, **STILL}

CONTROLLED: DrawnColumns = {"kl_coef": lambda i: 0.05 * 1.03 ** max(0, i - 45), "ref_kl": 10.0}
"""A coefficient that begins to rise late."""

PENALTY_AT_TARGET: DrawnColumns = {
    "non_score_reward": -0.52, "reward_std": 1.0, "reward_mean": None, "rlhf_reward": 0.5,
}  # fmt: skip


# fmt: off
class TestKlCoefRising(RuleTests):
    """KL coefficient rising, KL not falling."""

    rule = "kl-coef-rising"
    examples = (
        RuleCase({"kl_coef": lambda i: 0.2 * 1.03**i, "ref_kl": lambda i: 2.0 + 0.2 * i},
            {"kl_coef": lambda i: 0.2 * 0.99**i}, WATCH, family="rlhf", trainer="trl-legacy"),
        Contrast("a KL is logged", {"kl_coef": lambda i: 0.05 * 1.02**i, "ref_kl": 8.0},
            {"ref_kl": None}, WATCH, INFO, family="rlhf"),
        Contrast("the KL does not come down",
            {"kl_coef": lambda i: 0.05 * 1.02**i, "ref_kl": 8.0, **STILL},
            {"ref_kl": lambda i: 8.0 * 0.97**i}, WATCH, INFO, family="rlhf"),
        Contrast("it rose by a fifth in twenty updates",
            {"kl_coef": lambda i: 0.05 * 1.0099 ** max(0, i - 36), "ref_kl": 8.0},
            {"kl_coef": lambda i: 0.05 * 1.0089 ** max(0, i - 36), "ref_kl": 8.0}, WATCH, 0,
            family="rlhf"),
        Contrast("it rose by half in fifty updates",
            {"kl_coef": lambda i: 0.05 * (1.0085**i if i < 52 else 1.0085**52), "ref_kl": 1.0},
            {"kl_coef": lambda i: 0.05 * 1.0080**i, "ref_kl": 1.0}, INFO, 0, family="rlhf"),
        Contrast("the KL does not come down", CONTROLLED,
            {"ref_kl": lambda i: 10.0 - 0.02 * max(0, i - 45)}, WATCH, 0, family="rlhf", count=62),
        Contrast("the KL is no lower than twenty updates ago", CONTROLLED,
            {"ref_kl": after(45, 5.0, 10.0)}, WATCH, 0, family="rlhf", count=62),
    )


class TestKlPenaltyOff(RuleTests):
    """KL penalty vanished."""

    rule = "kl-penalty-off"
    examples = (
        RuleCase({"kl_coef": lambda i: 0.2 * 0.8**i}, {"kl_coef": 0.05}, INFO, family="rlhf"),
        Contrast("it ever was on", {"kl_coef": after(30, 1e-5, 0.05)}, {"kl_coef": 1e-5}, INFO, 0,
            family="rlhf"),
        Boundary("low", late("kl_coef", 0.05), Severity.INFO, -1, "rlhf"),
    )


class TestKlPenaltyDominates(RuleTests):
    """KL penalty dominates the reward."""

    rule = "kl-penalty-dominates"
    examples = (
        RuleCase({"non_score_reward": lambda i: -1.9, "reward_mean": flat_reward},
            {"non_score_reward": lambda i: -0.1, "reward_mean": flat_reward}, WATCH, family="rlhf"),
        Contrast("a score is logged", PENALTY, {"reward_mean": None}, WATCH, 0, family="rlhf"),
        Contrast("it costs half a standard deviation",
            {"non_score_reward": -0.52, "reward_std": 1.0, **STILL}, {"non_score_reward": -0.48},
            WATCH, 0, family="rlhf"),
        Contrast("it is a cost", {"non_score_reward": -1.9, **STILL}, {"non_score_reward": 1.9},
            WATCH, 0, family="rlhf"),
        Contrast("the score ever differs",
            {"non_score_reward": -0.5, "reward_std": None, "reward_mean": flat_reward},
            {"reward_mean": 0.0}, WATCH, 0, family="rlhf"),
        Contrast("the score gained more", {"non_score_reward": -0.52, "reward_std": 1.0, **STILL},
            {"reward_mean": lambda i: 0.2 + 0.05 * i}, WATCH, 0, family="rlhf"),
        Contrast("the cost is counted a token",
            {"non_score_reward": -0.0103, "reward_std": 1.0, "resp_len_mean": 50.0, **STILL},
            {"non_score_reward": -0.0097}, WATCH, 0, family="rlhf", trainer="trl-legacy"),
        Contrast("the reward before the penalty is logged", {**PENALTY_AT_TARGET, **STILL},
            {"reward_mean": None}, WATCH, 0, family="rlhf"),
        Contrast("any reward is logged", {**PENALTY_AT_TARGET, **STILL},
            {"reward_mean": None, "rlhf_reward": None}, WATCH, 0, family="rlhf"),
    )


class TestRlhfRewardFalls(RuleTests):
    """KL-penalised reward not rising."""

    rule = "rlhf-reward-falls"
    examples = (
        RuleCase({"rlhf_reward": lambda i: 0.5 - 0.03 * i + jitter(i, 0.02),
            "reward_mean": rising_reward},
            {"rlhf_reward": lambda i: 0.5 + jitter(i, 0.02), "reward_mean": rising_reward}, WATCH,
            family="rlhf"),
        Contrast("a score is logged", {"rlhf_reward": lambda i: 2 - 0.05 * i + jitter(i, 0.05)},
            {"reward_mean": None}, WATCH, 0, family="rlhf"),
        Contrast("it falls", {"reward_mean": lambda i: 0.2 + 0.05 * i + jitter(i, 0.05),
            "rlhf_reward": lambda i: 2 - 0.05 * i + jitter(i, 0.05)},
            {"rlhf_reward": lambda i: 0.2 + 0.05 * i + jitter(i, 0.05)}, WATCH, 0, family="rlhf"),
        Contrast("it falls by more than chance",
            {"rlhf_reward": lambda i: 2 - 0.05 * i + gauss(i, 0.1), **STILL},
            {"rlhf_reward": lambda i: 2 + gauss(i, 1.0)}, WATCH, 0, family="rlhf"),
        Contrast("the score was gained in vain", {**RISES, "rlhf_reward": 0.3}, STILL, WATCH, 0,
            family="rlhf", count=90),
        Contrast("it falls by more than noise", {**STILL, "rlhf_reward": lambda i: 2.0 - 0.05 * i},
            {"rlhf_reward": lambda i: 2.0 - 0.0005 * i}, WATCH, 0, family="rlhf"),
        Contrast("it has not risen with the score", {**RISES, "rlhf_reward": 0.3},
            {"rlhf_reward": lambda i: 0.1 + 0.011 * i + jitter(i, 0.02)}, WATCH, 0, family="rlhf",
            count=90),
    )
