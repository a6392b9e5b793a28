"""Columns of drawn runs that several tests of rules share: what a metric is in each row."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.support.drawn_runs import DrawnColumn, DrawnColumns, jitter

NAN = math.nan


# --- one metric -----------------------------------------------------------------------------------


def after(number: int, then: float, before: float) -> Callable[[int], float]:
    """One value before a row and another from it on."""
    return lambda i: then if i >= number else before


def at(row: int, then: float, usual: float) -> Callable[[int], float]:
    """One value in a single row."""
    return lambda i: then if i == row else usual


def within(first: int, last: int, then: float, usual: float) -> Callable[[int], float]:
    """One value from a row up to another one, and the usual one elsewhere."""
    return lambda i: then if first <= i <= last else usual


def until(last: int, value: float, every: int = 1) -> DrawnColumn:
    """A value at one row of so many, and none from a row on."""
    return lambda i: value if i < last and i % every == 0 else None


def rise(i: int) -> float:
    """A reward that climbs."""
    return 20 + 440 * (1 - 0.95**i) + jitter(i, 4)


def fallen(i: int) -> float:
    """A reward that climbs and then crashes."""
    return rise(i) if i < 40 else max(10.0, rise(40) - 60 * (i - 39))


def flat(i: int) -> float:
    """A reward that stays where it is."""
    return 22 + jitter(i, 2)


def settled(i: int) -> float:
    """A reward that climbs, and then stays below its ceiling."""
    return 20 + 6 * min(i, 20) + jitter(i, 3)


def swinging(i: int, low: float) -> float:
    """A reward that climbs to 210 and then falls to `low` for six updates again and again."""
    return jitter(i, 2) + (20.0 + 10 * i if i < 20 else (200.0 if i % 12 < 6 else low))


def steady_gain(i: int) -> float:
    """A reward that rises by the same amount in each update."""
    return 20 + 5.0 * i + jitter(i, 3)


def learned(i: int) -> float:
    """A reward that was gained in 15 updates and then stays, below any ceiling."""
    return 20 + 10.0 * min(i, 15) + jitter(i, 4)


def capped(i: int) -> float:
    """A reward that climbs to the most there is, and is that in every row from then on."""
    return min(500.0, 20.0 + 16.0 * i)


def dips(i: int) -> float:
    """A reward that stays, but for eight updates before it is back where it was."""
    return 20.0 + jitter(i) - (15.0 if 42 <= i < 50 else 0.0)


def sinks(i: int) -> float:
    """A reward that stays, and then falls."""
    return 20.0 + jitter(i) - (15.0 if i >= 42 else 0.0)


def jumped_thrice(i: int, then: float) -> float:
    """A value that is 1, but for three stretches at 50; then the last one may stay."""
    return 50.0 * (1.0 if i >= 30 and (i - 30) % 40 < 12 and i < 122 else 0.02) if i < 122 else then


def flat_reward(i: int) -> float:
    """A reward that stays where it is."""
    return 0.3 + jitter(i, 0.03)


def rising_reward(i: int) -> float:
    """A reward that climbs."""
    return 0.1 + 0.02 * i + jitter(i, 0.02)


# --- a control task -------------------------------------------------------------------------------

AT_500 = {"reward_threshold": 500.0}
"""A setting from which the environment counts as solved."""

FLAT: DrawnColumns = {"reward_mean": flat, "ep_len": flat}

NOWHERE: DrawnColumns = {"reward_mean": None, "ep_len": None}
"""A control task whose reward is not logged."""

PERFECT: DrawnColumns = {"reward_mean": 500.0, "ep_len": 500.0}
"""As many steps as there may be, in every episode."""

COLLAPSE: DrawnColumns = {"entropy": after(12, 0.05, 1.0), **FLAT}
"""Entropy is gone while nothing is learned."""

NO_SIZES: DrawnColumns = {
    "approx_kl": None, "clip_fraction": None, "clip_low": None, "clip_high": None,
}  # fmt: skip
"""The size of updates is not logged."""


def surprised(row: int = 40, explained: float = 0.1, loss: float = 60.0) -> DrawnColumns:
    """A good critic that fails in one row, after which the reward falls."""
    return {
        "explained_variance": at(row, explained, 0.9),
        "value_loss": at(row, loss, 4.0),
        "reward_mean": lambda i: rise(i) if i < 42 else rise(42) - 30.0 * (i - 41),
    }


def bump(height: float, last: int = 33) -> DrawnColumns:
    """Noise, and a reward that is higher for some updates."""
    return {"reward_mean": lambda i: jitter(i, 1.0) + height * (30 <= i <= last)}


def hill(height: float, last: int, then: float = 0.0, noise: float = 1.0) -> DrawnColumns:
    """A reward that is gained in eight updates and lost after a row, in noise."""
    return {
        "reward_mean": lambda i: jitter(i, noise) + height * (min(i, 8) / 8 if i <= last else then),
        "ep_len": 20.0,
    }


def peak(last: int) -> DrawnColumns:
    """A reward that rises up to a row, the last of its climb, and is lost in the next."""
    return {"reward_mean": lambda i: jitter(i, 3) + 60.0 * i * (i <= last), "ep_len": 20.0}


# --- a trainer with a replay buffer ---------------------------------------------------------------

UNGAINED: DrawnColumns = {"reward_mean": flat, "ep_len": 200.0}
"""Nothing is learned, in episodes of equal length."""

NO_LOSS: DrawnColumns = {
    **UNGAINED, "critic_loss": None, "actor_loss": None, "entropy_coef": None, "n_updates": None,
}  # fmt: skip
"""Episodes are collected, and nothing else is logged."""


def stops(last: int, every: int = 1) -> DrawnColumns:
    """Whatever an update logs is logged until a row only."""
    names = ("critic_loss", "actor_loss", "entropy_coef", "n_updates", "lr", "total_loss")
    return {**UNGAINED, **dict.fromkeys(names, until(last, 0.5, every))}


# --- a language model -----------------------------------------------------------------------------

STILL: DrawnColumns = {"reward_mean": lambda i: 0.5 + jitter(i, 0.02)}
"""A score that does not move."""

GAINS: DrawnColumns = {"reward_mean": lambda i: 0.2 + 0.02 * min(i, 20) + jitter(i, 0.02)}
"""A score that was gained and then stays."""

RISES: DrawnColumns = {"reward_mean": lambda i: 0.1 + 0.012 * i + jitter(i, 0.02)}
"""A score that climbs to the end."""

FALLS: DrawnColumns = {"reward_mean": lambda i: min(0.9, 0.1 + 0.04 * i) - 0.04 * max(0, i - 35)}
"""A score that is gained and lost again."""


# --- one value to be tried ------------------------------------------------------------------------


def late(
    metric: str, before: float, at: int = 30, **others: object
) -> Callable[[float], DrawnColumns]:
    """A metric that goes from one value to the tried one."""
    return lambda x: {metric: after(at, x, before), **others}  # type: ignore[dict-item]


def back(
    metric: str, usual: float, bad: float, **others: object
) -> Callable[[float], DrawnColumns]:
    """A metric that is usual for 20 updates, bad for 20, and then at the tried value."""

    def columns(x: float) -> DrawnColumns:
        return {metric: lambda i: usual if i < 20 else bad if i < 40 else x, **others}  # type: ignore[dict-item]

    return columns


def spike(metric: str, usual: float) -> Callable[[float], DrawnColumns]:
    """One value so many times the usual."""
    return lambda x: {metric: lambda i: x * usual if i == 40 else usual * (1 + jitter(i, 0.01))}
