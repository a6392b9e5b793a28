"""The fold of a run's rows into a timeline and findings.

It is one way: sealed rows are judged once and for good; rows that may still grow (the newest ones)
are judged by a copy of the judge, afresh at each look. So the findings are a function of what the
logs hold, whatever the cut of the bytes and the order of arrival: live, replay and check agree.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Any

from ppo_top.catalogue import TAG_PREFIX, hyperparameter
from ppo_top.model import ConfigValue, Finding, Mark, Profile, Row
from ppo_top.rules.console_text import TextEvidence
from ppo_top.rules.engine.context import REWARD_CONCEPTS
from ppo_top.rules.judge import Judge
from ppo_top.runs.row_merge import ConceptStream, MergedRow, RowKey, RowMerger
from ppo_top.runs.source import SourceState
from ppo_top.runs.source_selection import SourceSelection, select_sources
from ppo_top.runs.timeline import Timeline, Track
from ppo_top.settings import Settings

END_OF_RUN_STEP = 1 << 62
"""The step of what is said of a run as it stands."""

MAX_UNSEALED_ROWS = 64
"""Rows that may wait for a source that lags before they are sealed without it."""

BLOCK_ROWS = 32
"""Rows judged between two looks at the clock."""

CONFIG_FROM_TRACKS = {"lr": "learning_rate", "clip_range": "clip_range"}
"""Settings that trainers log as a metric: the first value is what the run started with."""

_clock: Callable[[], float] = time.perf_counter

PACKED_ATTRIBUTES = ("_selection", "_merger", "_committed", "_notes")
"""What only judging needs."""

ConsoleNote = tuple[int, TextEvidence, str]
"""Where a line of the console stands, what it is evidence of, and the line."""


def _note_step(note: ConsoleNote) -> int:
    return note[0]


class Evaluation:
    """One reading of the rows of some sources, from the first to the newest.

    What is known of a run as a whole (its lanes, producer, configuration) is settled when the fold
    begins. When that changes, or something turns up that belongs before a sealed row, the fold no
    longer `refresh`: another one has to begin at the first row.
    """

    def __init__(self, sources: Collection[SourceState], settings: Settings) -> None:
        self._sources = sources
        self._selection = plan = select_sources(sources, settings.tags)
        self.tags_left_out = plan.tags_left_out
        self.trainer = plan.trainer
        self.config = self._gather_config(plan)
        self.timeline = Timeline()
        self.profile = Profile(
            trainer_id=plan.trainer.id,
            family=plan.trainer.family,
            algo=plan.trainer.algo,
            config=self.config,
            threshold_overrides=settings.thresholds,
            muted=settings.muted,
            goal=settings.goal,
            tags={lane.concept: lane.tag for lane in plan.streams},
        )
        self.judge = self._committed = Judge(self.profile, settings.rules)
        self._merger = RowMerger(plan.streams, plan.clock_series)
        self._merger.refresh()
        self.sealed_rows = self._segment = 0
        self._notes = self._gather_notes()
        """What the console said: by the run's own steps, and by how many records came before."""
        self._notes_done = (0, 0)
        self._packed_summary: tuple[list[Finding], bool] | None = (
            None  # while all else is taken out
        )
        for lane in plan.streams:
            own = lane in self._merger.episode_streams
            parts = () if own else lane.parts
            self.timeline.tracks[lane.concept] = Track(
                *(lane.concept, lane.tag, lane.source, parts),
                *(self.timeline, *((lane.scale, lane.offset) if parts else ())),
            )

    @property
    def findings(self) -> list[Finding]:
        """Every finding so far, in the order of opening."""
        return self._packed_summary[0] if self._packed_summary is not None else self.judge.findings

    @property
    def has_concepts(self) -> bool:
        """Whether the rows hold anything that means something to the rules."""
        if self._packed_summary is not None:
            return self._packed_summary[1]
        tracks = self.timeline.tracks.items()
        return any(len(track) and not name.startswith(TAG_PREFIX) for name, track in tracks)

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """What a tag of a source means, or None."""
        return self._selection.concepts.get((source.key, tag))

    def newest_values(self) -> dict[str, float]:
        """concept -> value at the end of a long log that is still being read, in its own sign."""
        found = {}
        for source in self._sources:
            for lane in self._selection.streams if source.newest_values else ():
                if lane.source == source.key and lane.tag in source.newest_values:
                    found[lane.concept] = lane.offset + lane.scale * source.newest_values[lane.tag]
        return found

    def detach_state(self) -> dict[str, Any]:
        """Hand over all that only judging and drawing need.

        Nothing may be judged until `restore_state`. Findings, configuration and the newest rows
        with their rewards stay.
        """
        self._packed_summary = self.judge.findings, self.has_concepts
        inner = {name: self.__dict__.pop(name) for name in PACKED_ATTRIBUTES}
        inner["tracks"] = tracks = self.timeline.tracks
        for track in tracks.values():
            track.timeline = None  # it stays, and must not be squeezed with each track
        self.timeline.tracks = {name: tracks[name] for name in REWARD_CONCEPTS if name in tracks}
        del self.judge
        return inner

    def restore_state(self, inner: dict[str, Any]) -> None:
        """Take back what `detach_state` gave; the newest rows are to be judged afresh."""
        self.timeline.tracks = inner.pop("tracks")
        for track in self.timeline.tracks.values():
            track.timeline = self.timeline
        self.__dict__.update(inner)
        self.judge, self._packed_summary = self._committed, None

    # --- judging -----------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Take in what the sources have gained; False when that asks for another fold."""
        return self._selection.is_current() and self._merger.refresh()

    def advance(self, deadline: float) -> bool:
        """Judge what is new until the deadline (`time.perf_counter`); True when all is judged."""
        self._drop_unsealed()
        while (key := self._merger.next_key()) is not None:
            if self._append_block(key):
                if _clock() > deadline:
                    self.judge = self._committed
                    return False
                continue
            waiting = self._merger.waiting_for(key)
            if waiting and not self._too_many_unsealed():
                break
            if waiting:
                self._merger.stop_waiting_for(waiting)
            self._append(self._merger.merge_row(key), self._committed)
            self._merger.seal(key)
            self.sealed_rows = len(self.timeline)
            if self.sealed_rows % 8 == 0 and _clock() > deadline:
                self.judge = self._committed
                return False
        self._judge_unsealed()
        return True

    def drop_old(self, keep: int) -> None:
        """Drop what was judged for good, but for the newest `keep` rows of it."""
        self.timeline.drop_before(self.sealed_rows - keep)
        self._merger.drop_old(keep)

    @property
    def series_ids(self) -> set[int]:
        """The ids of all series that it reads."""
        return {id(part) for lane in self._selection.streams for part in lane.parts}

    def _gather_config(self, plan: SourceSelection) -> dict[str, ConfigValue]:
        """Settings under canonical names; of two sources the better ranked one counts."""
        config: dict[str, ConfigValue] = {}
        for source in sorted(self._sources, key=lambda each: (-each.rank, each.key)):
            for key, value in source.config.items():
                config.setdefault(hyperparameter(key, plan.trainer.id) or key, value)
        for lane in plan.streams:
            name = CONFIG_FROM_TRACKS.get(lane.concept)
            first = next((part.values[0] for part in lane.parts if part.values), None)
            if name is not None and name not in config and first is not None and first == first:
                config[name] = lane.offset + lane.scale * first
        return config

    def _gather_notes(self) -> tuple[list[ConsoleNote], list[ConsoleNote]]:
        """What the consoles said; where one names no steps at all, it speaks of the end."""
        by_step: list[ConsoleNote] = []
        by_rank: list[ConsoleNote] = []
        for source in sorted(self._sources, key=lambda each: each.key):
            steps = self._foreign_steps(source)
            for line, found in source.evidence:
                if line.step is None:
                    by_step.append((-1 if source.points else END_OF_RUN_STEP, found, line.text))
                elif steps is None:
                    by_step.append((line.step, found, line.text))
                else:
                    by_rank.append((bisect_right(steps, line.step), found, line.text))
        return sorted(by_step, key=_note_step), sorted(by_rank, key=_note_step)

    def _foreign_steps(self, source: SourceState) -> Sequence[int] | None:
        """The steps of a source that may count something else than the run; None for its own."""
        clock = self._selection.clock_series
        own = source.series.values()
        if not clock or not own or any(series is each for series in own for each in clock):
            return None
        return max(own, key=len).steps

    def _too_many_unsealed(self) -> bool:
        """Whether more rows wait than may wait."""
        ahead = 0
        place = self._merger.cursors()
        while ahead <= MAX_UNSEALED_ROWS and (key := self._merger.next_key()) is not None:
            self._merger.merge_row(key)
            ahead += 1
        self._merger.rewind(place)
        return ahead > MAX_UNSEALED_ROWS

    def _judge_unsealed(self) -> None:
        """Judge the rows that may still grow, by a copy, so that it can be taken back."""
        place = self._merger.cursors()
        key = self._merger.next_key()
        if key is None and self._notes_done == tuple(map(len, self._notes)):
            self.judge = self._committed
            return
        segment, noted = self._segment, self._notes_done
        self.judge = self._committed.copy()
        while key is not None:
            self._append(self._merger.merge_row(key), self.judge)
            key = self._merger.next_key()
        self._pass_notes(self.judge, None)
        self._merger.rewind(place)
        self._segment, self._notes_done = segment, noted

    def _append_block(self, key: RowKey) -> bool:
        """Judge several complete rows at once that can be read by columns; False where none can."""
        if key[0] != self._segment or self._notes_done != tuple(map(len, self._notes)):
            return False
        block = self._merger.pop_block(key, BLOCK_ROWS)
        if block is None:
            return False
        line, first = self.timeline, len(self.timeline)
        times = block.times
        if not self._selection.has_times and "time_elapsed" in block.columns:
            elapsed = block.columns["time_elapsed"]
            times = array("d", [e if t != t else t for t, e in zip(times, elapsed, strict=True)])
        line.steps.extend(block.steps)
        line.times.extend(times)
        for concept, (part, point) in block.points.items():
            line.tracks[concept].extend(first, part, point, len(block.steps))
        marks = map(Mark, count(first), block.steps, times)
        for mark, values in zip(marks, zip(*block.columns.values(), strict=True), strict=False):
            row = dict(zip(block.columns, values, strict=True))
            for stream in self._merger.episode_streams:
                self._append_episodes(stream, (key[0], mark.step), mark, row)
            self._committed.add_row(Row(mark, row))
        self._merger.seal((key[0], block.steps[-1]))
        self.sealed_rows = len(line)
        return True

    def _append_episodes(
        self, stream: ConceptStream, key: RowKey, mark: Mark, row: dict[str, float]
    ) -> None:
        """Add what single episodes up to a row say to that row."""
        value = self._merger.merge_episodes(stream, key)
        if value is not None:
            row[stream.concept] = value
            self.timeline.tracks[stream.concept].append(mark, value)

    def _append(self, gathered: MergedRow, judge: Judge) -> None:
        segment, step = gathered.key
        if segment != self._segment:
            self._segment = segment
            self.timeline.restarts.append(len(self.timeline))
            judge.restart()
        when = gathered.time
        if when != when and not self._selection.has_times:
            when = gathered.values.get("time_elapsed", when)
        mark = Mark(len(self.timeline), step, when)
        self.timeline.steps.append(step)
        self.timeline.times.append(when)
        for concept, value in gathered.values.items():
            track, point = self.timeline.tracks[concept], gathered.points.get(concept)
            if point is None:
                track.append(mark, value)
            else:
                track.extend(mark.row, *point)
        judge.add_row(Row(mark, gathered.values))
        self._pass_notes(judge, step)

    def _pass_notes(self, judge: Judge, step: int | None) -> None:
        """Hand over what the console said up to a step, and to this row (None: to its end)."""
        last = len(self.timeline) - 1
        reached = (None, None) if step is None else (step, last + 1)
        done = []
        for notes, told, until in zip(self._notes, self._notes_done, reached, strict=True):
            number = told
            while number < len(notes) and (until is None or notes[number][0] <= until):
                at, evidence, text = notes[number]
                mark = self.timeline.mark(last) if last >= 0 else Mark(0, max(at, 0), float("nan"))
                judge.add_text_evidence(evidence.kind, text, mark)
                number += 1
            done.append(number)
        self._notes_done = (done[0], done[1])

    def _drop_unsealed(self) -> None:
        """Take the rows off the timeline that were only a look ahead."""
        line = self.timeline
        line.steps.truncate(self.sealed_rows)
        line.times.truncate(self.sealed_rows)
        line.restarts[:] = [row for row in line.restarts if row < self.sealed_rows]
        for track in line.tracks.values():
            track.truncate(track.count_until(self.sealed_rows - 1))
