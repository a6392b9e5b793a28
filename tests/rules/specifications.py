"""The vocabulary of drawn courses that differ in one condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppo_top.model import ConfigValue, Severity
from tests.rules.cases import flat
from tests.support.drawn_runs import DrawnColumns, jitter


@dataclass(frozen=True)
class Contrast:
    """A course, what is replaced in the other one, and what the rule says of each (0: nothing).

    `says` completes "the rule depends on whether ...".
    """

    rule: str
    says: str
    course: DrawnColumns
    differs: DrawnColumns = field(default_factory=dict)
    level: Severity | int = Severity.WARN
    otherwise: Severity | int = 0
    family: str = "on-policy"
    trainer: str = ""
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    differs_config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    otherwise_count: int | None = None
    otherwise_trainer: str = ""
    goal: float | None = None
    otherwise_goal: float | None = None
    ends: bool = False
    """Whether the run is over after these rows, and known to be."""
    otherwise_ends: bool | None = None


FLAT: DrawnColumns = {"reward_mean": flat, "ep_len": flat}
"""A control task in which nothing is learned."""


def within(first: int, last: int, then: float, usual: float) -> Callable[[int], float]:
    """One value from a row up to another one, and the usual one elsewhere."""
    return lambda i: then if first <= i <= last else usual


def noisy(value: float, share: float = 0.01) -> Callable[[int], float]:
    """A value with a little noise."""
    return lambda i: value * (1 + jitter(i, share))


def steady_gain(i: int) -> float:
    """A reward that rises by the same amount in each update."""
    return 20 + 5.0 * i + jitter(i, 3)


def learned(i: int) -> float:
    """A reward that was gained in 15 updates and then stays, below any ceiling."""
    return 20 + 10.0 * min(i, 15) + jitter(i, 4)


def capped(i: int) -> float:
    """A reward that climbs to the most there is, and is that in every row from then on."""
    return min(500.0, 20.0 + 16.0 * i)
