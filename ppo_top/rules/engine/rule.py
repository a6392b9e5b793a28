"""A rule: one entry of data and one small function that assesses the newest row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ppo_top.model import Mark, Profile, Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import CRIT, INFO, REINFORCEMENT_LEARNING, WARN, WATCH

RuleLimits = Mapping[str, float]
"""The thresholds of a rule for one run, by name."""

ENGINE_LIMITS = ("k", "n", "warmup", "every", "clear_after", "milder")
"""Settings that every rule has besides its own thresholds.

`milder` lowers the severity by this many levels.
"""


class Assessment(NamedTuple):
    """A rule's assessment of a row that is not plainly healthy.

    `level` is the severity of this point by itself (0: between the limits for raising and for
    clearing). `immediate` raises at once, without waiting for k of n points; `resolved` clears at
    once. `concepts` are the metrics at fault, where the rule does not know them beforehand. `since`
    is where what it states began, if that shows some points later.
    """

    level: int
    value: float
    limit: float | None
    message: str
    immediate: bool = False
    evidence: tuple[str, ...] = ()
    resolved: bool = False
    concepts: tuple[str, ...] = ()
    since: Mark | None = None

    def eased(self, down_to: Severity) -> Assessment:
        """One level less severe, but no less than `down_to`; what raises at once stays as it is."""
        if self.immediate or self.level <= down_to:
            return self
        return self._replace(level=self.level - 1)


def borderline(value: float, limit: float | None = None) -> Assessment:
    """A point not bad enough to raise a finding and not good enough to clear one."""
    return Assessment(0, value, limit, "")


RESOLVED = Assessment(0, 0.0, None, "", resolved=True)
"""A point that clears an open finding at once."""


Condition = Callable[[JudgedRun, RuleLimits], Assessment | None]
"""Assesses the newest row; None: healthy, counts towards clearing."""

BlockCheck = Callable[[JudgedRun, RowBlock, RuleLimits], bool]
"""Whether a rule would say the same of each row of a block; may say no when it would.

