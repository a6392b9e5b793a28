"""The size of updates: KL to the old policy, and clip fraction."""

from __future__ import annotations

from tests.rules.courses import after, at, back, fallen, late, rise, spike, within
from tests.rules.specification import (
    CRIT,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns

ALTERNATING: DrawnColumns = {"clip_fraction": lambda i: 0.45 if i % 3 == 1 else None,
    "clip_range": 0.1}  # fmt: skip
"""Clip fractions of which the KL is logged in another row."""


# fmt: off
class TestKlHigh(RuleTests):
    """Update KL too high."""

    rule = "kl-high"
    examples = (
        RuleCase({"approx_kl": after(30, 0.45, 0.01)},
            {"approx_kl": lambda i: 0.035 if i % 10 == 0 else 0.015}, CRIT),
        Contrast("something gets worse",
            {"approx_kl": after(30, 0.05, 0.01), "reward_mean": fallen}, {"reward_mean": rise},
            WARN, WATCH),
        Contrast("much is clipped too",
            {"approx_kl": after(30, 0.05, 0.01), "clip_fraction": after(30, 0.41, 0.1)},
            {"clip_fraction": after(30, 0.39, 0.1)}, WARN, WATCH),
        Contrast("it is three times the critical limit", {"approx_kl": after(30, 0.31, 0.01)},
            {"approx_kl": after(30, 0.29, 0.01)}, CRIT, WARN),
        Contrast("a first update is more than large", {"approx_kl": within(0, 2, 2.1, 0.01)},
            {"approx_kl": within(0, 2, 1.9, 0.01)}, CRIT, 0),
        Contrast("it is the third update or the fourth", {"approx_kl": within(3, 3, 1.1, 0.01)},
            {"approx_kl": within(2, 2, 1.1, 0.01)}, CRIT, 0),
        Contrast("the user's KL target allows it", {"approx_kl": after(30, 0.058, 0.01)}, {}, WATCH,
            0, differs_config={"target_kl": 0.04}),
        Contrast("it is one and a half times the KL target", {"approx_kl": after(30, 0.062, 0.01)},
            {"approx_kl": after(30, 0.058, 0.01)}, WATCH, 0, config={"target_kl": 0.04}),
        Contrast("it is beyond three times the KL target", {"approx_kl": after(30, 0.123, 0.01)},
            {"approx_kl": after(30, 0.117, 0.01)}, WARN, WATCH, config={"target_kl": 0.04}),
        Contrast("a KL target is for policies without language only",
            {"approx_kl": after(30, 0.12, 0.01)}, {"approx_kl": after(30, 0.09, 0.01)}, WATCH, 0,
            family="rlhf", config={"target_kl": 0.1}),
        Contrast("nine of ten k1 estimates go one way",
            {"approx_kl": None, "approx_kl_k1": lambda i: 0.12 if i % 5 < 3 else -0.12},
            {"approx_kl_k1": lambda i: 0.12 if i % 2 else -0.09 * (i % 4 == 0)}, WATCH, 0,
            family="rlhf"),
        Contrast("a controller holds the KL to four times its usual target",
            {"approx_kl": after(30, 0.0412, 0.01)}, {"approx_kl": after(30, 0.0388, 0.01)}, WATCH,
            0, trainer="rllib"),
        Contrast("a controller holds the KL to ten times its usual target",
            {"approx_kl": after(30, 0.103, 0.01)}, {"approx_kl": after(30, 0.097, 0.01)}, WARN,
            WATCH, trainer="rllib"),
        Contrast("a controller's target is set", {"approx_kl": after(30, 0.0824, 0.01)},
            {"approx_kl": after(30, 0.0776, 0.01)}, WATCH, 0, trainer="rllib",
            config={"target_kl": 0.02}),
        Boundary("warn", late("approx_kl", 0.01), WATCH),
        Boundary("warn", late("approx_kl", 0.01, policy_loss=0.05), WARN),
        Boundary("crit", late("approx_kl", 0.01), WARN),
        Boundary("crit", late("approx_kl", 0.01, policy_loss=0.05), CRIT),
        Boundary("once", lambda x: {"approx_kl": lambda i: x if i == 40 else 0.01}, CRIT),
        Boundary("warn", late("approx_kl", 0.01), WATCH, family="rlhf", scope="rlhf"),
        Boundary("warn", late("approx_kl", 0.01), WATCH, family="grpo", scope="grpo"),
        Boundary("crit", late("approx_kl", 0.01), WARN, family="rlhf", scope="rlhf"),
        Contrast("of two estimates the one that is never negative counts",
            {"approx_kl": 0.5, "approx_kl_k1": 0.01}, {"approx_kl": 0.01, "approx_kl_k1": 0.5},
            CRIT, 0),
        Contrast("of two estimates of a language model's critic the higher counts",
            {"approx_kl": 0.01, "approx_kl_k1": 2.0}, {"approx_kl_k1": 0.01}, CRIT, 0,
            family="rlhf"),
    )


class TestKlSpike(RuleTests):
    """KL spike."""

    rule = "kl-spike"
    examples = (
        RuleCase({"approx_kl": lambda i: 0.08 if i == 40 else 0.01},
            {"approx_kl": lambda i: 0.028 if i == 40 else 0.005}, WATCH),
        Contrast("it is the twelfth value", {"approx_kl": at(11, 0.08, 0.01)},
            {"approx_kl": at(10, 0.08, 0.01)}, WATCH, 0),
        Contrast("the twenty before it were small",
            {"approx_kl": lambda i: 0.09 if i == 40 else 0.01 if i > 29 else 0.028},
            {"approx_kl": lambda i: 0.09 if i == 40 else 0.01 if i > 30 else 0.028}, WATCH, 0),
        Contrast("it is already called too high", {"approx_kl": at(40, 0.9, 0.029)},
            {"approx_kl": at(40, 0.9, 0.031)}, WATCH, 0),
        Boundary("times", spike("approx_kl", 0.012), WATCH, step=0.3),
    )


class TestClipHigh(RuleTests):
    """Clip fraction too high."""

    rule = "clip-high"
    examples = (
        RuleCase({"clip_fraction": after(30, 0.42, 0.1)},
            {"clip_fraction": lambda i: 0.4 if i % 9 == 0 else 0.18}),
        Contrast("a KL of the row before counts",
            {**ALTERNATING, "approx_kl": lambda i: 0.01 if i % 3 == 2 else None},
            {"approx_kl": lambda i: 0.01 if i % 3 == 0 else None}, WARN, WATCH),
        Contrast("the policy moves at all", {"clip_fraction": 1.0, "approx_kl": -1.1e-5},
            {"approx_kl": -0.9e-5}, CRIT, WATCH),
        Contrast("it is ten times the run's own share", {"clip_fraction": after(40, 0.103, 0.0100)},
            {"clip_fraction": after(40, 0.103, 0.0107)}, WATCH, 0, family="grpo"),
        Contrast("there are thirty updates to compare with",
            {"clip_fraction": after(30, 0.103, 0.01)}, {"clip_fraction": after(22, 0.103, 0.01)},
            WATCH, 0, family="grpo", count=34, otherwise_count=27),
        Contrast("anything was clipped before", {"clip_fraction": after(40, 0.103, 0.001)},
            {"clip_fraction": after(40, 0.103, 0.0)}, WATCH, 0, family="grpo"),
        Contrast("something gets worse",
            {"clip_fraction": after(30, 0.35, 0.1), "approx_kl": 0.03, "reward_mean": fallen},
            {"reward_mean": rise}, WARN, WATCH),
        Contrast("a narrow clip range explains it", {"clip_fraction": 0.45, "clip_range": 0.2},
            {"clip_range": 0.1}, WARN, WATCH),
        Contrast("the clip range is narrower than 0.15",
            {"clip_fraction": 0.45, "clip_range": 0.155}, {"clip_range": 0.145}, WARN, WATCH),
        Contrast("the KL is small where the clip range is narrow",
            {"clip_fraction": 0.45, "clip_range": 0.1, "approx_kl": 0.0205}, {"approx_kl": 0.0195},
            WARN, WATCH),
        Contrast("a KL is logged where the clip range is narrow",
            {"clip_fraction": 0.45, "clip_range": 0.1, "approx_kl": None}, {"approx_kl": 0.01},
            WARN, WATCH),
        Contrast("the KL of an update is no estimate below zero",
            {"clip_fraction": 0.45, "clip_range": 0.1, "approx_kl": -0.001}, {"approx_kl": 0.001},
            WARN, WATCH),
        Contrast("more than four fifths hit a narrow range",
            {"clip_fraction": 0.82, "clip_range": 0.1}, {"clip_fraction": 0.78}, CRIT, WATCH),
        Contrast("half is clipped by a range nobody knows",
            {"clip_fraction": 0.51, "clip_range": None}, {"clip_fraction": 0.49}, CRIT, WATCH),
        Contrast("the reward falls although a range is narrow",
            {"clip_fraction": after(36, 0.45, 0.1), "clip_range": 0.1, "reward_mean": fallen},
            {"reward_mean": rise}, WARN, WATCH),
        Contrast("a narrow range is a language model's", {"clip_fraction": 0.45, "clip_range": 0.1},
            {"clip_fraction": 0.21}, WARN, 0, family="rlhf"),
        Contrast("half of all tokens are clipped, where completions as a whole may be",
            {"clip_fraction": 0.6, "clip_range": 0.2, "reward_mean": rise}, {"clip_range": None},
            CRIT, WARN, family="grpo"),
        Contrast("half is clipped by a range nobody knows, and something gets worse",
            {"clip_fraction": after(30, 0.6, 0.05), "clip_range": None, "reward_mean": fallen},
            {"reward_mean": rise}, CRIT, WARN, family="grpo"),
        Contrast("both sides together are clipped",
            {"clip_fraction": None, "clip_low": 0.10, "clip_high": 0.06}, {"clip_low": 0.08}, WATCH,
            0, family="grpo"),
        Contrast("only one side is logged",
            {"clip_fraction": None, "clip_low": None, "clip_high": 0.155}, {"clip_high": 0.145},
            WATCH, 0, family="grpo"),
        Contrast("ratios of whole completions are clipped", {"clip_fraction": 0.45}, {}, CRIT, 0,
            family="grpo", config={"importance_sampling_level": "token"},
            differs_config={"importance_sampling_level": "sequence"}),
        Contrast("the range is as narrow as GSPO's", {"clip_fraction": 0.45}, {}, CRIT, 0,
            family="grpo", config={"clip_range": 0.0103}, differs_config={"clip_range": 0.0097}),
        Contrast("more than half of the completions are clipped", {"clip_fraction": 0.51},
            {"clip_fraction": 0.49}, WATCH, 0, family="grpo",
            config={"importance_sampling_level": "gspo"}),
        Boundary("watch", late("clip_fraction", 0.1), WATCH),
        Boundary("warn", late("clip_fraction", 0.1, approx_kl=0.025), WARN),
        Boundary("crit", late("clip_fraction", 0.1, approx_kl=0.025), CRIT),
        Boundary("watch", late("clip_fraction", 0.05), WATCH, family="grpo", scope="grpo"),
        Clearing("clear", back("clip_fraction", 0.1, 0.6)),
        Clearing("clear", back("clip_fraction", 0.01, 0.5), family="grpo", scope="grpo"),
        Contrast("a control task is not held to its own usual share",
            {"clip_fraction": after(40, 0.45, 0.001)}, {"clip_fraction": after(40, 0.05, 0.001)},
            WARN, 0),
    )
