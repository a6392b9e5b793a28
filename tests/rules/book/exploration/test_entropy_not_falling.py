"""Entropy that stays where it began, or is held there, while nothing is learned."""

from __future__ import annotations

import math

from tests.rules.courses import FLAT, after, flat, steady_gain
from tests.rules.specification import (
    ENDED,
    WARN,
    WATCH,
    Boundary,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter


def rising_until(row: int) -> DrawnColumns:
    """A reward that rises up to a row and keeps nearly all of it."""
    return {"reward_mean": lambda i: 20 + 5.0 * min(i, row) - 0.5 * max(0, i - row) + jitter(i, 3)}


LONG = {"total_timesteps": 60_000}
"""A run of known length, over when its rows end."""


# fmt: off
class TestEntropyNotFalling(RuleTests):
    """Entropy not decreasing."""

    rule = "entropy-not-falling"
    examples = (
        RuleCase({"entropy": lambda i: 0.692, "reward_mean": flat, "ep_len": flat},
            {"entropy": lambda i: 0.692, "reward_mean": lambda i: 20 + 5.0 * i},
            config={"total_timesteps": 60 * 1000}),
        Contrast("it is held after a fall at once, while reward stops rising",
            {"entropy": after(3, 0.64, 0.69), **rising_until(82)}, rising_until(99), WATCH, 0,
            count=100),
        Contrast("nothing was gained by a policy as random as at the start",
            {"entropy": 0.692, **FLAT}, rising_until(82), WATCH, 0, count=100),
        Contrast("the best of a long run is older than a quarter of it",
            {"entropy": 0.692, **rising_until(70)}, rising_until(80), WATCH, 0, count=100),
        Contrast("most of its fall came at once",
            {"entropy": after(3, 0.64, 0.69), **rising_until(82)},
            {"entropy": lambda i: 0.69 - 0.05 * (1 - math.exp(-i / 40))}, WATCH, 0, count=100),
        Contrast("there is more reward to get",
            {"entropy": 0.692, "reward_mean": 500.0, "ep_len": 50.0}, {}, WATCH, 0,
            config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0}),
        Contrast("a paste of a few rows proves nothing", {"entropy": 0.692, **FLAT}, {}, WARN,
            WATCH, count=13, otherwise_count=11, log=ENDED),
        Contrast("the first entropy is an untrained policy's", {"entropy": 0.692, **FLAT},
            {"entropy": 0.45}, WATCH, 0),
        Contrast("entropies are scaled, whatever they begin with", {"entropy": 0.3, **FLAT}, {},
            WATCH, 0, trainer="skrl", otherwise_trainer="sb3"),
        Contrast("the log begins with the training", {"entropy": 0.692, **FLAT}, {}, WATCH, 0,
            otherwise_log=RowLog(step=lambda row: 100_000 + 1000 * row)),
        Contrast("the policy is discrete", {"entropy": 0.692, **FLAT}, {"policy_std": 1.0}, WATCH,
            0),
        Contrast("enough rewards are known", {"entropy": 0.692, **FLAT},
            {"reward_mean": lambda i: flat(i) if i % 20 == 0 else None}, WARN, 0,
            config={"total_timesteps": 60_000}),
        Contrast("the first quarter of the run is over", {"entropy": 0.69, **FLAT}, {}, WATCH, 0,
            config={"total_timesteps": 200_000}, differs_config={"total_timesteps": 260_000}),
        Contrast("two hundred episodes are over",
            {"entropy": 0.69, "reward_mean": FLAT["reward_mean"], "ep_len": 250.0},
            {"ep_len": 310.0}, WATCH, 0),
        Contrast("nine tenths are left", {"entropy": after(10, 0.906, 1.0), **FLAT},
            {"entropy": after(10, 0.894, 1.0)}, WARN, 0, config=LONG),
        Contrast("it began as an untrained policy's", {"entropy": 0.493, **FLAT},
            {"entropy": 0.478}, WARN, 0, config=LONG),
        Contrast("the policy was trained before", {"entropy": 0.69, **FLAT},
            {"reward_mean": steady_gain}, WARN, 0, config=LONG),
        Boundary("endless",
            lambda x: {"entropy": lambda i: 0.692 if i < x else None, "reward_mean": flat,
                "ep_len": flat}, WARN, count=300, step=6.0),
        Boundary("end",
            lambda x: {"entropy": lambda i: 0.692 if i < 60 * x + 1 else 0.3, "reward_mean": flat},
            WARN, total=lambda x: 60_000, step=0.09),
    )
