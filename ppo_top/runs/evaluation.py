"""The fold of a run's rows into a timeline and findings.

It is one way: sealed rows are judged once and for good; rows that may still grow (the newest ones)
are judged by a copy of the judge, afresh at each look. So the findings are a function of what the
logs hold, whatever the cut of the bytes and the order of arrival: live, replay and check agree.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ppo_top.catalogue import TAG, hyperparameter
from ppo_top.model import ConfigValue, Finding, Mark, Profile, Row
from ppo_top.rules.console_text import TextEvidence
from ppo_top.rules.engine.context import REWARDS
from ppo_top.rules.judge import Judge
from ppo_top.runs.row_merge import Gathered, Rows
from ppo_top.runs.source import SourceState
from ppo_top.runs.source_selection import Plan, make_plan
from ppo_top.runs.timeline import Timeline, Track
from ppo_top.settings import Settings

LATEST = 1 << 62
"""The step of what is said of a run as it stands."""

AHEAD = 64
"""Rows that may wait for a source that lags before they are sealed without it."""

CONFIG_FROM_TRACKS = {"lr": "learning_rate", "clip_range": "clip_range"}
"""Settings that trainers log as a metric: the first value is what the run started with."""

_clock: Callable[[], float] = time.perf_counter

INNER = ("_plan", "_rows", "_committed", "_notes")
"""What only judging needs."""

Note = tuple[int, TextEvidence, str]
"""Where a line of the console stands, what it is evidence of, and the line."""


def _place(note: Note) -> int:
    return note[0]


class Fold:
    """One reading of the rows of some sources, from the first to the newest.

    What is known of a run as a whole (its lanes, producer, configuration) is settled when the fold
    begins. When that changes, or something turns up that belongs before a sealed row, the fold no
    longer `holds`: another one has to begin at the first row.
    """

    def __init__(self, sources: Collection[SourceState], settings: Settings) -> None:
        self._sources = sources
        self._plan = plan = make_plan(sources, settings.tags)
        self.tags_left_out = plan.left_out
        self.producer = plan.producer
        self.config = self._gather_config(plan)
        self.timeline = Timeline()
        self.profile = Profile(
            producer=plan.producer.id,
            family=plan.producer.family,
            algo=plan.producer.algo,
            config=self.config,
            overrides=settings.thresholds,
            muted=settings.muted,
            goal=settings.goal,
            tags={lane.concept: lane.tag for lane in plan.lanes},
        )
        self.judge = self._committed = Judge(self.profile, settings.rules)
        self._rows = Rows(plan.lanes, plan.clock)
        self._rows.refresh()
        self.sealed = self._segment = 0
        self._notes = self._gather_notes()
        """What the console said: by the run's own steps, and by how many records came before."""
        self._noted = (0, 0)
        self._known: tuple[list[Finding], bool] | None = None  # while all else is taken out
        for lane in plan.lanes:
            self.timeline.tracks[lane.concept] = Track(lane.concept, lane.tag, lane.source)

    @property
    def findings(self) -> list[Finding]:
        """Every finding so far, in the order of opening."""
        return self._known[0] if self._known is not None else self.judge.findings

    @property
    def has_concepts(self) -> bool:
        """Whether the rows hold anything that means something to the rules."""
        if self._known is not None:
            return self._known[1]
        tracks = self.timeline.tracks.items()
        return any(len(track) and not name.startswith(TAG) for name, track in tracks)

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """What a tag of a source means, or None."""
        return self._plan.concepts.get((source.key, tag))

    def newest(self) -> dict[str, float]:
        """concept -> value at the end of a long log that is still being read, in its own sign."""
        found = {}
        for source in self._sources:
            for lane in self._plan.lanes if source.newest else ():
                if lane.source == source.key and lane.tag in source.newest:
                    found[lane.concept] = lane.offset + lane.scale * source.newest[lane.tag]
        return found

    def take_out(self) -> dict[str, Any]:
        """Hand over all that only judging and drawing need; nothing may be judged until `put_in`.

        Findings, configuration and the newest rows with their rewards stay.
        """
        self._known = self.judge.findings, self.has_concepts
        inner = {name: self.__dict__.pop(name) for name in INNER}
        inner["tracks"] = tracks = self.timeline.tracks
        self.timeline.tracks = {name: tracks[name] for name in REWARDS if name in tracks}
        del self.judge
        return inner

    def put_in(self, inner: dict[str, Any]) -> None:
        """Take back what `take_out` gave; the newest rows are to be judged afresh."""
        self.timeline.tracks = inner.pop("tracks")
        self.__dict__.update(inner)
        self.judge, self._known = self._committed, None

    # --- judging -----------------------------------------------------------------------------

    def holds(self) -> bool:
        """Take in what the sources have gained; False when that asks for another fold."""
        return self._plan.holds() and self._rows.refresh()

    def advance(self, deadline: float) -> bool:
        """Judge what is new until the deadline (`time.perf_counter`); True when all is judged."""
        self._cut_back()
        while (key := self._rows.next_key()) is not None:
            waiting = self._rows.waiting_for(key)
            if waiting and not self._overdue():
                break
            if waiting:
                self._rows.forgive(waiting)
            self._append(self._rows.take(key), self._committed)
            self._rows.seal(key)
            self.sealed = len(self.timeline)
            if self.sealed % 8 == 0 and _clock() > deadline:
                self.judge = self._committed
                return False
        self._look_ahead()
        return True

    def let_go(self, keep: int) -> None:
        """Drop what was judged for good, but for the newest `keep` rows of it."""
        self._rows.let_go(keep)
        self.timeline.let_go(self.sealed - keep)

    @property
    def series(self) -> set[int]:
        """The ids of all series that it reads."""
        return {id(part) for lane in self._plan.lanes for part in lane.parts}

    def _gather_config(self, plan: Plan) -> dict[str, ConfigValue]:
        """Settings under canonical names; of two sources the better ranked one counts."""
        config: dict[str, ConfigValue] = {}
        for source in sorted(self._sources, key=lambda each: (-each.rank, each.key)):
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
        for source in sorted(self._sources, key=lambda each: each.key):
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
        clock = self._plan.clock
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
        if when != when and not self._plan.clocked:
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
        line.steps.cut(self.sealed)
        line.times.cut(self.sealed)
        line.restarts[:] = [row for row in line.restarts if row < self.sealed]
        for track in line.tracks.values():
            keep = track.until(self.sealed - 1)
            for column in (track.rows, track.steps, track.times, track.values):
                del column[keep:]
