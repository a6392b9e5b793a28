"""The types that all layers share: bytes -> `Batch` -> `Series` -> `Row` -> `Finding` -> `Verdict`.

Names imported from here stay valid whichever module of this package defines them.
"""

from ppo_top.model.console_lines import UNKNOWN_TIME as UNKNOWN_TIME
from ppo_top.model.console_lines import ConsoleLine as ConsoleLine
from ppo_top.model.console_lines import ConsoleLines as ConsoleLines


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 1
    WATCH = 2
    WARN = 3
    CRIT = 4

    @property
    def word(self) -> str:
        """The name that users, settings and JSON see: `info`, `watch`, `warn` or `crit`."""
        return self.name.lower()

    @property
    def status(self) -> Status:
        """The same as the mark of a checklist row."""
        return Status(self.word)

    @property
    def verdict(self) -> Verdict:
        """The same as the verdict on a run."""
        return Verdict(self.word)


class _OrderedWord(StrEnum):
    """Words in an order, from the first defined (least) to the last (worst)."""

    @property
    def rank(self) -> int:
        """The place in the order, from 0."""
        return list(type(self)).index(self)

    @property
    def words(self) -> str:
        """As it is written in a sentence."""
        return self.value.replace("-", " ")


class Status(_OrderedWord):
    """What a row of the checklist says of its value, from the least to the worst."""

    MISSING = "missing"
    WARMING_UP = "warming-up"
    OK = "ok"
    INFO = "info"
    WATCH = "watch"
    WARN = "warn"
    CRIT = "crit"

    @property
    def is_trouble(self) -> bool:
        """Whether the value is outside its healthy range."""
        return self.rank >= Status.WATCH.rank


class Verdict(_OrderedWord):
    """What is said of a run, from the least to the worst: that of its worst open finding."""

    UNJUDGED = "unjudged"
    WARMING_UP = "warming-up"
    HEALTHY = "healthy"
    INFO = "info"
    WATCH = "watch"
    WARN = "warn"
    CRIT = "crit"

    @property
    def is_trouble(self) -> bool:
        """Whether a finding that is worse than information is open."""
        return self.rank >= Verdict.WATCH.rank

    @property
    def status(self) -> Status:
        """The same as the mark of a checklist row."""
        return _STATUS_OF.get(self) or Status(self.value)


_STATUS_OF = {Verdict.UNJUDGED: Status.MISSING, Verdict.HEALTHY: Status.OK}


class State(_OrderedWord):
    """Whether a run is alive, in the order of a run's life."""

    STARTING = "starting"
    LIVE = "live"
    STALLED = "stalled"
    ENDED = "ended"
    """Silent, without an end marker in its log."""
    FINISHED = "finished"
    DIED = "died"


# --- what a parser answers -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Points:
    """New points of one tag, in file order, as three columns of equal length.

    `steps` is array("q"), `times` array("d") in unix seconds (NaN: not known), `values` array("d")
    with NaN and infinities kept.
    """

    tag: str
    steps: array[int]
    times: array[float]
    values: array[float]

    def __len__(self) -> int:
        return len(self.steps)


class Problem(NamedTuple):
    """Something that could not be read: where (a byte offset, or a row of a store) and what."""

    offset: int
    message: str


class RunEnd(NamedTuple):
    """A log's own word that the run is over: `State.FINISHED` or `State.DIED`, and the words."""

    state: State
    text: str


ConfigValue = float | int | bool | str


@dataclass(slots=True)
class Batch:
    """What a parser made of one piece of a log; empty when it needs more bytes.

    Of the same bytes, however they are cut, the concatenated batches are the same: per tag the same
    points in the same order, and the same lines, configuration, problems and end. `ended` is what
    stands at the end of the piece: points behind a traceback mean that the run went on (None).
    """

    points: list[Points] = field(default_factory=list)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    lines: ConsoleLines = field(default_factory=ConsoleLines)
    problems: list[Problem] = field(default_factory=list)
    ended: RunEnd | None = None
    stored_run: str = ""
    """For a store that holds several runs: the name of the one that all of this belongs to."""

    def __bool__(self) -> bool:
        return bool(self.points or self.config or self.lines or self.problems or self.ended)


# --- what is kept ----------------------------------------------------------------------------


