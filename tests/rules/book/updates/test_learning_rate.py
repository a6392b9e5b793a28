"""The learning rate: zero too early, out of range, or suddenly another."""

from __future__ import annotations

from ppo_top.model import Severity
from ppo_top.rules.engine.logged_run import UPDATE_METRICS
from tests.rules.courses import FLAT, after, flat, late, rise, settled, steady_gain
from tests.rules.specification import (
    AT_LAST,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Contrast,
    RuleCase,
    RuleTests,
)


# fmt: off
class TestLearningRateZero(RuleTests):
    """Learning rate reached zero."""

    rule = "learning-rate-zero"
    examples = (
        RuleCase({"lr": lambda i: max(0.0, 3e-4 * (1 - i / 30)),
            "reward_mean": lambda i: 20 + 5.0 * i}, {"lr": lambda i: 3e-4 * (1 - i / 60)}, INFO),
        Contrast("the run is nearly over", {"lr": after(50, 0.0, 3e-4), **FLAT}, {}, INFO, 0,
            config={"total_timesteps": 68_000}, differs_config={"total_timesteps": 56_500}),
        Contrast("twenty updates passed with nothing to learn by",
            {"lr": after(38, 0.0, 3e-4), **FLAT}, {"lr": after(39, 0.0, 3e-4)}, WATCH, 0),
        Contrast("it was ever more", {"lr": after(30, 0.0, 3e-4), **FLAT}, {"lr": 0.0}, WATCH, 0),
        Contrast("the reward still rises", {"lr": after(50, 0.0, 3e-4), "reward_mean": steady_gain},
            FLAT, INFO, 0),
        Contrast("one that follows the KL has not risen lately",
            {"lr": lambda i: 1e-2 / 1.5**i, "reward_mean": rise},
            {"lr": lambda i: 1e-2 * 1.6 ** (i % 2) / 1.5**i}, WATCH, 0, trainer="rsl_rl"),
        Boundary("share",
            lambda x: {"lr": lambda i: 1.0 if i < 30 else x, "reward_mean": lambda i: 20 + 5.0 * i},
            Severity.INFO, -1),
        Contrast("a rate that rose in its warm-up has ended for good",
            {"lr": lambda i: 1e-5 * min(i, 20) if i < 30 else 0.0, **FLAT}, {"lr": 3e-4}, WATCH, 0),
        Contrast("there is more to learn", {"lr": after(30, 0.0, 3e-4), "reward_mean": 500.0}, {},
            WATCH, 0, config={"reward_threshold": 600.0},
            differs_config={"reward_threshold": 500.0}),
    )


class TestLearningRateCut(RuleTests):
    """Learning rate dropped to zero."""

    rule = "learning-rate-cut"
    examples = (
        RuleCase({"lr": after(40, 0.0, 3e-4), "reward_mean": settled},
            {"lr": lambda i: 3e-4 * max(0.0, 1 - i / 59), "reward_mean": settled}),
        Contrast("it fell at once", {"lr": after(25, 2.7e-6, 3e-4), "approx_kl": 0.01, **FLAT},
            {"lr": lambda i: 3e-4 if i < 25 else 4.5e-6 if i < 27 else 2.7e-6}, WARN, 0),
        Contrast("it falls at once", {"lr": after(40, 2e-6, 3e-4), **FLAT},
            {"lr": lambda i: 3e-4 if i < 40 else 5e-5 if i < 42 else 2e-6}, WARN, 0),
        Contrast("a hundredth is left", {"lr": after(40, 0.97e-2, 1.0), **FLAT},
            {"lr": after(40, 1.03e-2, 1.0)}, WARN, 0),
        Contrast("it fell from more than a fifth",
            {"lr": lambda i: 1.0 if i < 30 else 0.21 if i < 40 else 0.001, **FLAT},
            {"lr": lambda i: 1.0 if i < 30 else 0.19 if i < 40 else 0.001}, WARN, 0),
        Contrast("the trainer adapts it", {"lr": after(40, 2e-6, 3e-4), **FLAT},
            {"lr": lambda i: 3e-4}, WARN, 0),
        Contrast("it does not come back", {"lr": after(40, 2e-6, 3e-4), **FLAT},
            {"lr": lambda i: 2e-6 if i in (40, 41) else 3e-4}, WARN, 0, log=AT_LAST),
        Contrast("there is more to learn", {"lr": after(40, 2e-6, 3e-4), "reward_mean": 500.0}, {},
            WARN, 0, config={"reward_threshold": 600.0},
            differs_config={"reward_threshold": 500.0}),
    )


