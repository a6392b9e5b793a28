"""Entropy and action std that rise, shrink out of bounds, or oscillate."""

from __future__ import annotations

from tests.rules.courses import (
    AT_500,
    FLAT,
    NOWHERE,
    PERFECT,
    after,
    back,
    flat,
    jumped_thrice,
    learned,
    rise,
    steady_gain,
)
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter

SWINGING: DrawnColumns = {"entropy": lambda i: 0.65 if i % 4 < 2 else 0.2, "policy_std": None}


# fmt: off
class TestEntropyExplodes(RuleTests):
    """Entropy rising."""

    rule = "entropy-explodes"
    examples = (
        RuleCase({"entropy": lambda i: 0.5 * 1.04**i, "truncated_frac": lambda i: 0.02 * i},
            {"entropy": lambda i: 0.5 + 0.002 * i}, WATCH, family="grpo", count=90),
        Contrast("it is a quarter above its start and trebled soon after",
            {"entropy": after(10, 3.09, 1.0), "reward_mean": 0.5},
            {"entropy": after(10, 2.91, 1.0), "reward_mean": 0.5}, WATCH, 0, family="grpo"),
        Contrast("there is any to speak of", {"entropy": after(30, 0.0123, 0.002), **FLAT},
            {"entropy": after(30, 0.0117, 0.002)}, WATCH, 0, family="grpo"),
        Contrast("it climbed by half of its start",
            {"entropy": lambda i: 1.0 + 0.022 * i, "reward_mean": 0.5},
            {"entropy": lambda i: 1.0 + 0.018 * i}, WATCH, 0, family="grpo"),
        Clearing("clear", back("entropy", 1.0, 4.0, reward_mean=0.5), family="grpo"),
    )


class TestActionSpread(RuleTests):
    """Action std far too large."""

    rule = "action-spread"
    examples = (
        RuleCase({"policy_std": lambda i: 1.0 + 0.1 * i, "reward_mean": flat},
            {"policy_std": lambda i: 1.0 - 0.01 * i, "reward_mean": flat}),
        Contrast("the reward is below its ceiling", {"policy_std": after(30, 4.0, 1.0), **FLAT},
            {"reward_mean": 500.0}, WARN, 0, config={"reward_threshold": 500.0}),
        Contrast("it is still large", {**FLAT, "policy_std": lambda i: jumped_thrice(i, 50.0)},
            {"policy_std": lambda i: jumped_thrice(i, 1.0)}, CRIT, 0, count=215,
            log=AT_LAST),
        Contrast("the reward rises", {"policy_std": after(30, 4.0, 1.0), **FLAT},
            {"reward_mean": steady_gain}, WARN, 0),
        Boundary("times", lambda x: {"policy_std": after(30, x, 1.0), **FLAT}, WARN),
        Boundary("crit_times", lambda x: {"policy_std": after(30, x, 1.0), **FLAT}, CRIT),
    )


class TestActionSpreadGone(RuleTests):
    """Action std gone."""

    rule = "action-spread-gone"
    examples = (
        RuleCase({"policy_std": lambda i: 0.9**i, "reward_mean": flat},
            {"policy_std": lambda i: 0.95**i, "reward_mean": flat}),
        Contrast("a reward is logged that is flat", {"policy_std": after(30, 0.01, 1.0), **FLAT},
            NOWHERE, WARN, 0),
        Contrast("the reward is below its ceiling", {"policy_std": after(30, 0.01, 1.0), **FLAT},
            {"reward_mean": 500.0}, WARN, 0, config={"reward_threshold": 500.0}),
        Contrast("the reward is flat", {"policy_std": after(30, 0.01, 1.0), **FLAT},
            {"reward_mean": steady_gain}, WARN, 0),
        Boundary("share", lambda x: {"policy_std": after(30, x, 1.0), **FLAT}, WARN, -1),
    )


