"""One run: its sources, and what was made of them.

What is shown is the newest complete fold. When something turns up that asks for another one (a late
file, a better source, a setting that was not known), that is made beside it, and takes its place
when it has caught up. Of a run that nobody looks at, what was judged can be let go; whoever needs
it again has its logs read once more.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ppo_top.catalogue import Producer, total
from ppo_top.model import ConfigValue, Finding, Profile
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.judge import Judge
from ppo_top.runs.evaluation import Fold
from ppo_top.runs.source import SourceState
from ppo_top.runs.timeline import Timeline
from ppo_top.settings import Settings
from ppo_top.support.packed import Packed

KEEP_ROWS = 32
"""Rows that are kept of a run when the others are let go: states and speeds are read from them."""

UNPACKED = 4_000
"""A run takes as much memory besides its points as so many of these: its judge, its lanes."""

KEPT = (Rule, Producer, SourceState)
"""What other runs have as well, or the run itself: not squeezed."""


@dataclass(slots=True)
class Run:
    """A training run, from whatever its trainer left."""

    id: str
    name: str
    path: str
    settings: Settings
    sources: dict[str, SourceState] = field(default_factory=dict)
    version: int = 0
    """Rises with every change: what was drawn of an older version is out of date."""
    judged: bool = True
    """Whether the timeline and the findings hold all that the sources do."""
    awaited: set[str] = field(default_factory=set)
    """Sources that are to be read again from their beginning, and have not begun yet."""
    waiting: int = 0
    """Points that came since all was judged."""
    wants_history: bool = False
    """Whether it can only be judged on when its sources were read again."""
    _shown: Fold = field(init=False)
    _next: Fold | None = None
    _stale: bool = True
    _packed: Packed | None = None

    def __post_init__(self) -> None:
        self._shown = Fold((), self.settings)

    # --- taking in ---------------------------------------------------------------------------

    def source(self, state: SourceState) -> None:
        """Add a source."""
        self.unpack()
        self.sources[state.key] = state
        self._stale = True

    def changed(self, fresh: bool) -> None:
        """A source has new points; `fresh`: a new tag, a new setting, or it began again."""
        self.judged = False
        self._stale = self._stale or fresh

    # --- judging -----------------------------------------------------------------------------

    def fold(self, deadline: float = float("inf")) -> bool:
        """Judge what is new until the deadline (`time.perf_counter`); True when all is judged."""
        if self.judged:
            return True
        self.version += 1
        work = self._next or self._shown
        if self._stale or not work.holds():
            if self.is_partial:
                self.wants_history = not self.awaited
                self.judged = True  # as far as it goes for now
                return True
            work = self._begin()
        self.judged = work.advance(deadline)
        if self.judged:
            self.waiting = 0
            for source in self.sources.values():
                source.newest = source.newest if source.more else {}
        if work is self._next and self._has_caught_up(work):
            self._shown, self._next = work, None
        return self.judged

    def _begin(self) -> Fold:
        self._stale = False
        fold = Fold(tuple(self.sources.values()), self.settings)
        if len(self.timeline):
            self._next = fold
        else:
            self._shown = fold
        return fold

    def _has_caught_up(self, fold: Fold) -> bool:
        if len(fold.timeline) >= len(self.timeline):
            return True
        return self.judged and not self.reading

    # --- letting go --------------------------------------------------------------------------

    @property
    def is_partial(self) -> bool:
        """Whether points were let go that have not been asked for again."""
        partial = (source.is_partial for source in self.sources.values())
        return self._packed is not None or any(partial)

    @property
    def is_whole(self) -> bool:
        """Whether what is shown has all rows; else the newest ones only."""
        return not self.is_partial and self.timeline.is_whole

    @property
    def held(self) -> int:
        """How many points are here."""
        return sum(source.held for source in self.sources.values())

    @property
    def reading(self) -> bool:
        """Whether more of it lies ready to be read."""
        return bool(self.awaited) or any(source.more for source in self.sources.values())

    def recall(self, gone: Container[str]) -> set[str]:
        """The sources that are to be read again, unless they are already awaited.

        Of those that are `gone` nothing more can be had, and what is left of them goes.
        """
        if self.awaited:
            return set()
        self.unpack()
        self.wants_history = False
        for key, source in self.sources.items():
            if key in gone:
                source.clear()
        self.awaited = {key for key in self.sources if key not in gone}
        return set(self.awaited)

    @property
    def weight(self) -> int:
        """The memory that it takes, in points."""
        return 0 if self._packed is not None else self.held + UNPACKED

    @property
    def can_let_go(self) -> bool:
        """Whether something can go: not while another fold is under way, nor of a pipe."""
        return self._next is None and not self._stale and "stdin" not in self.sources

    def let_go(self) -> None:
        """Keep the newest rows, and what is not judged for good; verdict and findings stay."""
        if self._packed is None and self.can_let_go:
            self._shown.let_go(KEEP_ROWS)
            read = self._shown.series
            for source in self.sources.values():
                source.let_go(read)
            self.version += 1

    def pack(self) -> None:
        """Let go, and squeeze what is left: for a run of which nothing new is expected soon."""
        if self._packed is None and self.can_let_go and self.judged:
            self.let_go()
            inner = self._shown.take_out(), [each.take_out() for each in self.sources.values()]
            self._packed = Packed(inner, KEPT)

    def unpack(self) -> None:
        """Be as before `pack`: needed before anything is taken in or looked at in detail."""
        if self._packed is None:
            return
        fold, sources = self._packed.unpack()
        self._packed = None
        self._shown.put_in(fold)
        for each, inner in zip(self.sources.values(), sources, strict=True):
            each.put_in(inner)
        self.judged = False
        self.fold()

    # --- asking ------------------------------------------------------------------------------

    @property
    def timeline(self) -> Timeline:
        """The run's rows, judged so far."""
        return self._shown.timeline

    @property
    def judge(self) -> Judge:
        """The judge as it stands after the newest row."""
        return self._shown.judge

    @property
    def findings(self) -> list[Finding]:
        """Every finding of the run so far, in the order of opening."""
        return self._shown.findings

    @property
    def profile(self) -> Profile:
        """What the rules know of the run besides its numbers."""
        return self._shown.profile

    @property
    def producer(self) -> Producer:
        """Which trainer wrote its logs."""
        return self._shown.producer

    @property
    def config(self) -> dict[str, ConfigValue]:
        """Its settings, under canonical names where they have one."""
        return self._shown.config

    @property
    def has_concepts(self) -> bool:
        """Whether it logs anything that means something to the rules."""
        return self._shown.has_concepts

    @property
    def newest(self) -> dict[str, float]:
        """concept -> value at the end of its logs, while these are long and being read."""
        return self._shown.newest() if self._packed is None else {}

    @property
    def tags_left_out(self) -> int:
        """How many tags are not judged because there are too many."""
        return self._shown.tags_left_out

    @property
    def sealed_row(self) -> int:
        """The newest row that was judged for good; -1 before the first."""
        return self._shown.sealed - 1

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """What a tag of a source means, or None."""
        return self._shown.concept_of(source, tag)

    @property
    def total_steps(self) -> int | None:
        """How many steps the run will make, where a source says so."""
        steps = self.timeline.steps
        return total(self.config, self.producer, steps[-1] if steps else None)

    @property
    def points(self) -> int:
        """Points of all sources."""
        return sum(source.points for source in self.sources.values())

    @property
    def last_change(self) -> float:
        """When its logs were last written, in unix seconds."""
        return max((source.mtime for source in self.sources.values()), default=0.0)

    def first_ended(self) -> SourceState | None:
        """A source that says that the run is over; death counts before completion."""
        ended = [each for each in self.sources.values() if each.ended is not None]
        return min(ended, key=lambda each: (each.ended.state.value, each.key), default=None)  # type: ignore[union-attr]
