"""One run: its sources, and what was made of them.

What is shown is the newest complete fold. When something turns up that asks for another one (a late
file, a better source, a setting that was not known), that is made beside it, and takes its place
when it has caught up. Of a run that nobody looks at, what was judged can be let go; whoever needs
it again has its logs read once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

from ppo_top.catalogue import Producer, total
from ppo_top.fold import Fold
from ppo_top.model import ConfigValue, Finding, Profile
from ppo_top.rules.judge import Judge
from ppo_top.settings import Settings
from ppo_top.sources import SourceState
from ppo_top.timeline import Timeline

KEEP_ROWS = 32
"""Rows that are kept of a run when the others are let go: states and speeds are read from them."""


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
    wants_history: bool = False
    """Whether it can only be judged on when its sources were read again."""
    _shown: Fold = field(init=False)
    _next: Fold | None = None
    _stale: bool = True

    def __post_init__(self) -> None:
        self._shown = Fold((), self.settings)

    # --- taking in ---------------------------------------------------------------------------

    def source(self, state: SourceState) -> None:
        """Add a source."""
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
            if not self.is_whole:
                self.wants_history = not self.awaited
                self.judged = True  # as far as it goes for now
                return True
            work = self._begin()
        self.judged = work.advance(deadline)
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
        return self.judged and not any(source.more for source in self.sources.values())

    # --- letting go --------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Whether all points are here; else the newest ones only."""
        return not any(source.is_partial for source in self.sources.values())

    @property
    def held(self) -> int:
        """How many points are here."""
        return sum(source.held for source in self.sources.values())

    def let_go(self) -> None:
        """Keep the newest rows, and what is not judged for good; verdict and findings stay."""
        if self._next is not None or self._stale:
            return
        self._shown.let_go(KEEP_ROWS)
        lanes = self._shown.series
        for source in self.sources.values():
            source.let_go(lanes)
        self.version += 1

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

    def first_ended(self) -> SourceState | None:
        """A source that says that the run is over; death counts before completion."""
        ended = [each for each in self.sources.values() if each.ended is not None]
        return min(ended, key=lambda each: (each.ended.state.value, each.key), default=None)  # type: ignore[union-attr]


def common_path(keys: Iterable[str]) -> str:
    """The folder that all of some source keys share, for showing."""
    parts = [PurePath(key).parent.parts for key in keys]
    shared: list[str] = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return str(PurePath(*shared)) if shared else "."
