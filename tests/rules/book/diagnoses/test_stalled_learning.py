"""Diagnoses of stalled learning: no entropy, no critic, wrong reward scale or no learning rate."""

from __future__ import annotations

from tests.rules.courses import (
    COLLAPSE,
    FLAT,
    NOWHERE,
    after,
    fallen,
    flat,
    learned,
    steady_gain,
    swinging,
    within,
)
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    INFO,
    WARN,
    WATCH,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter

LEARNED: DrawnColumns = {"entropy": after(12, 0.05, 1.0), "reward_mean": learned}

DECAY: DrawnColumns = {
    "lr": lambda i: 3e-4 * max(0.01, 1 - 0.02 * i),
    "approx_kl": after(45, 1e-4, 0.01), "clip_fraction": after(45, 0.0, 0.1),
}  # fmt: skip

COLLAPSED: DrawnColumns = {"entropy": after(12, 0.05, 1.0), **FLAT}


def sinks_on(i: int) -> float:
    """A reward that falls by the same amount in each update."""
    return -100.0 - 2.0 * i


def falls_back(i: int) -> float:
    """A reward that reaches 160, and then stays at 135."""
    return 20 + 10.0 * min(i, 14) - (25.0 if i > 18 else 0.0) + jitter(i, 3)


# fmt: off
class TestPrematureConvergence(RuleTests):
    """Premature convergence."""

    rule = "premature-convergence"
    examples = (
        RuleCase({"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": flat},
            {"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": lambda i: 20 + 8.0 * i}, CRIT),
        Contrast("a reward is logged", COLLAPSE, NOWHERE, CRIT, 0),
        Contrast("the goal is missed", LEARNED, {}, 0, WARN, otherwise_goal=300.0, count=100),
        Contrast("the goal is reached", LEARNED, {}, WARN, 0, goal=300.0, otherwise_goal=150.0,
            count=100),
        Contrast("less than half of the goal is reached", LEARNED, {}, CRIT, WARN, goal=356.0,
            otherwise_goal=330.0, count=100),
        Contrast("entropy does not come back", COLLAPSED, {"entropy": within(12, 40, 0.05, 1.0)},
            CRIT, 0, log=AT_LAST),
        Contrast("the reward does not reach its ceiling at last", COLLAPSED,
            {"reward_mean": lambda i: flat(i) if i < 40 else 500.0}, CRIT, 0, log=AT_LAST,
            config={"reward_threshold": 500.0}),
        Contrast("the reward settles below the goal",
            {"entropy": after(12, 0.05, 1.0), "reward_mean": learned},
            {"reward_mean": lambda i: 20 + 2.0 * i + jitter(i, 4)}, WARN, 0, goal=300.0, count=100),
        Contrast("anything was gained before",
            {"entropy": after(12, 0.05, 1.0), "reward_mean": fallen}, FLAT, WARN, CRIT),
        Contrast("the reward has been flat for long enough to tell",
            {"entropy": after(2, 0.02, 1.0), **FLAT}, {}, CRIT, 0, otherwise_count=14),
        Contrast("the goal was never reached",
            {"entropy": after(12, 0.05, 1.0), "reward_mean": falls_back}, {}, WARN, 0, goal=300.0,
            otherwise_goal=150.0, count=100),
        Contrast("the reward is stuck", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"reward_mean": steady_gain}, CRIT, 0),
        Contrast("something was gained before it stuck", {"entropy": after(12, 0.05, 1.0), **FLAT},
            {"entropy": 0.69}, CRIT, 0),
        Contrast("the reward is no higher than at its start, but for noise",
            {"entropy": after(15, 0.05, 1.0), "approx_kl": lambda i: 0.2 if 4 <= i < 10 else 0.01,
            **FLAT}, {"reward_mean": lambda i: jitter(i, 1) + 2.0 * (i >= 3)}, CRIT, WATCH,
            count=30),
    )


class TestCriticFailing(RuleTests):
    """Critic failing."""

    rule = "critic-failing"
    examples = (
        RuleCase(
            {"explained_variance": 0.01, "value_loss": lambda i: 5 * 1.1**i, "reward_mean": flat},
            {"explained_variance": 0.01, "value_loss": 900.0}, CRIT),
        Contrast("its loss is half as high again",
            {"explained_variance": -0.5, "value_loss": lambda i: 10 * 1.0080**i, **FLAT},
            {"value_loss": lambda i: 10 * 1.0067**i}, CRIT, 0),
        Contrast("the reward swings", {"explained_variance": -0.5, "value_loss": 10.0,
            "reward_mean": lambda i: swinging(i, 40.0)}, {"reward_mean": learned}, WARN, 0),
        Contrast("its loss grows by half",
            {"explained_variance": -0.5, "value_loss": lambda i: 10 * 1.03**i, **FLAT},
            {"value_loss": 10.0}, CRIT, 0),
    )


