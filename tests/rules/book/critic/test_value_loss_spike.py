"""Spikes of the critic's loss: one is an event, staying there a fault."""

from __future__ import annotations

from tests.rules.courses import (
    FLAT,
    NOWHERE,
    after,
    fallen,
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
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, jitter


def spiking(*rows: int) -> DrawnColumns:
    """A value loss with ever higher peaks."""
    peaks = {row: 60.0 * 4**number for number, row in enumerate(rows)}
    return {"value_loss": lambda i: peaks.get(i, 5.0)}


def highest(loss: float) -> DrawnColumns:
    """A value loss that was high once, and then leaves its usual level of 1."""
    return {"value_loss": lambda i: {1: loss, 40: 120.0}.get(i, 25.0 if i > 40 else 1.0)}


def climbs(first: float, last: float, falls_at: int = 999) -> DrawnColumns:
    """A reward that climbs to one level in fifteen rows, then to another one, and may be lost."""
    return {
        "reward_mean": lambda i: (
            jitter(i, 0.02 * last)
            + (0.0 if i >= falls_at else first * min(i, 15) / 15 + (last - first) * (i >= 30))
        ),
    }


HIGH_LOSS: DrawnColumns = {"value_loss": after(20, 60.0, 5.0)}


def stays_but_for(*rows: int) -> DrawnColumn:
    """A value loss that jumps twelvefold and stays there but for some rows."""
    return lambda i: 5.0 if i < 40 else 40.0 if i in rows else 60.0


# fmt: off
class TestValueLossSpike(RuleTests):
    """Value loss spike."""

    rule = "value-loss-spike"
    examples = (
        RuleCase({"value_loss": lambda i: 800.0 if i >= 40 else 5 + jitter(i)},
            {"value_loss": lambda i: 20.0 if i == 40 else 5 + jitter(i)}),
        Contrast("the last three are near to each other", spiking(12, 32, 40, 48),
            spiking(12, 32, 40, 53), WARN, WATCH),
        Contrast("it stays in a task of which half as much again was learned",
            {**HIGH_LOSS, **climbs(2.0, 3.2)}, climbs(2.0, 2.8), 0, WARN, log=AT_LAST),
        Contrast("thirty updates showed that it belongs to the task",
            {**HIGH_LOSS, **climbs(2.0, 9.0)}, {}, WARN, 0, count=51, otherwise_count=54,
            log=AT_LAST),
        Contrast("a language model's reward was lost after it",
            {**HIGH_LOSS, **climbs(2.0, 9.0, 55)}, climbs(2.0, 9.0), CRIT, WARN, "rlhf", count=70),
        Contrast("it stays for thirty updates where no reward is logged", {**HIGH_LOSS, **NOWHERE},
            {}, WARN, 0, count=51, otherwise_count=54, log=AT_LAST),
        Contrast("it stays above a thirtieth of the highest", {**highest(700.0), **FLAT},
            highest(1000.0), WARN, WATCH),
        Contrast("eight of ten updates of 500 steps stay up", {"iteration": lambda i: 2.0 * i,
            "value_loss": lambda i: 5.0 if i < 40 or i in (42, 44) else 60.0},
            {"value_loss": lambda i: 5.0 if i < 40 or i % 3 == 2 else 60.0}, WARN, WATCH),
        Contrast("the reward falls again though it has grown since",
            {**HIGH_LOSS, **climbs(2.0, 9.0, 48)}, climbs(2.0, 9.0), CRIT, 0, log=AT_LAST),
        Contrast("there is more reward to get", {**HIGH_LOSS, "reward_mean": 500.0}, {}, WARN, 0,
            config={"reward_threshold": 600.0}, differs_config={"reward_threshold": 500.0},
            log=AT_LAST),
        Contrast("any reward was earned before it",
            {"value_loss": after(40, 60.0, 5.0), "reward_mean": 0.0},
            {"reward_mean": after(40, 1.0, 0.0)}, WARN, WATCH),
        Contrast("sixteen of twenty updates of 222 steps stay up",
            {"iteration": lambda i: 4.5 * i, "value_loss": stays_but_for(45, 48, 51, 54), **FLAT},
            {"value_loss": stays_but_for(45, 48, 51, 54, 57)}, WARN, WATCH),
        Contrast("a rising reward has seen a fifth of it before",
            {"value_loss": lambda i: 60.0 if i >= 40 else 11.5 if i == 39 else 5.0,
            "reward_mean": steady_gain},
            {"value_loss": lambda i: 60.0 if i >= 40 else 12.5 if i == 39 else 5.0}, WARN, WATCH),
        Contrast("the error is logged before it is clipped",
            {"value_error": after(40, 60.0, 5.0), **FLAT}, {}, WARN, 0, trainer="rllib",
            otherwise_trainer="sb3"),
        Contrast("it is still high", {**FLAT, "value_loss": lambda i: jumped_thrice(i, 50.0)},
            {"value_loss": lambda i: jumped_thrice(i, 1.0)}, WARN, 0, count=215,
            log=AT_LAST),
        Contrast("the reward has a new best since, and losses were high before",
            {"reward_mean": learned, "value_loss": lambda i: 40.0 if i == 3 or i >= 40 else 1.0},
            {"reward_mean": lambda i: learned(i) + 12.0 * (41 <= i <= 44)}, WARN, WATCH, count=56),
        Contrast("a peak shortly before was a third as high",
            {"value_loss": lambda i: {25: 19.4, 40: 60.0}.get(i, 5.0)},
            {"value_loss": lambda i: {25: 20.6, 40: 60.0}.get(i, 5.0)}, WATCH, 0),
        Contrast("that peak was within twenty updates",
            {"value_loss": lambda i: {19: 30.0, 40: 60.0}.get(i, 5.0)},
            {"value_loss": lambda i: {20: 30.0, 40: 60.0}.get(i, 5.0)}, WATCH, 0),
        Contrast("the loss was ten times as high at first",
            {"value_loss": lambda i: {2: 582.0, 40: 60.0}.get(i, 5.0)},
            {"value_loss": lambda i: {2: 618.0, 40: 60.0}.get(i, 5.0)}, WATCH, 0),
        Contrast("the usual is that of the last ten updates",
            {"value_loss": lambda i: 60.0 if i == 40 else 5.0 if i >= 34 else 15.0},
            {"value_loss": lambda i: 60.0 if i == 40 else 5.0 if i >= 36 else 15.0}, WATCH, 0),
        Contrast("the third comes within twenty updates", spiking(20, 30, 40), spiking(20, 30, 41),
            WARN, WATCH),
        Contrast("there are three of them", spiking(20, 30, 40), spiking(20, 40), WARN, WATCH),
        Contrast("updates of a few steps make three",
            {**spiking(20, 30, 40), "n_updates": lambda i: 49.0 * i},
            {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
        Contrast("the reward falls with the third", {**spiking(35, 42, 49), "reward_mean": fallen},
            {"reward_mean": rise}, CRIT, WARN),
        Contrast("three of five updates stay up",
            {"value_loss": lambda i: 60.0 if i in (40, 42, 44) else 5.0},
            {"value_loss": lambda i: 60.0 if i in (40, 42, 45) else 5.0}, WARN, WATCH),
        Contrast("it stays up over updates of a few steps",
            {"value_loss": after(40, 60.0, 5.0), "n_updates": lambda i: 49.0 * i},
            {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
        Contrast("the reward falls while it stays up",
            {"value_loss": after(40, 60.0, 5.0), "reward_mean": fallen}, {"reward_mean": learned},
            CRIT, WARN),
        Contrast("the reward rises, and the loss was as high before",
            {"value_loss": lambda i: 60.0 if i >= 40 else 30.0 if i < 3 else 5.0,
            "reward_mean": learned}, {"reward_mean": steady_gain}, WARN, WATCH),
        Boundary("times",
            lambda x: {"value_loss": lambda i: (x if i >= 40 else 1.0) * (5 + 0.001 * (i % 3))},
            WARN),
    )
