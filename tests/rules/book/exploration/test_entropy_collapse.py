"""Entropy that is lost too early, or gone together with all updates."""

from __future__ import annotations

from tests.rules.courses import (
    COLLAPSE,
    FLAT,
    NOWHERE,
    STILL,
    after,
    back,
    fallen,
    flat,
    learned,
    steady_gain,
)
from tests.rules.specification import (
    CRIT,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter

LATE_GAIN: DrawnColumns = {"reward_mean": lambda i: jitter(i, 0.05) + (0.1 if i < 4 else 0.6 if i
    < 11 else 0.9)}  # fmt: skip

SLIGHT: DrawnColumns = {"reward_mean": lambda i: jitter(i, 1) + 2.0 * (i >= 3)}
"""A gain of more than noise that might still be chance."""

FROZEN: DrawnColumns = {"entropy": after(20, 1e-5, 0.69), "approx_kl": after(20, 1e-9, 0.01),
    "clip_fraction": after(20, 0.0, 0.1)}  # fmt: skip


# fmt: off
class TestEntropyCollapsed(RuleTests):
    """Entropy collapsed."""

    rule = "entropy-collapsed"
    examples = (
        RuleCase({"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": flat},
            {"entropy": lambda i: 0.69 * 0.93**i}),
        Contrast("all answers are right without any", {"entropy": 0.004, "reward_mean": 0.5},
            {"reward_mean": lambda i: min(1.0, 0.5 + 0.1 * i)}, WARN, INFO, family="grpo"),
        Contrast("a sum over responses is never below 0",
            {"entropy": None, "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5},
            {"seq_entropy": lambda i: -1.0 if i == 8 else 5.0 if i > 11 else 100.0}, WARN, 0,
            family="rlhf"),
        Contrast("it fell where nobody knows how long responses are", {"entropy": None,
            "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5, "resp_len_mean": None},
            {"seq_entropy": 100.0}, WARN, 0, family="rlhf"),
        Contrast("it fell where no reward is logged", {**COLLAPSE, **NOWHERE},
            {"entropy": after(12, 0.2, 1.0)}, WARN, 0),
        Contrast("it fell where no reward of answers is logged",
            {"entropy": after(12, 0.05, 1.0), "reward_mean": None},
            {"entropy": after(12, 0.2, 1.0)}, WARN, 0, family="grpo"),
        Contrast("control tasks know no least entropy", {"entropy": 0.004, **FLAT},
            {"entropy": after(12, 0.0004, 0.004)}, 0, WARN),
        Contrast("longer responses hide no loss", {"entropy": None,
            "seq_entropy": after(12, 16.0, 100.0), "resp_len_mean": after(12, 100.0, 50.0),
            "reward_mean": 0.5}, {"seq_entropy": after(12, 9.0, 100.0)}, 0, WARN, family="rlhf"),
        Contrast("it fell late, with the reward",
            {"entropy": after(40, 0.05, 1.0), "reward_mean": learned}, {"reward_mean": fallen},
            WATCH, WARN),
        Contrast("the first gain was made just now", {"entropy": after(6, 0.05, 1.0),
            "reward_mean": lambda i: 0.05 + 0.06 * i + jitter(i, 0.01)},
            {"reward_mean": lambda i: (0.05 if i < 4 else 0.5) + jitter(i, 0.01)}, INFO, WATCH,
            count=13, family="grpo"),
        Contrast("tokens are discrete, whatever their entropy is near to",
            {"entropy": after(12, 0.05, 1.4189), **STILL}, {"entropy": after(12, 0.5, 1.4189)},
            WARN, 0, family="grpo"),
        Contrast("the rows hold an entropy",
            {"entropy": after(12, 0.05, 1.0), "seq_entropy": 50.0, **STILL},
            {"entropy": lambda i: 1.0 if i < 12 else 0.05 if i == 12 else None}, WARN, 0,
            family="rlhf"),
        Contrast("a language model's gain came with the loss",
            {"entropy": after(10, 0.05, 1.0), **LATE_GAIN},
            {"reward_mean": lambda i: jitter(i, 0.05) + (0.1 if i < 4 else 0.6)}, INFO, WATCH,
            count=14, family="grpo"),
        Contrast("a control task's gain is more than noise, but pays for nothing",
            {"entropy": after(10, 0.05, 1.0), **LATE_GAIN}, FLAT, WATCH, WARN, count=14),
        Contrast("there was any entropy of responses",
            {"entropy": None, "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5},
            {"seq_entropy": 0.0}, WARN, 0, family="rlhf"),
        Contrast("only language models have responses", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"entropy": None, "seq_entropy": after(12, 5.0, 100.0)}, WARN, 0),
        Contrast("there is more reward to get",
            {"entropy": after(12, 0.05, 1.0), "reward_mean": 500.0}, {}, WARN, INFO,
            config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0}),
        Contrast("large steps were seen before, though the reward is up",
            {"entropy": after(15, 0.05, 1.0), **SLIGHT,
            "approx_kl": lambda i: 0.2 if 4 <= i < 10 else 0.01}, {"approx_kl": 0.01}, WARN, WATCH,
            count=20),
        Contrast("nothing was gained until it fell", {"entropy": after(40, 0.05, 1.0), **FLAT},
            {"reward_mean": learned}, WARN, WATCH),
        Contrast("it fell at once, and the reward crashed after it was gained",
            {"entropy": after(30, 0.002, 1.0), "reward_mean": fallen}, {"reward_mean": learned},
            CRIT, WATCH),
        Contrast("reward is gained for it", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"reward_mean": steady_gain}, WARN, INFO),
        Contrast("the policy is a Gaussian", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"entropy": after(12, 0.05, 1.4189)}, WARN, 0),
        Contrast("it is within half a per cent of unit Gaussians'",
            {"entropy": after(12, 0.05, 1.4189 * 1.0053), **FLAT},
            {"entropy": after(12, 0.05, 1.4189 * 1.0047)}, WARN, 0),
        Contrast("a standard deviation is logged", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"policy_std": 1.0}, WARN, 0),
        Contrast("it was ever below 0, but for rounding",
            {"entropy": lambda i: -0.9e-3 if i == 5 else 0.05 if i > 11 else 1.0, **FLAT},
            {"entropy": lambda i: -1.1e-3 if i == 5 else 0.05 if i > 11 else 1.0}, WARN, 0),
        Contrast("it was high within the first three",
            {"entropy": lambda i: 1.0 if i == 2 else 0.097, **FLAT},
            {"entropy": lambda i: 1.0 if i == 3 else 0.097}, WARN, 0),
        Contrast("shorter responses explain the loss",
            {"entropy": None, "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5},
            {"resp_len_mean": after(12, 20.0, 50.0)}, WARN, 0, family="rlhf"),
        Contrast("samples were all alike from the start", {"entropy": 0.00485, "reward_mean": 0.5},
            {"entropy": 0.00515}, WARN, 0, family="grpo"),
        Contrast("samples are alike still", {"entropy": 0.004, "reward_mean": 0.5},
            {"entropy": after(3, 0.006, 0.004)}, WARN, 0, family="grpo"),
        Contrast("the reward does not rise without entropy", {"entropy": 0.004, "reward_mean": 0.5},
            {"reward_mean": steady_gain}, WARN, WATCH, family="grpo"),
        Boundary("share", lambda x: {"entropy": after(12, x, 1.0), **FLAT}, WARN, -1),
        Boundary("crit", lambda x: {"entropy": after(12, x, 1.0), **FLAT}, CRIT, -1),
        Clearing("clear", back("entropy", 1.0, 0.02, **FLAT), -1),
        Contrast("a crash of the reward is open, though it is above its start again",
            {"entropy": after(30, 0.05, 1.0), "reward_mean": lambda i: learned(i) if i < 32 else
            45.0 + jitter(i, 2)}, {"reward_mean": learned}, WARN, WATCH),
        Contrast("it fell in the first updates", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"entropy": after(12, 0.05, 1.0), "reward_mean": lambda i: learned(i) - 0.2 * i}, WARN,
            WATCH),
    )