class TestRewardScaleTooLarge(RuleTests):
    """Reward scale too large."""

    rule = "reward-scale-too-large"
    examples = (
        RuleCase({"value_loss": 3e5, "explained_variance": 0.01, "entropy": 0.692,
            "reward_mean": flat, "ep_len": flat}, {"value_loss": 3e5, "explained_variance": 0.01}),
        Contrast("the reward stays where it began",
            {"value_loss": 3e6, "explained_variance": 0.0, **FLAT}, {"reward_mean": steady_gain},
            WARN, 0, config={"total_timesteps": 60_000}),
        Contrast("the reward never moves where no entropy is logged",
            {"value_loss": 3e5, "explained_variance": 0.0, "entropy": None, **FLAT},
            {"reward_mean": steady_gain}, WARN, 0),
        Contrast("entropy is where it began while the reward sinks", {"value_loss": 3e5,
            "explained_variance": 0.0, "entropy": 0.69, "reward_mean": sinks_on, "ep_len": 100.0},
            {"entropy": after(20, 0.4, 0.69)}, WARN, 0),
    )


class TestNothingLearns(RuleTests):
    """Nothing is learned."""

    rule = "nothing-learns"
    examples = (
        RuleCase({"approx_kl": 1e-9, "clip_fraction": 0.0, "entropy": 0.692, "reward_mean": flat,
            "ep_len": flat}, {"approx_kl": 1e-9, "clip_fraction": 0.0}),
        Contrast("entropy and reward are where they began",
            {"approx_kl": after(25, 1e-8, 0.01), "clip_fraction": 0.0, "entropy": 0.69, **FLAT},
            {"reward_mean": learned, "entropy": after(20, 0.4, 0.69)}, WARN, 0),
        Contrast("entropy is where it began while the reward sinks", {"approx_kl": 1e-8,
            "clip_fraction": 0.0, "entropy": 0.69, "reward_mean": sinks_on, "ep_len": 100.0},
            {"entropy": after(20, 0.4, 0.69)}, WARN, 0),
        Contrast("the reward never moves where no entropy is logged",
            {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": None, **FLAT},
            {"reward_mean": learned}, WARN, 0),
        Contrast("the reward does not move",
            {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69, **FLAT}, {"approx_kl": 0.01},
            WARN, 0),
        Contrast("no collapse of the policy says why",
            {"approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1),
            "entropy": 0.692, **FLAT}, {"entropy": after(20, 1e-5, 0.69)}, WARN, 0,
            config={"total_timesteps": 60_000}),
    )


class TestLearningRateDecayed(RuleTests):
    """Learning rate fully decayed."""

    rule = "learning-rate-decayed"
    examples = (
        RuleCase({"lr": lambda i: 3e-4 * (1 - i / 60),
            "approx_kl": lambda i: 0.01 * (1 - i / 60) ** 2,
            "clip_fraction": lambda i: 0.05 if i < 50 else 0.0},
            {"lr": lambda i: 3e-4 * (1 - i / 120)}, INFO),
        Contrast("the reward falls", {**DECAY, "reward_mean": learned}, {"reward_mean": fallen},
            INFO, 0),
        Contrast("the KL is small where no clipping is logged", {**DECAY, "clip_fraction": None},
            {"approx_kl": 0.01}, INFO, 0),
        Contrast("ten updates are logged", {"lr": lambda i: 3e-4 * max(0.01, 1 - 0.3 * i),
            "approx_kl": after(4, 1e-4, 0.01), "clip_fraction": after(4, 0.0, 0.1)}, {}, INFO, 0,
            count=14, otherwise_count=9),
        Contrast("the rate follows a schedule", {"lr": lambda i: 3e-4 * max(0.01, 1 - 0.02 * i),
            "approx_kl": after(45, 1e-4, 0.01), "clip_fraction": after(45, 0.0, 0.1)},
            {"lr": after(45, 1e-6, 3e-4)}, INFO, 0),
        Contrast("a twentieth of the rate is left", {"lr": lambda i: 3e-4 * max(0.0485, 1 - i / 50),
            "approx_kl": after(40, 5e-4, 0.01), "clip_fraction": after(40, 0.0, 0.1)},
            {"lr": lambda i: 3e-4 * max(0.0515, 1 - i / 50)}, INFO, 0),
        Contrast("updates have become small with it", {"lr": lambda i: 3e-4 * max(0.01, 1 - i / 50),
            "approx_kl": after(40, 0.97e-3, 0.01), "clip_fraction": after(40, 0.0, 0.1)},
            {"approx_kl": after(40, 1.03e-3, 0.01)}, INFO, 0),
        Contrast("little is clipped any more", {"lr": lambda i: 3e-4 * max(0.01, 1 - i / 50),
            "approx_kl": after(40, 5e-4, 0.01), "clip_fraction": after(40, 0.0097, 0.1)},
            {"clip_fraction": after(40, 0.0103, 0.1)}, INFO, 0),
    )