The run is as before the block. What the answer rests on may not change within the block.
"""

PersistenceBySeverity = Mapping[int, tuple[int, int]]
"""Severity -> (k, n): raised when k of the last n points were at least that bad."""

PersistenceSteps = tuple[tuple[int, int, int], ...]
"""The same as (severity, k, n), worst first."""

DEFAULT_PERSISTENCE: PersistenceBySeverity = {
    INFO: (4, 5),
    WATCH: (4, 5),
    WARN: (4, 5),
    CRIT: (3, 5),
}
DEFAULT_CLEAR_AFTER = 3
"""Calm points that clear a finding, unless the rule says otherwise."""


def k_of_n(k: int, n: int) -> PersistenceBySeverity:
    """The same k of n for every severity."""
    return {INFO: (k, n), WATCH: (k, n), WARN: (k, n), CRIT: (k, n)}


AT_ONCE = k_of_n(1, 1)


class Rule(NamedTuple):
    """One entry of the rule book."""

    id: str
    title: str
    description: str
    """Completes "fires when"."""
    concepts: tuple[str, ...]
    """The metrics that it judges."""
    assess: Condition
    judged_at: tuple[str, ...] | None = None
    """It looks at a row that holds one of these metrics; None: one of its concepts, and a diagnosis
    at every row."""
    stays_calm: BlockCheck | None = None
    """Allows to skip a block of rows of a backlog, in each of which it finds the run healthy or
    borderline, while no finding is open; None: it looks at every row."""
    keeps_level: BlockCheck | None = None
    """The same while its finding is open: each row has the level of the one before, as long as the
    run `gains_nothing` and, for a diagnosis, the same findings are open."""
    reward_states: int = 0
    """It finds a row healthy unless the reward's course is in one of these (0: any)."""
    families: frozenset[str] = REINFORCEMENT_LEARNING
    limits: Mapping[str, float] = {}
    """Its thresholds; the `ENGINE_LIMITS` are understood, too: `warmup` (points skipped first),
    `every` (it is asked at one point of so many: what rests on many points is the same at the next
    one), `clear_after` (calm points that clear a finding), `k` and `n` (k of the last n points that
    it was asked at raise it), `milder`."""
    limit_overrides: Mapping[str, RuleLimits] = {}
    """Other thresholds for a family or a trainer id; the user's settings come last."""
    persistence: PersistenceBySeverity = DEFAULT_PERSISTENCE
    causes: tuple[str, ...] = ()
    """All that may stand behind it; with `ranks_causes` only what it usually is."""
    remedies: tuple[str, ...] = ()
    """What to try; they may hold `{option}`: see `ppo_top.rules.advice`."""
    source: str = ""
    grade: str = "D"
    """How well founded the thresholds are: A stated by a trainer's guide or code, B reported by
    papers or maintainers, C checked on labelled runs, D none of these."""
    grade_by_family: Mapping[str, str] = {}
    """Where a family, or one algorithm of it, differs."""
    related: tuple[str, ...] = ()
    """Metrics shown as evidence."""
    members: tuple[str, ...] = ()
    """Of a diagnosis across metrics: the rules that it explains."""
    dated_by: tuple[str, ...] = ()
    """Those members that show what its title states, where the others only lead to it: it holds
    since the first of these (empty: of all)."""
    needs: tuple[str, ...] = ()
    """It is asked while a finding of one of these rules is open, or was within `RECENT_ROWS`."""
    asks_about: tuple[str, ...] = ()
    """Other rules whose findings weigh in its assessment."""
    tells_duration: bool = False
    """Its message tells for how long: as long as its finding is open, it is stated anew each time
    that is twice as long, and when the run is complete."""
    at_end: bool = False
    """It is asked once more when the run is complete."""
    eased_to: Severity | None = None
    """A symptom that is one level less severe, down to this one, once the reward has long been
    paying for it."""
    is_event: bool = False
    """At watch its finding tells of one update; it is over after `clear_after` calm points however
    often there were others."""
    is_moment: bool = False
    """It tells of a run's end, which lasts no time."""
    ranks_causes: bool = False
    """Much may stand behind it: a finding states the causes that the run's other symptoms make
    likely."""
    inherits_causes: bool = False
    """A diagnosis of a state that hides how it came about: it states what the first of its members
    did."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """The metrics of which a row must hold one to be judged; none: every row is."""
        if self.judged_at is not None:
            return self.judged_at
        return () if self.members else self.concepts

    @property
    def rests_on(self) -> frozenset[str]:
        """All rules whose findings it takes into account."""
        return frozenset({*self.members, *self.needs, *self.asks_about})

    @property
    def threshold_names(self) -> frozenset[str]:
        """The thresholds that settings may override, for any trainer."""
        return frozenset({*self.limits, *ENGINE_LIMITS}.union(*self.limit_overrides.values()))

    def limits_for(self, profile: Profile) -> dict[str, float]:
        """The thresholds for one run: the rule's own, then those of family, trainer and user."""
        merged = dict(self.limits)
        for name in (profile.family, profile.trainer_id):
            merged.update(self.limit_overrides.get(name, {}))
        merged.update(profile.threshold_overrides.get(self.id, {}))
        return merged

    def grade_for(self, profile: Profile) -> str:
        """The grade of the thresholds for a run's algorithm, or else its family."""
        names = (profile.algo, profile.family)
        own = (self.grade_by_family[name] for name in names if name in self.grade_by_family)
        return next(own, self.grade)

    def max_severity(self, profile: Profile) -> Severity:
        """The highest severity for a run: `watch` where nothing has confirmed the thresholds."""
        return WATCH if self.grade_for(profile) == "D" else CRIT

    def persistence_steps(self, limits: RuleLimits) -> PersistenceSteps:
        """How many bad points raise it, worst severity first; the user's k and n win."""
        persistence = self.persistence
        if "k" in limits or "n" in limits:
            k, n = int(limits.get("k", 1)), int(limits.get("n", limits.get("k", 1)))
            persistence = k_of_n(max(1, min(k, n)), max(1, n))
        worst_first = sorted(persistence, reverse=True)
        return tuple((severity, *persistence[severity]) for severity in worst_first)


def rules_by_id(rules: Iterable[Rule]) -> dict[str, Rule]:
    """The rules by their ids; ValueError if one is used twice or a rule rests on an unknown one."""
    found: dict[str, Rule] = {}
    for rule in rules:
        if rule.id in found:
            raise ValueError(f"two rules are called {rule.id}")
        found[rule.id] = rule
    for rule in found.values():
        if unknown := rule.rests_on - found.keys():
            raise ValueError(f"{rule.id} rests on unknown rules: {', '.join(sorted(unknown))}")
    return found
