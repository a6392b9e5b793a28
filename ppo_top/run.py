"""One run: its sources, and the fold of its rows into a timeline and findings.

The fold is one way: sealed rows are judged once and for good; rows that may still grow (the newest
ones) are judged by a copy of the judge, afresh at each look. So the findings are a function of what
the logs hold, whatever the cut of the bytes and the order of arrival: live, replay and check agree.
When something turns up that belongs before a sealed row, or changes what is known of the run as a
whole (its producer, its configuration), the fold starts again from the first row.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ppo_top.catalogue import Producer, hyperparameter, identify, total
from ppo_top.merge import Gathered, Rows
from ppo_top.model import ConfigValue, Finding, Mark, Profile, Row
from ppo_top.plan import Plan, make_plan
from ppo_top.rules.judge import Judge
from ppo_top.rules.text import TextEvidence
from ppo_top.settings import Settings
from ppo_top.sources import SourceState
from ppo_top.timeline import Timeline, Track

LATEST = 1 << 62
"""The step of what is said of a run as it stands."""

AHEAD = 64
"""Rows that may wait for a source that lags before they are sealed without it."""

CONFIG_FROM_TRACKS = {"lr": "learning_rate", "clip_range": "clip_range"}
"""Settings that trainers log as a metric: the first value is what the run started with."""

_clock: Callable[[], float] = time.perf_counter

Note = tuple[int, TextEvidence, str]
"""Where a line of the console stands, what it is evidence of, and the line."""


def _place(note: Note) -> int:
    return note[0]


@dataclass(slots=True)
class Run:
    """A training run, from whatever its trainer left."""

    id: str
    name: str
    path: str
    settings: Settings
    sources: dict[str, SourceState] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    profile: Profile = field(default_factory=Profile)
    producer: Producer = field(default_factory=lambda: identify(()))
    config: dict[str, ConfigValue] = field(default_factory=dict)
    judge: Judge = field(init=False)
    version: int = 0
    """Rises with every change: what was drawn of an older version is out of date."""
    judged: bool = True
    """Whether the timeline and the findings hold all that the sources do."""
    tags_left_out: int = 0
    _plan: Plan | None = None
    _rows: Rows = field(default_factory=lambda: Rows(()))
    _sealed: int = 0
    _segment: int = 0
    _clocked: bool = False
    """Whether the main source tells the time; else seconds since the start are taken for it."""
    _committed: Judge = field(init=False)
    _notes: tuple[list[Note], list[Note]] = ([], [])
    """What the console said: by the run's own steps, and by how many records came before."""
    _noted: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self._committed = self.judge = Judge(self.profile)

    @property
    def findings(self) -> list[Finding]:
        """Every finding of the run so far, in the order of opening."""
        return self.judge.findings

    # --- taking in ---------------------------------------------------------------------------

    def source(self, state: SourceState) -> None:
        """Add a source."""
        self.sources[state.key] = state
        self._plan = None

    def changed(self, fresh: bool) -> None:
        """A source has new points; `fresh`: a new tag, a new setting, or it began again."""
        self.judged = False
        if fresh:
            self._plan = None

    # --- judging -----------------------------------------------------------------------------

    def fold(self, deadline: float = float("inf")) -> bool:
        """Judge what is new until the deadline (`time.perf_counter`); True when all is judged."""
        if self.judged:
            return True
        self.version += 1
        if self._plan is None or not self._plan.holds() or not self._rows.refresh():
            self._start_again()
        self._cut_back()
        while (key := self._rows.next_key()) is not None:
            waiting = self._rows.waiting_for(key)
            if waiting and not self._overdue():
                break
            if waiting:
                self._rows.forgive(waiting)
            self._append(self._rows.take(key), self._committed)
            self._rows.seal(key)
            self._sealed = len(self.timeline)
            if self._sealed % 32 == 0 and _clock() > deadline:
                self.judge = self._committed
                return False
        self._look_ahead()
        self.judged = True
        return True

    def _start_again(self) -> None:
        plan = make_plan(self.sources.values(), self.settings.tags)
        self._plan, self.tags_left_out = plan, plan.left_out
        self.producer = plan.producer
        self.config = self._gather_config(plan)
        self._rows = Rows(plan.lanes, plan.clock)
        self._clocked = plan.clocked
        self._rows.refresh()
        self.timeline = Timeline()
        self._sealed = self._segment = 0
        self._noted = (0, 0)
        self.profile = Profile(
            producer=plan.producer.id,
            family=plan.producer.family,
            algo=plan.producer.algo,
            config=self.config,
            overrides=self.settings.thresholds,
            muted=self.settings.muted,
            goal=self.settings.goal,
            tags={lane.concept: lane.tag for lane in plan.lanes},
        )
        self._committed = Judge(self.profile, self.settings.rules)
        self._notes = self._gather_notes()
        for lane in plan.lanes:
            name = lane.tag
            self.timeline.tracks[lane.concept] = Track(lane.concept, name, lane.source)

    def _gather_config(self, plan: Plan) -> dict[str, ConfigValue]:
        """Settings under canonical names; of two sources the better ranked one counts."""
        config: dict[str, ConfigValue] = {}
        for source in sorted(self.sources.values(), key=lambda each: (-each.rank, each.key)):
            for key, value in source.config.items():
                config.setdefault(hyperparameter(key, plan.producer.id) or key, value)
        for lane in plan.lanes:
            name = CONFIG_FROM_TRACKS.get(lane.concept)
            first = next((part.values[0] for part in lane.parts if part.values), None)
            if name is not None and name not in config and first is not None and first == first:
                config[name] = lane.offset + lane.scale * first
        return config

    def _gather_notes(self) -> tuple[list[Note], list[Note]]:
        """What the consoles said; where one names no steps at all, it speaks of the end."""
        by_step: list[Note] = []
        by_rank: list[Note] = []
        for _, source in sorted(self.sources.items()):
            steps = self._foreign_steps(source)
            for line, found in source.evidence:
                if line.step is None:
                    by_step.append((-1 if source.points else LATEST, found, line.text))
                elif steps is None:
                    by_step.append((line.step, found, line.text))
                else:
                    by_rank.append((bisect_right(steps, line.step), found, line.text))
        return sorted(by_step, key=_place), sorted(by_rank, key=_place)

    def _foreign_steps(self, source: SourceState) -> Sequence[int] | None:
        """The steps of a source that may count something else than the run; None for its own."""
        clock = self._plan.clock if self._plan is not None else ()
        own = source.series.values()
        if not clock or not own or any(series is each for series in own for each in clock):
            return None
        return max(own, key=len).steps

    def _overdue(self) -> bool:
        """Whether more rows wait than may wait."""
        ahead = 0
        place = self._rows.place()
        while ahead <= AHEAD and (key := self._rows.next_key()) is not None:
            self._rows.take(key)
            ahead += 1
        self._rows.back_to(place)
        return ahead > AHEAD

    def _look_ahead(self) -> None:
        """Judge the rows that may still grow, by a copy, so that it can be taken back."""
        place = self._rows.place()
        key = self._rows.next_key()
        if key is None and self._noted == tuple(map(len, self._notes)):
            self.judge = self._committed
            return
        segment, noted = self._segment, self._noted
        self.judge = self._committed.copy()
        while key is not None:
            self._append(self._rows.take(key), self.judge)
            key = self._rows.next_key()
        self._note(self.judge, None)
        self._rows.back_to(place)
        self._segment, self._noted = segment, noted

    def _append(self, gathered: Gathered, judge: Judge) -> None:
        segment, step = gathered.key
        if segment != self._segment:
            self._segment = segment
            self.timeline.restarts.append(len(self.timeline))
            judge.restart()
        when = gathered.time
        if when != when and not self._clocked:
            when = gathered.values.get("time_elapsed", when)
        mark = Mark(len(self.timeline), step, when)
        self.timeline.steps.append(step)
        self.timeline.times.append(when)
        for concept, value in gathered.values.items():
            self.timeline.tracks[concept].append(mark, value)
        judge.feed(Row(mark, gathered.values))
        self._note(judge, step)

    def _note(self, judge: Judge, step: int | None) -> None:
        """Hand over what the console said up to a step, and to this row (None: to its end)."""
        last = len(self.timeline) - 1
        reached = (None, None) if step is None else (step, last + 1)
        done = []
        for notes, told, until in zip(self._notes, self._noted, reached, strict=True):
            number = told
            while number < len(notes) and (until is None or notes[number][0] <= until):
                at, evidence, text = notes[number]
                mark = self.timeline.mark(last) if last >= 0 else Mark(0, max(at, 0), float("nan"))
                judge.note(evidence.kind, text, mark)
                number += 1
            done.append(number)
        self._noted = (done[0], done[1])

    def _cut_back(self) -> None:
        """Take the rows off the timeline that were only a look ahead."""
        line = self.timeline
        del line.steps[self._sealed :], line.times[self._sealed :]
        line.restarts[:] = [row for row in line.restarts if row < self._sealed]
        for track in line.tracks.values():
            keep = track.until(self._sealed - 1)
            for column in (track.rows, track.steps, track.times, track.values):
                del column[keep:]

    # --- asking ------------------------------------------------------------------------------

    @property
    def total_steps(self) -> int | None:
        """How many steps the run will make, where a source says so."""
        steps = self.timeline.steps
        return total(self.config, self.producer, steps[-1] if steps else None)

    @property
    def sealed_row(self) -> int:
        """The newest row that was judged for good; -1 before the first."""
        return self._sealed - 1

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """What a tag of a source means, or None."""
        return self._plan.concepts.get((source.key, tag)) if self._plan else None

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
