"""Appends the rows of a run to its timeline and has them judged."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import groupby

from ppo_top.model import NO_STEP, Mark, Row
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.judge import Judge
from ppo_top.runs.rows.concept_stream import RowKey
from ppo_top.runs.rows.row_merge import RowMerger
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.sources.console_notes import GatheredNotes
from ppo_top.runs.sources.machine_streams import MachineStream

BLOCK_ROWS = 256
"""Most rows judged at once: what a block costs, whatever its length, is shared by so many."""

MIN_BLOCK_ROWS = 6
"""Fewer rows are judged sooner one by one."""

HASTY_BLOCK_ROWS = 64
"""Most rows judged between two checks of a deadline, where there is one."""


class Position:
    """How far the rows of a run have been merged and judged."""

    def __init__(
        self,
        merger: RowMerger,
        judge: Judge,
        machine: Sequence[MachineStream] = (),
        segment: int = 0,
        notes: tuple[int, int] = (0, 0),
    ) -> None:
        self.merger = merger
        self.judge = judge
        self.machine = machine
        self.segment = segment
        self.notes = notes
        """How many notes by step and by number of rows were passed on."""

    def copy(self) -> Position:
        """The same position, from which to go on without moving this one."""
        machine = [stream.copy() for stream in self.machine]
        return Position(self.merger.copy(), self.judge.copy(), machine, self.segment, self.notes)


class RowJudging:
    """Merges the next rows at a position, appends them to the timeline and has them judged.

    `notes` is console evidence: by the run's own steps, and by the number of rows before it. Rows
    of logs that hold no times have the time that the trainer counts (`has_times`).
    """

    def __init__(self, timeline: Timeline, notes: GatheredNotes, has_times: bool) -> None:
        self._timeline = timeline
        self._notes = notes
        self._has_times = has_times

    def append_block(self, at: Position, key: RowKey, max_rows: int) -> bool:
        """Judge several complete rows at once; False if `append` has to be used."""
        merger = at.merger
        if key[0] != at.segment or not self.has_passed_notes(at):
            return False
        block = merger.pop_block(key, max_rows)
        if block is None:
            return False
        timeline, first = self._timeline, len(self._timeline)
        times = block.times
        if not self._has_times and "time_elapsed" in block.columns:
            elapsed = block.columns["time_elapsed"]
            times = array("d", [e if t != t else t for t, e in zip(times, elapsed, strict=True)])
        concepts = {*block.points, *(each.concept for each in merger.episode_streams)}
        timeline.note_rows(first, len(block.steps), concepts)
        timeline.steps.extend(block.steps)
        timeline.times.extend(times)
        for name, (part, point) in block.points.items():
            timeline.tracks[name].extend(first, part, point, len(block.steps))
        rows = RowBlock(first, block.steps, times, block.columns)
        if merger.episode_streams or at.machine:
            self._judge_with_added(at, rows)
        else:
            at.judge.add_block(rows)
        merger.sealed_key = key[0], block.steps[-1]
        return True

    def append(self, at: Position, key: RowKey) -> None:
        """Merge the row `key`, judge it, and move the position past it."""
        merged = at.merger.merge_row(key)
        at.merger.sealed_key = key
        segment, step = key
        if segment != at.segment:
            at.segment = segment
            self._timeline.restarts.append(len(self._timeline))
            at.judge.restart()
        time_ = merged.time
        if time_ != time_ and not self._has_times:
            time_ = merged.values.get("time_elapsed", time_)
        mark = Mark(len(self._timeline), step, time_)
        self._timeline.note_rows(mark.row, 1, merged.values)
        self._timeline.steps.append(step)
        self._timeline.times.append(time_)
        for name, value in merged.values.items():
            track, point = self._timeline.tracks[name], merged.points.get(name)
            if point is None:
                track.append(mark, value)
            else:
                track.extend(mark.row, *point)
        at.judge.add_row(Row(mark, merged.values | self._append_machine(at, mark)))
        self.pass_notes(at, step)

    def has_passed_notes(self, at: Position) -> bool:
        """Whether the judge knows all console evidence so far."""
        return at.notes == tuple(map(len, self._notes))

    def pass_notes(self, at: Position, step: int | None) -> None:
        """Pass console evidence up to a step and this row to the judge (None: all of it)."""
        last = len(self._timeline) - 1
        reached = (None, None) if step is None else (step, last + 1)
        done = []
        for notes, number, until in zip(self._notes, at.notes, reached, strict=True):
            while number < len(notes) and (until is None or notes[number][0] <= until):
                _, evidence, text = notes[number]
                mark = self._timeline.mark(last) if last >= 0 else Mark(0, NO_STEP, float("nan"))
                at.judge.add_text_evidence(evidence.kind, text, mark)
                number += 1
            done.append(number)
        at.notes = (done[0], done[1])

    def _judge_with_added(self, at: Position, rows: RowBlock) -> None:
        """Judge a block whose rows have values of their own besides: of episodes, of the machine.

        Rows that have the same ones are judged together.
        """
        added, begun = [self._append_added(at, mark) for mark in rows.marks()], 0
        for _, group in groupby(added, key=dict.keys):
            found = list(group)
            part = rows.part(begun, len(found))
            begun += len(found)
            more = {name: array("d", [each[name] for each in found]) for name in found[0]}
            block = RowBlock(part.first_row, part.steps, part.times, {**part.columns, **more})
            if len(found) >= MIN_BLOCK_ROWS:
                at.judge.add_block(block)
            else:
                for index, mark in enumerate(block.marks()):
                    at.judge.add_row(Row(mark, block.row(index)))

    def _append_added(self, at: Position, mark: Mark) -> dict[str, float]:
        """Add the means of the episodes since the row before, and what the machine measured."""
        found = {}
        for stream in at.merger.episode_streams:
            value = at.merger.merge_episodes(stream, (at.segment, mark.step))
            if value is not None:
                found[stream.concept] = value
                self._timeline.tracks[stream.concept].append(mark, value)
        return found | self._append_machine(at, mark)

    def _append_machine(self, at: Position, mark: Mark) -> dict[str, float]:
        """Add what was measured of the machine up to a row; it joins the row's values."""
        measured = {}
        for stream in at.machine:
            value = stream.pop_until(mark.time)
            if value is not None:
                measured[stream.concept] = value
                self._timeline.tracks[stream.concept].append(mark, value)
        return measured