class TestPolicyCollapsed(RuleTests):
    """Policy collapsed (entropy ~ 0)."""

    rule = "policy-collapsed"
    examples = (
        RuleCase({"entropy": lambda i: 0.69 * 0.5**i, "approx_kl": after(12, 0.0, 0.3),
            "clip_fraction": after(12, 0.0, 0.4), "reward_mean": lambda i: 9.4},
            {"entropy": lambda i: max(0.02, 0.69 * 0.8**i)}, CRIT),
        Contrast("nothing moves where no clipping is logged", {"entropy": after(20, 1e-5, 0.69),
            "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": None, **FLAT}, {"approx_kl": 0.01},
            CRIT, 0),
        Contrast("the policy is discrete", {"entropy": after(20, 1e-5, 0.69),
            "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
            {"policy_std": 1.0}, CRIT, 0),
        Contrast("there is more reward to get", {**FROZEN, "reward_mean": 500.0}, {}, CRIT, 0,
            config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0}),
        Contrast("the reward was gained before and kept", {"entropy": after(20, 1e-5, 0.69),
            "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
            {"reward_mean": learned, "entropy": lambda i: 0.69 * 0.7**i}, CRIT, 0),
        Contrast("something is still clipped", {"entropy": after(20, 1e-5, 0.69),
            "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
            {"clip_fraction": 0.01}, CRIT, 0),
        Contrast("the KL is a hundred-thousandth", {"entropy": after(20, 1e-5, 0.69),
            "approx_kl": after(20, 0.97e-5, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
            {"approx_kl": after(20, 1.03e-5, 0.01)}, CRIT, 0),
        Contrast("a hundredth of the entropy is left", {"entropy": after(20, 0.0097, 1.0),
            "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1), **FLAT},
            {"entropy": after(20, 0.0103, 1.0)}, CRIT, 0),
        Clearing("clear", back("entropy", 1.0, 1e-5, approx_kl=after(20, 1e-9, 0.01),
            clip_fraction=after(20, 0.0, 0.1), **FLAT), -1),
    )