class TestLearningRateExtreme(RuleTests):
    """Learning rate out of range."""

    rule = "learning-rate-extreme"
    examples = (
        RuleCase({"lr": 0.031, "reward_mean": flat}, {"lr": 0.029, "reward_mean": flat}),
        Contrast("reward was gained with it", {"lr": after(30, 0.05, 1e-3), **FLAT},
            {"reward_mean": rise}, WARN, WATCH),
        Contrast("it lasts five updates", {"lr": 9e-8, **FLAT},
            {"lr": lambda i: 9e-8 if i < 4 else 3e-4}, WARN, 0),
        Contrast("it is large for most runs", {"lr": 0.0101}, {"lr": 0.0099}, INFO, 0),
        Contrast("it is small for most runs", {"lr": 0.99e-6}, {"lr": 1.01e-6}, INFO, 0),
        Contrast("a small rate is the only one there was", {"lr": 0.9e-6},
            {"lr": lambda i: 3e-4 if i < 2 else 0.9e-6}, INFO, 0),
        Contrast("what it explains is seen", {"lr": 0.02, "approx_kl": after(20, 0.5, 0.01)},
            {"approx_kl": 0.01}, WARN, INFO),
        Contrast("a rate that is not logged is large", {"lr": None, **FLAT}, {}, WARN, INFO,
            config={"learning_rate": 0.031}, differs_config={"learning_rate": 0.029}),
        Contrast("a rate that is not logged is small", {"lr": None, **FLAT}, {}, WARN, WATCH,
            config={"learning_rate": 0.97e-7}, differs_config={"learning_rate": 1.03e-7}),
        Contrast("the log says another rate than the settings", {"lr": None, **FLAT}, {"lr": 3e-4},
            WARN, 0, config={"learning_rate": 0.1}),
        Contrast("one that follows the KL is seen to move", {"lr": 0.031, **FLAT},
            {"lr": lambda i: 0.031 * 1.5 ** (i % 2)}, WARN, 0, trainer="rsl_rl"),
        Contrast("one that follows the KL is logged", {"lr": None, **FLAT},
            {"lr": lambda i: 0.031 * 1.5 ** (i % 2)}, WARN, 0, trainer="skrl",
            config={"learning_rate": 0.031}),
        Contrast("it is at no bound of those that follow the KL", {"lr": 0.0101}, {"lr": 0.01},
            INFO, 0, trainer="rsl_rl"),
        Contrast("something is updated", {"lr": None, **FLAT}, dict.fromkeys(UPDATE_METRICS), WARN,
            0, config={"learning_rate": 0.1}),
        Boundary("high", lambda x: {"lr": x, **FLAT}, WARN),
        Boundary("low", lambda x: {"lr": x, **FLAT}, WARN, -1),
        Contrast("a table of values learns with a high rate, but with none at all nothing does",
            {**dict.fromkeys(UPDATE_METRICS), **FLAT, "lr": 1e-9}, {"lr": 0.5}, WARN, WATCH,
            trainer="unknown"),
        Contrast("the trainer is known to have an optimiser",
            {**dict.fromkeys(UPDATE_METRICS), **FLAT, "lr": 0.5}, {}, WARN, WATCH,
            otherwise_trainer="unknown"),
        Contrast("a setting is a rate at all", {"lr": None, **FLAT}, {}, WARN, 0,
            config={"learning_rate": 1e-9}, differs_config={"learning_rate": -1.0}),
    )


class TestLearningRateJump(RuleTests):
    """Learning rate jumped."""

    rule = "learning-rate-jump"
    examples = (
        RuleCase({"lr": after(30, 3e-2, 3e-4)}, {"lr": lambda i: 3e-5 * min(i, 10)}),
        Contrast("it was higher before", {"lr": after(30, 1e-3, 1e-4)},
            {"lr": lambda i: 2e-3 if i < 5 else 1e-3 if i > 30 else 1e-4}, INFO, 0),
        Contrast("its schedule goes back to its first rate", {"lr": after(30, 3e-2, 1e-4)},
            {"lr": lambda i: 3e-2 if i in (0, 30) else 1e-4}, WARN, INFO),
        Contrast("it has been logged for ten updates", {"lr": after(10, 3e-2, 1e-4)},
            {"lr": after(9, 3e-2, 1e-4)}, WARN, 0),
        Contrast("it rises a step at a time", {"lr": after(30, 3e-2, 1e-4)},
            {"lr": lambda i: 1e-4 * min(300.0, 1.5 ** max(0, i - 29))}, WARN, 0),
        Contrast("it came from nothing", {"lr": after(30, 1e-3, 1e-4)},
            {"lr": after(30, 1e-3, 0.0)}, INFO, 0),
        Boundary("times", late("lr", 1.0), Severity.INFO),
        Boundary("far", late("lr", 1.0), WARN),
    )
