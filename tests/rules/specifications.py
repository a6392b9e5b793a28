"""The vocabulary of drawn courses that differ in one condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppo_top.model import ConfigValue, Mark, Profile, Row, Sample, Severity
from ppo_top.rules.judge import Judge
from tests.rules.cases import flat
from tests.support.drawn_runs import DrawnColumns, draw_rows, jitter

UPDATE_MEANS = Sample("update")
"""Rewards that are means of what an update collected."""


@dataclass(frozen=True)
class RowLog:
    """What is known of a log beside its metrics: what a row is, when and at which step it came.

    `seconds` is the time since the row before, `ended` whether the end of the run is told,
    `restarts_at` the row at which it is resumed. `left_open` looks only at what is open at last.
    """

    sample: Sample = UPDATE_MEANS
    seconds: Callable[[int], float] = lambda row: 2.0
    step: Callable[[int], int] = lambda row: 1000 * (row + 1)
    ended: bool = False
    restarts_at: int | None = None
    left_open: bool = False

    def severity(self, rule: str, about: Profile, columns: DrawnColumns, count: int) -> int:
        """The worst severity of a rule in so many rows; 0 if it does not speak."""
        judge, time = Judge(about._replace(samples={"reward_mean": self.sample})), 1e9
        for row in draw_rows(columns, count):
            number = row.mark.row
            time += self.seconds(number)
            if number == self.restarts_at:
                judge.restart()
            judge.add_row(Row(Mark(number, self.step(number), time), row.values))
        if self.ended:
            judge.end_run()
        found = [each for each in judge.findings if each.rule == rule]
        still = [each for each in found if each.cleared is None or not self.left_open]
        return max((each.severity for each in still), default=0)


ENDED = RowLog(ended=True)
"""The run is over after its rows, and known to be."""


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
    log: RowLog = RowLog()
    otherwise_log: RowLog | None = None


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
