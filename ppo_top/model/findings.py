"""What the rules see (`Row`, `Profile`) and what they find (`Finding`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.points import ConfigValue, Sample
from ppo_top.model.verdicts import Axis, RowKind, Severity

NO_STEP = -1
"""The step of what happened in a run that has logged none."""


class Mark(NamedTuple):
    """A point on a run's timeline: the number of the row, its step and unix time (or NaN)."""

    row: int
    step: int
    time: float


class Row(NamedTuple):
    """One update of a run: concept -> value, in the sign and unit of the concept.

    A concept that was not logged at this step is absent; NaN and infinities are kept. Parameters
    stand in braces: `reward_component_mean{accuracy}`.
    """

    mark: Mark
    values: Mapping[str, float]


class Profile(NamedTuple):
    """What is known of a run besides its numbers; the rules adapt their limits to it.

    `config` holds hyperparameters under canonical names (`learning_rate`, `clip_range`,
    `target_kl`, `beta`, `n_epochs`, `total_timesteps`, ...), `threshold_overrides` the thresholds
    of the settings file: rule id -> threshold name -> value.
    """

    trainer_id: str = "unknown"
    family: str = "unknown"
    config: Mapping[str, ConfigValue] = {}
    threshold_overrides: Mapping[str, Mapping[str, float]] = {}
    muted: frozenset[str] = frozenset()
    goal: float | None = None
    tags: Mapping[str, str] = {}
    """concept -> the tag under which this run logs it, for messages."""
    samples: Mapping[str, Sample] = {}
    """concept -> what one of its values is, where the trainer's table says so."""
    axis: Axis = Axis.STEP
    """What the run's steps are, for messages."""
    row_kind: RowKind = RowKind.UPDATE
    """What its rows are, likewise."""
    environments: int = 1
    """How many run side by side where the rows are the episodes of one of them."""
    algo: str = ""
    """`PPO`, `A2C`, `SAC`, `GRPO`, ... if the tags show it."""
    first_step: int | None = None
    """The step of the first point; the first row may be later, and sum up episodes before it."""


class SeverityChange(NamedTuple):
    """Where a finding opened or became more severe."""

    mark: Mark
    severity: Severity


class FindingVersion(NamedTuple):
    """What a finding said from a row on: an open finding gains evidence and members."""

    row: int
    since: Mark
    first_sign: Mark
    value: float
    limit: float | None
    message: str
    evidence: tuple[str, ...]
    causes: tuple[str, ...]
    remedies: tuple[str, ...]
    members: tuple[str, ...]


class Finding:
    """A rule that fired: an interval on the run's timeline, with its reasons.

    `since` is the first bad point of the window that raised it, `changes` says where it opened and
    became more or, after long, less severe, `cleared` where it ended (None: still open). `members`
    are, of a diagnosis, the rules whose findings it combines; the `first_sign` of what it states
    may be older than that. `is_event`: its rule tells of one update and not of a state that lasts.
    `is_moment`: of a run's end, at any severity: it has a step and lasts no time. `versions` are
    what it said at which row, to show the past as it was.
    """

    def __init__(
        self,
        rule: str,
        title: str,
        concepts: tuple[str, ...],
        since: Mark,
        changes: list[SeverityChange],
        value: float,
        limit: float | None,
        message: str,
        evidence: tuple[str, ...] = (),
        causes: tuple[str, ...] = (),
        remedies: tuple[str, ...] = (),
        source: str = "",
        members: tuple[str, ...] = (),
        cleared: Mark | None = None,
        is_event: bool = False,
        is_moment: bool = False,
        versions: list[FindingVersion] | None = None,
        first_sign: Mark | None = None,
    ) -> None:
        self.rule = rule
        self.title = title
        self.concepts = concepts
        self.since = since
        self.changes = changes
        self.value = value
        self.limit = limit
        self.message = message
        self.evidence = evidence
        self.causes = causes
        self.remedies = remedies
        self.source = source
        self.members = members
        self.cleared = cleared
        self.is_event = is_event
        self.is_moment = is_moment
        self.versions = [] if versions is None else versions
        self.first_sign = first_sign or since

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Finding({vars(self)})"

    def copy(self) -> Finding:
        """A finding that says the same and changes by itself."""
        other = Finding.__new__(Finding)
        vars(other).update(vars(self))
        other.changes, other.versions = self.changes.copy(), self.versions.copy()
        return other

    @property
    def severity(self) -> Severity:
        """The severity now; of a finding that has cleared, the highest it had."""
        return self.changes[-1].severity if self.cleared is None else self.worst_severity

    @property
    def worst_severity(self) -> Severity:
        """The highest severity it ever had."""
        return max(change.severity for change in self.changes)

    @property
    def is_single(self) -> bool:
        """Whether it is an event so far: what repeats or lasts becomes more severe than watch."""
        return self.is_event and self.severity <= Severity.WATCH

    @property
    def since_word(self) -> str:
        """What stands before its step: `at` of an event or a moment, `since` of a state."""
        return "at" if self.is_single or self.is_moment else "since"

    @property
    def opened(self) -> Mark:
        """Where the rule fired."""
        return self.changes[0].mark

    def record_version(self, row: int) -> None:
        """Keep what the finding says at a row, if that is new."""
        now = FindingVersion(
            row,
            self.since,
            self.first_sign,
            self.value,
            self.limit,
            self.message,
            self.evidence,
            self.causes,
            self.remedies,
            self.members,
        )
        if self.versions and self.versions[-1].row == row:
            self.versions[-1] = now
        elif not self.versions or self.versions[-1][1:] != now[1:]:
            self.versions.append(now)

    def as_of(self, row: int) -> Finding:
        """The finding as it was known when `row` was the newest row (at or after its opening)."""
        then = next((each for each in reversed(self.versions) if each.row <= row), None)
        still_open = self.cleared is not None and self.cleared.row > row
        if then is None or (then is self.versions[-1] and not still_open):
            return self
        past = self.copy()
        for name in FindingVersion._fields[1:]:
            setattr(past, name, getattr(then, name))
        past.changes = [change for change in self.changes if change.mark.row <= row]
        past.cleared = None if still_open else self.cleared
        return past

    def severity_at(self, row: int) -> Severity | None:
        """The severity when `row` was the newest row; None if the finding was not open then."""
        if self.cleared is not None and self.cleared.row <= row:
            return None
        severities = [change.severity for change in self.changes if change.mark.row <= row]
        return severities[-1] if severities else None


def open_at(findings: Iterable[Finding], row: int) -> list[tuple[Finding, Severity]]:
    """The findings that were open when `row` was the newest row, and how severe they were then."""
    return [(f, severity) for f in findings if (severity := f.severity_at(row)) is not None]