class TestActionNoiseGrowing(RuleTests):
    """Action noise only growing."""

    rule = "action-noise-growing"
    examples = (
        RuleCase({"entropy": lambda i: 8.51 + 0.05 * i + jitter(i, 0.02), "reward_mean": flat},
            {"entropy": lambda i: 8.51 + 0.013 * i + jitter(i, 0.02), "reward_mean": flat}),
        Contrast("nothing is known of a discrete policy",
            {"entropy": lambda i: 1.4189 + 0.02 * i, "policy_std": 1.0, **FLAT},
            {"policy_std": None, "entropy": lambda i: 0.69 + 0.02 * i}, WARN, 0),
        Contrast("nothing is gained by it",
            {"policy_std": 1.0, "entropy": lambda i: 8.51 + 0.05 * i, **FLAT},
            {"reward_mean": steady_gain}, WARN, 0),
        Contrast("the reward is not the most there is",
            {"policy_std": 1.0, "entropy": lambda i: 8.51 + 0.05 * i, **PERFECT}, {}, WARN, 0,
            differs_config=AT_500),
        Contrast("it grew by half a nat",
            {"entropy": lambda i: 1.4189 + 0.0104 * i, "policy_std": 1.0, **FLAT},
            {"entropy": lambda i: 1.4189 + 0.0078 * i}, WARN, 0),
        Contrast("it only rises",
            {"entropy": lambda i: 1.4189 + 0.02 * i, "policy_std": 1.0, **FLAT},
            {"entropy": lambda i: 1.4189 + 0.02 * i + jitter(i, 1.0)}, WARN, 0),
        Contrast("reward was gained by it",
            {"entropy": lambda i: 1.4189 + 0.02 * i, "policy_std": 1.0, **FLAT},
            {"reward_mean": learned}, WARN, 0),
    )


class TestEntropyConstant(RuleTests):
    """Entropy never changes."""

    rule = "entropy-constant"
    examples = (
        RuleCase({"entropy": 0.6931471, "reward_mean": flat, "ep_len": flat},
            {"entropy": lambda i: 0.6931471 - 3e-6 * (i % 9), "reward_mean": flat, "ep_len": flat}),
        Contrast("a reward is logged that is flat", {"entropy": 1.234567, **FLAT}, NOWHERE, WARN,
            0),
        Contrast("it is the same to five digits",
            {"entropy": lambda i: 1.234567 * (1 + 0.9e-5 * (i % 2)), **FLAT},
            {"entropy": lambda i: 1.234567 * (1 + 1.1e-5 * (i % 2))}, WARN, 0),
        Contrast("it is rounded", {"entropy": 1.234567, **FLAT}, {"entropy": 1.2345}, WARN, 0),
        Contrast("reward was gained", {"entropy": 1.234567, **FLAT}, {"reward_mean": learned}, WARN,
            0),
        Contrast("thirty updates are alike",
            {"entropy": lambda i: 0.5 if i < 25 else 1.234567, **FLAT},
            {"entropy": lambda i: 0.5 if i < 31 else 1.234567}, WARN, 0),
    )


class TestEntropySwings(RuleTests):
    """Entropy oscillating."""

    rule = "entropy-swings"
    examples = (
        RuleCase({"entropy": lambda i: 0.65 if i % 4 < 2 else 0.2},
            {"entropy": lambda i: 0.65 if i % 4 < 2 else 0.5}),
        Contrast("actions are discrete", SWINGING, {"policy_std": 1.0}, WARN, 0),
        Contrast("it goes on", SWINGING,
            {"entropy": lambda i: 0.65 if i % 4 < 2 or i > 30 else 0.2}, WARN, 0, log=AT_LAST),
        Contrast("it turned twice in the last twenty updates",
            {"entropy": lambda i: 0.65 if i % 4 < 2 or i > 44 else 0.2},
            {"entropy": lambda i: 0.65 if i % 4 < 2 or i > 38 else 0.2}, WARN, 0, log=AT_LAST),
        Contrast("it turns four times in twenty updates",
            {"entropy": lambda i: 1.0 - 0.5 * (i // 4 % 2)},
            {"entropy": lambda i: 1.0 - 0.5 * (i // 8 % 2)}, WARN, 0),
        Contrast("each way is three tenths of the first",
            {"entropy": lambda i: 1.0 - 0.31 * (i // 4 % 2)},
            {"entropy": lambda i: 1.0 - 0.29 * (i // 4 % 2)}, WARN, 0),
        Contrast("a policy that has learned is not certain yet",
            {"entropy": lambda i: 1.0 if i < 3 else 0.1 + 0.5 * (i % 5 < 3)},
            {"entropy": lambda i: 1.0 if i < 3 else 0.1 + 0.5 * (i % 5 < 1)}, WARN, WATCH),
        Contrast("nothing was learned by a policy that is certain",
            {"entropy": lambda i: 1.0 if i < 3 else 0.1 + 0.5 * (i % 5 < 1), **FLAT},
            {"reward_mean": rise}, WARN, WATCH),
        Contrast("each way is a fifth of a nat", {"entropy": lambda i: 0.6 - 0.206 * (i // 4 % 2)},
            {"entropy": lambda i: 0.6 - 0.194 * (i // 4 % 2)}, WARN, 0),
    )
