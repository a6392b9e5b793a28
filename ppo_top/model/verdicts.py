"""How bad: the severity of a finding, the status of a value, the verdict on a run and its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Self


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 1
    WATCH = 2
    WARN = 3
    CRIT = 4

    @property
    def word(self) -> str:
        """The name in texts, settings and JSON: `info`, `watch`, `warn` or `crit`."""
        return self.name.lower()

    @property
    def status(self) -> Status:
        """The status of a value that has such a finding."""
        return Status(self.word)

    @property
    def verdict(self) -> Verdict:
        """The verdict on a run whose worst finding is this bad."""
        return Verdict(self.word)


class OrderedWord(StrEnum):
    """Words in the order of their definition; `rank` is the index in it."""

    rank: int

    def __new__(cls, word: str) -> Self:
        """Count the members as they are defined."""
        member = str.__new__(cls, word)
        member._value_, member.rank = word, len(cls.__members__)
        return member

    @property
    def words(self) -> str:
        """As written in a sentence: without hyphens."""
        return self.value.replace("-", " ")


class Status(OrderedWord):
    """How a value on the checklist looks, best to worst after the two that have no answer yet."""

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


class Verdict(OrderedWord):
    """The verdict on a run: the severity of its worst open finding, or why there is none."""

    UNJUDGED = "unjudged"
    WARMING_UP = "warming-up"
    HEALTHY = "healthy"
    INFO = "info"
    WATCH = "watch"
    WARN = "warn"
    CRIT = "crit"

    @property
    def is_judged(self) -> bool:
        """Whether anything can be said of the run yet."""
        return self.rank >= Verdict.HEALTHY.rank

    @property
    def is_trouble(self) -> bool:
        """Whether a finding worse than `info` is open."""
        return self.rank >= Verdict.WATCH.rank

    @property
    def status(self) -> Status:
        """The status with the same symbol and colour."""
        return _STATUS_OF.get(self) or Status(self.value)

    def is_stalled_only(self, state: State) -> bool:
        """Whether what is wrong with a run is that it is stalled, and nothing else."""
        return state is State.STALLED and not self.is_trouble

    def mark(self, state: State, *, watches: bool = False) -> Status:
        """The mark of a run: one that is stalled is to be watched, however healthy it was.

        So is one of which a value is out of its range (`watches`), as long as no finding says more.
        """
        is_watched = self.is_stalled_only(state) or (watches and not self.is_trouble)
        return Status.WATCH if is_watched else self.status


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """How many runs have each verdict, the worst first: what is counted wherever runs are."""
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in reversed(Verdict) if found[verdict]}


def verdict_counts_text(verdicts: Iterable[Verdict]) -> str:
    """`3 crit, 1 warn, 8 healthy`."""
    counts = count_verdicts(verdicts)
    return ", ".join(f"{amount:,} {verdict.words}" for verdict, amount in counts.items())


_STATUS_OF = {Verdict.UNJUDGED: Status.MISSING, Verdict.HEALTHY: Status.OK}


class Axis(StrEnum):
    """What the steps of a run are; they are updates where its log states none.

    Those of measurements of the machine are their times in whole unix seconds.
    """

    STEP = "step"
    EPISODE = "episode"
    EPOCH = "epoch"
    UPDATE = "update"
    SECOND = "second"


class RowKind(StrEnum):
    """What a row of a run is."""

    UPDATE = "update"
    EPISODE = "episode"


class State(OrderedWord):
    """Whether a run is still going, in the order in which a run goes through them."""

    STARTING = "starting"
    LIVE = "live"
    STALLED = "stalled"
    ENDED = "ended"
    """Stopped by hand, cancelled, or silent for long; its log tells of no success or failure."""
    FINISHED = "finished"
    DIED = "died"


RunRank = tuple[int, bool, bool, float, str]


def worst_first(
    verdict: Verdict, state: State, last_change: float, name: str, *, watches: bool = False
) -> RunRank:
    """Sort key of runs wherever they are listed: the worst mark first, where it is one of trouble.

    Of equal marks those that are only watched for a value come last. Then live ones, by name, for
    they write in turn; then the others, the newest first.
    """
    mark = verdict.mark(state, watches=watches)
    trouble = mark.rank if mark.is_trouble else 0
    for_a_value = bool(trouble) and not verdict.mark(state).is_trouble
    is_live = state is State.LIVE
    return -trouble, for_a_value, not is_live, 0.0 if is_live else -last_change, name
