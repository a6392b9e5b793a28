"""One run: its sources, and what was made of them.

What is shown is the newest complete fold. When something turns up that asks for another one (a late
file, a better source, a setting that was not known), that is made beside it, and takes its place
when it has caught up. Of a run that nobody looks at, what was judged can be let go; whoever needs
it again has its logs read once more.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ppo_top.catalogue import Trainer, total_steps
from ppo_top.model import ConfigValue, Finding, Profile
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.judge import Judge
from ppo_top.runs.evaluation import Evaluation
from ppo_top.runs.source import SourceState
from ppo_top.runs.timeline import Timeline
from ppo_top.settings import Settings
from ppo_top.support.packed import Packed

KEEP_ROWS = 32
"""Rows that are kept of a run when the others are let go: states and speeds are read from them."""

RUN_OVERHEAD_POINTS = 4_000
"""A run takes as much memory besides its points as so many of these: its judge, its lanes."""

SHARED_TYPES = (Rule, Trainer, SourceState)
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
    awaiting_reread: set[str] = field(default_factory=set)
    """Sources that are to be read again from their beginning, and have not begun yet."""
    unjudged_points: int = 0
    """Points that came since all was judged."""
    needs_reread: bool = False
    """Whether it can only be judged on when its sources were read again."""
    _current: Evaluation = field(init=False)
    _next: Evaluation | None = None
    _stale: bool = True
    _packed: Packed | None = None

    def __post_init__(self) -> None:
        self._current = Evaluation((), self.settings)

    # --- taking in ---------------------------------------------------------------------------

    def add_source(self, state: SourceState) -> None:
        """Add a source."""
        self.unpack()
        self.sources[state.key] = state
        self._stale = True

    def mark_changed(self, start_over: bool) -> None:
        """A source has new points; `start_over`: a new tag, a new setting, or it began again."""
        self.judged = False
        self._stale = self._stale or start_over

    # --- judging -----------------------------------------------------------------------------

    def evaluate(self, deadline: float = float("inf")) -> bool:
        """Judge what is new until the deadline (`time.perf_counter`); True when all is judged."""
        if self.judged:
            return True
        self.version += 1
        work = self._next or self._current
        if self._stale or not work.refresh():
            if self.is_partial:
                self.needs_reread = not self.awaiting_reread
                self.judged = True  # as far as it goes for now
                return True
            work = self._start_evaluation()
        self.judged = work.advance(deadline)
        if self.judged:
            self.unjudged_points = 0
            for source in self.sources.values():
                source.newest_values = source.newest_values if source.more else {}
        if work is self._next and self._has_caught_up(work):
            self._current, self._next = work, None
        return self.judged

    def _start_evaluation(self) -> Evaluation:
        self._stale = False
        fold = Evaluation(tuple(self.sources.values()), self.settings)
        if len(self.timeline):
            self._next = fold
        else:
            self._current = fold
        return fold

    def _has_caught_up(self, fold: Evaluation) -> bool:
        if len(fold.timeline) >= len(self.timeline):
            return True
        return self.judged and not self.has_more_to_read

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
    def held_points(self) -> int:
        """How many points are here."""
        return sum(source.held_points for source in self.sources.values())

    @property
    def has_more_to_read(self) -> bool:
        """Whether more of it lies ready to be read."""
        return bool(self.awaiting_reread) or any(source.more for source in self.sources.values())

    def request_reread(self, gone: Container[str]) -> set[str]:
        """The sources that are to be read again, unless they are already awaited.

        Of those that are `gone` nothing more can be had, and what is left of them goes.
        """
        if self.awaiting_reread:
            return set()
        self.unpack()
        self.needs_reread = False
        for key, source in self.sources.items():
            if key in gone:
                source.clear()
        self.awaiting_reread = {key for key in self.sources if key not in gone}
        return set(self.awaiting_reread)

    @property
    def memory_points(self) -> int:
        """The memory that it takes, in points."""
        return 0 if self._packed is not None else self.held_points + RUN_OVERHEAD_POINTS

    @property
    def can_drop_history(self) -> bool:
        """Whether something can go: not while another fold is under way, nor of a pipe."""
        return self._next is None and not self._stale and "stdin" not in self.sources

    def drop_history(self) -> None:
        """Keep the newest rows, and what is not judged for good; verdict and findings stay."""
        if self._packed is None and self.can_drop_history:
            self._current.drop_old(KEEP_ROWS)
            read = self._current.series_ids
            for source in self.sources.values():
                source.drop_unused(read)
            self.version += 1

    def pack(self) -> None:
        """Let go, and squeeze what is left: for a run of which nothing new is expected soon."""
        if self._packed is None and self.can_drop_history and self.judged:
            self.drop_history()
            inner = (
                self._current.detach_state(),
                [each.detach_state() for each in self.sources.values()],
            )
            self._packed = Packed(inner, SHARED_TYPES)

    def unpack(self) -> None:
        """Be as before `pack`: needed before anything is taken in or looked at in detail."""
        if self._packed is None:
            return
        fold, sources = self._packed.unpack()
        self._packed = None
        self._current.restore_state(fold)
        for each, inner in zip(self.sources.values(), sources, strict=True):
            each.restore_state(inner)
        self.judged = False
        self.evaluate()

    # --- asking ------------------------------------------------------------------------------

    @property
    def timeline(self) -> Timeline:
        """The run's rows, judged so far."""
        return self._current.timeline

    @property
    def judge(self) -> Judge:
        """The judge as it stands after the newest row."""
        return self._current.judge

    @property
    def findings(self) -> list[Finding]:
        """Every finding of the run so far, in the order of opening."""
        return self._current.findings

    @property
    def profile(self) -> Profile:
        """What the rules know of the run besides its numbers."""
        return self._current.profile

    @property
    def trainer(self) -> Trainer:
        """Which trainer wrote its logs."""
        return self._current.trainer

    @property
    def config(self) -> dict[str, ConfigValue]:
        """Its settings, under canonical names where they have one."""
        return self._current.config

    @property
    def has_concepts(self) -> bool:
        """Whether it logs anything that means something to the rules."""
        return self._current.has_concepts

    @property
    def newest_values(self) -> dict[str, float]:
        """concept -> value at the end of its logs, while these are long and being read."""
        return self._current.newest_values() if self._packed is None else {}

    @property
    def tags_left_out(self) -> int:
        """How many tags are not judged because there are too many."""
        return self._current.tags_left_out

    @property
    def sealed_row(self) -> int:
        """The newest row that was judged for good; -1 before the first."""
        return self._current.sealed_rows - 1

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """What a tag of a source means, or None."""
        return self._current.concept_of(source, tag)

    @property
    def total_steps(self) -> int | None:
        """How many steps the run will make, where a source says so."""
        steps = self.timeline.steps
        return total_steps(self.config, self.trainer, steps[-1] if steps else None)

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