@dataclass(slots=True)
class Series:
    """All points of one tag of one source, as columns of equal length that grow at their end.

    Of a series that nobody looks at the beginning may have been let go: `dropped` points. They
    still count in its length, and the column's first element is point number `dropped`.
    """

    tag: str
    steps: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    dropped: int = 0

    def __len__(self) -> int:
        return self.dropped + len(self.steps)

    def extend(self, points: Points) -> None:
        """Append what a batch brought."""
        self.steps.extend(points.steps)
        self.times.extend(points.times)
        self.values.extend(points.values)

    def drop_before(self, until: int) -> None:
        """Drop the points before number `until`, but for the newest point."""
        count = min(until, len(self) - 1) - self.dropped
        if count > 0:
            for column in (self.steps, self.times, self.values):
                del column[:count]
            self.dropped += count


# --- what is judged --------------------------------------------------------------------------


class Mark(NamedTuple):
    """A place on a run's own timeline: the row's number, its step and its unix time (or NaN)."""

    row: int
    step: int
    time: float


class Row(NamedTuple):
    """One update of a run: concept name -> value, sign and unit already those of the concept.

    A concept that the log does not hold at this step is absent; NaN and infinities are kept.
    Concepts with a parameter are spelt `reward_component_mean{accuracy}`.
    """

    mark: Mark
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a run besides its numbers; rules read their limits from here.

    `config` holds hyperparameters under canonical names (`learning_rate`, `clip_range`,
    `target_kl`, `beta`, `n_epochs`, `total_timesteps`, ...); `threshold_overrides` what the
    settings file says about rules: id -> threshold name -> value.
    """

    trainer_id: str = "unknown"
    family: str = "unknown"
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    threshold_overrides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    muted: frozenset[str] = frozenset()
    goal: float | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    """concept -> the tag under which this run logs it, for messages."""
    algo: str = ""
    """`PPO`, `A2C`, `SAC`, `GRPO`, ... where the tags tell."""


class SeverityChange(NamedTuple):
    """A step in a finding's life: where, and to which severity."""

    mark: Mark
    severity: Severity


class FindingVersion(NamedTuple):
    """What a finding said from a row on: it gains evidence and members while it is open."""

    row: int
    since: Mark
    value: float
    limit: float | None
    message: str
    evidence: tuple[str, ...]
    members: tuple[str, ...]


@dataclass(slots=True)
class Finding:
    """A rule that spoke: an interval on the run's timeline, with its reasons.

    `since` is the first bad point of the window that raised it, `changes` the places where it
    opened and grew more severe, `cleared` where it ended (None: still open).
    """

    rule: str
    title: str
    concepts: tuple[str, ...]
    since: Mark
    changes: list[SeverityChange]
    value: float
    limit: float | None
    message: str
    evidence: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    source: str = ""
    members: tuple[str, ...] = ()
    """For a diagnosis across metrics: the rules whose findings it gathers."""
    cleared: Mark | None = None
    versions: list[FindingVersion] = field(default_factory=list)
    """What it said when, so that the past can be shown as it was."""

    @property
    def severity(self) -> Severity:
        """The highest severity so far (inside one finding it only ever rises)."""
        return self.changes[-1].severity

    @property
    def opened(self) -> Mark:
        """Where the rule spoke first."""
        return self.changes[0].mark

    def record_version(self, row: int) -> None:
        """Remember what the finding says at a row, if that is news."""
        now = FindingVersion(
            row, self.since, self.value, self.limit, self.message, self.evidence, self.members
        )
        if self.versions and self.versions[-1].row == row:
            self.versions[-1] = now
        elif not self.versions or self.versions[-1][1:] != now[1:]:
            self.versions.append(now)

    def as_of(self, row: int) -> Finding:
        """The finding as it was known when `row` was the newest row (at or after its opening)."""
        said = next((each for each in reversed(self.versions) if each.row <= row), None)
        later = self.cleared is not None and self.cleared.row > row
        if said is None or (said is self.versions[-1] and not later):
            return self
        return replace(
            self,
            since=said.since,
            changes=[change for change in self.changes if change.mark.row <= row],
            value=said.value,
            limit=said.limit,
            message=said.message,
            evidence=said.evidence,
            members=said.members,
            cleared=None if later else self.cleared,
        )

    def severity_at(self, row: int) -> Severity | None:
        """The severity as it stood when `row` was the newest, or None when it was not open."""
        if self.cleared is not None and self.cleared.row <= row:
            return None
        standing = [change.severity for change in self.changes if change.mark.row <= row]
        return standing[-1] if standing else None


def worst_severity(findings: Iterable[Finding], row: int) -> Severity | None:
    """The highest severity among findings open at a row; None when nothing is open."""
    open_now: Sequence[Severity] = [s for f in findings if (s := f.severity_at(row)) is not None]
    return max(open_now, default=None)
