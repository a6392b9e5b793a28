"""What a rule is: one entry of data and one small function that reads the newest row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.context import RuleContext
from ppo_top.rules.engine.terms import CRIT, CTRL, INFO, KNOWN_FAMILIES, WARN, WATCH

RuleLimits = Mapping[str, float]
"""The thresholds of a rule by name, as they hold for one run."""

ENGINE_LIMITS = ("k", "n", "warmup", "clear_after", "milder")
"""Names that every rule's settings understand besides its own thresholds.

`milder` is by how many levels less severe the rule is than it would be.
"""


class Assessment(NamedTuple):
    """What a rule sees in a row that is not plainly healthy.

    `level` is how bad this point is by itself (0: not bad, but not calm either: between the limits
    for raising and for clearing). `immediate` raises at once, without waiting for k of n points;
    `resolved` clears at once: what was complained of has been made good.
    """

    level: int
    value: float
    limit: float | None
    message: str
    immediate: bool = False
    evidence: tuple[str, ...] = ()
    resolved: bool = False


def borderline(value: float, limit: float | None = None) -> Assessment:
    """A point too good to count against the run, and not good enough to clear a finding."""
    return Assessment(0, value, limit, "")


RESOLVED = Assessment(0, 0.0, None, "", resolved=True)
"""A point that makes good what an open finding says."""


Condition = Callable[[RuleContext, RuleLimits], Assessment | None]
"""None: the point is healthy, and counts towards clearing."""

PersistenceBySeverity = Mapping[int, tuple[int, int]]
"""Severity -> (k, n): it is raised when k of the last n points were at least that bad."""

PersistenceSteps = tuple[tuple[int, int, int], ...]
"""The same as (severity, k, n), worst first."""

DEFAULT_PERSISTENCE: PersistenceBySeverity = {
    INFO: (4, 5),
    WATCH: (4, 5),
    WARN: (4, 5),
    CRIT: (3, 5),
}
AT_ONCE: PersistenceBySeverity = {INFO: (1, 1), WATCH: (1, 1), WARN: (1, 1), CRIT: (1, 1)}


def k_of_n(k: int, n: int) -> PersistenceBySeverity:
    """The same k of n for every severity."""
    return {INFO: (k, n), WATCH: (k, n), WARN: (k, n), CRIT: (k, n)}


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the rule book.

    `concepts` are what it is about, `related` what is shown as evidence with it. `triggers` are
    concepts of which the first one that a row holds makes the rule look (none: it looks at every
    row). `limits` are its thresholds, which `limit_overrides` replaces for a family or a producer
    and the settings file for everyone; each rule also has `ENGINE_LIMITS`: `warmup` (points that it
    lets pass first), `clear_after` (calm points that end a finding), `k` and `n` (so many of so
    many points raise it), `milder`. `grade` says how well the thresholds are founded: A stated by a
    trainer's guide or by the trainer itself, B reported by papers or maintainers, C checked on
    labelled runs, D neither; `grade_by_family` says it where a family differs. `remedies` may hold
    `{option}`: see `ppo_top.rules.advice`. `members` are the rules that a diagnosis across metrics
    explains.
    """

    id: str
    title: str
    codes: tuple[str, ...]
    description: str
    concepts: tuple[str, ...]
    assess: Condition
    triggers: tuple[str, ...] = ()
    families: frozenset[str] = KNOWN_FAMILIES
    limits: RuleLimits = field(default_factory=dict)
    limit_overrides: Mapping[str, RuleLimits] = field(default_factory=dict)
    persistence: PersistenceBySeverity = field(default_factory=lambda: DEFAULT_PERSISTENCE)
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    source: str = ""
    grade: str = "D"
    grade_by_family: Mapping[str, str] = field(default_factory=dict)
    related: tuple[str, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def threshold_names(self) -> frozenset[str]:
        """The thresholds that settings may give for this rule, whatever the trainer."""
        return frozenset({*self.limits, *ENGINE_LIMITS}.union(*self.limit_overrides.values()))

    def limits_for(self, profile: Profile) -> dict[str, float]:
        """The thresholds for one run: the entry's own, then family, producer and user."""
        merged = dict(self.limits)
        for name in (profile.family, profile.trainer_id):
            merged.update(self.limit_overrides.get(name, {}))
        merged.update(profile.threshold_overrides.get(self.id, {}))
        return merged

    def max_severity(self, profile: Profile) -> Severity:
        """The most that it may say of a run: thresholds that no run has confirmed only `watch`.

        The labelled runs of control tasks are PPO's: dips of a third of what was learned, or rows
        that hold four episodes each, are everyday life for A2C or DQN.
        """
        grade = self.grade_by_family.get(profile.family, self.grade)
        checked_elsewhere = profile.family == CTRL and profile.algo not in ("", "PPO")
        return WATCH if grade == "D" or (grade == "C" and checked_elsewhere) else CRIT

    def persistence_steps(self, limits: RuleLimits) -> PersistenceSteps:
        """How many bad points raise it, worst severity first, the user's own numbers first."""
        persistence = self.persistence
        if "k" in limits or "n" in limits:
            k, n = int(limits.get("k", 1)), int(limits.get("n", limits.get("k", 1)))
            persistence = k_of_n(max(1, min(k, n)), max(1, n))
        worst_first = sorted(persistence, reverse=True)
        return tuple((severity, *persistence[severity]) for severity in worst_first)
