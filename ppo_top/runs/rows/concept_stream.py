"""The points of one concept from one source, or from a chain of files of one kind."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Literal

from ppo_top.model import UNKNOWN_SAMPLE, UNKNOWN_TIME, Head, Series
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.segments import (
    MOST_LATE,
    HighestSteps,
    SegmentStarts,
    StepMapping,
    advance,
)

RowKey = tuple[int, int]
"""(segment, step), by which rows are sorted."""


class MergedCell(NamedTuple):
    """A point of a row: unix seconds (or NaN), and the value in the concept's own unit."""

    time: float
    value: float


class ConceptStream:
    """The points of one concept, from a chain of series (`parts`) that still grow."""

    scale = 1.0
    offset = 0.0
    step_scale = 1
    """Steps of the run for each step of the source."""
    per_episode = False
    zero_missing = False
    sample = UNKNOWN_SAMPLE
    priority = 0
    """Of two streams of one concept and source, the lower number is rather what it is called."""
    head: Head | None = None
    """Its first points, also where they are no longer held."""
    episode_numbers: Sequence[Head] = ()
    """The same of what numbers the episodes beside it."""
    step_mapping: StepMapping | None = None
    """For a source that counts something else than the run does."""
    next_key: RowKey | None = None
    """The key of the next point; None if all have been read."""
    _part = 0
    _index = 0
    _segment = 0
    _begins_part = False
    """Whether the next point is the first one of a file that goes on after another."""
    _highest = HighestSteps()
    _first = 0
    """The first step of the segment."""
    _time = UNKNOWN_TIME
    """When the point before the next one was logged."""

    def __init__(self, concept: str, tag: str, source: str, parts: Sequence[Series]) -> None:
        self.concept = concept
        self.tag = tag
        self.source = source
        self.parts = parts
        self._read_lengths: list[int] = []
        """Lengths of the earlier parts when their last points were read."""

    def refresh(self, starts: SegmentStarts) -> None:
        """Look for a next point if there was none."""
        if self.next_key is None:
            self._find_next(starts)

    def has_late_points(self) -> bool:
        """Whether an earlier part has grown since its last point was read."""
        if not self._part:  # as most streams, which are asked at every update
            return False
        read = zip(self.parts[: self._part], self._read_lengths, strict=False)
        return any(len(part) > length for part, length in read)

    def _find_next(self, starts: SegmentStarts) -> None:
        while self._part < len(self.parts):
            part = self.parts[self._part]
            while self._index < len(part):
                at = self._index - part.dropped
                if not (self.zero_missing and part.values[at] == 0.0):
                    self.next_key = self._key(part, at, starts)
                    return
                self._index += 1
            if self._part + 1 == len(self.parts):
                return
            self._read_lengths.append(self._index)
            self._part, self._index, self._begins_part = self._part + 1, 0, True

    def _key(self, part: Series, at: int, starts: SegmentStarts) -> RowKey | None:
        step: int | None = part.steps[at] * self.step_scale
        if self.step_mapping is not None:
            step = self.step_mapping.run_step(part.steps[at])
        if step is None:
            return None  # not known yet which step of the run it is
        before, passed = self._highest, part.times[at] - self._time
        self._highest, begins_segment = advance(before, step, self._first, passed)
        later = starts.segment_begun(part.times[at]) if self._begins_part else 0
        if not before.steps:
            self._segment = starts.segment_at(part.times[at])
        elif later > self._segment:  # of what is logged now and then, no step need go back there
            self._segment, self._highest, begins_segment = later, HighestSteps((step,)), True
        elif begins_segment:
            self._segment += 1
        if begins_segment:
            self._first = step
        return self._segment, self._highest.steps[-1]

    def pop_cell(self, starts: SegmentStarts) -> MergedCell:
        """Read the next point."""
        part = self.parts[self._part]
        at = self._index - part.dropped
        cell = MergedCell(part.times[at], self.offset + self.scale * part.values[at])
        self._time = cell.time
        self._index += 1
        self._begins_part = False
        self.next_key = None
        self._find_next(starts)
        return cell

    @property
    def position(self) -> tuple[int, int]:
        """Part and index of the next point."""
        return self._part, self._index

    @property
    def remaining(self) -> int:
        """How many points of the current part have not been read."""
        return len(self.parts[self._part]) - self._index

    def column(self, name: Literal["steps", "times", "values"], size: int) -> array[Any]:
        """Steps of the run, times or logged values of the next points."""
        part = self.parts[self._part]
        at = self._index - part.dropped
        found: array[Any] = getattr(part, name)[at : at + size]
        if name == "steps" and self.step_scale != 1:
            return array("q", [self.step_scale * step for step in found])
        return found

    def has_plain_steps(self, steps: array[int]) -> bool:
        """Whether the next points have these steps, one point a step, and none is skipped."""
        ours = self.column("steps", len(steps) + 1)
        if self.step_mapping is not None or ours[:-1] != steps:
            return False
        if ours[-1] <= steps[-1] and not self._begins_segment(steps, ours[-1]):
            return False  # it belongs to the last of these rows
        return not (self.zero_missing and 0.0 in self.column("values", len(steps)))

    def _begins_segment(self, steps: array[int], step: int) -> bool:
        """Whether the point at `step`, after the next ones, which have these steps, begins one."""
        before, time = self.column("times", len(steps) + 1)[-2:]
        highest = self._highest.with_higher(steps[-MOST_LATE:])
        return advance(highest, step, self._first, time - before)[1]

    def pop_column(self, steps: array[int], starts: SegmentStarts) -> array[float]:
        """Read the next points, which have these (rising) `steps`."""
        values = self.column("values", len(steps))
        if self.scale != 1.0 or self.offset != 0.0:
            values = array("d", [self.offset + self.scale * value for value in values])
        self._time = self.column("times", len(steps))[-1]
        self._index += len(steps)
        self._begins_part = False
        self._highest = self._highest.with_higher(steps[-MOST_LATE:])
        self.next_key = None
        self._find_next(starts)
        return values

    def has_point_after(self, key: RowKey) -> bool:
        """Whether the stream has a point after the row `key`."""
        if self.next_key is None:
            return False
        if self.next_key > key:
            return True
        part = self.parts[self._part]
        steps, at = part.steps, self._index - part.dropped
        return at + 1 < len(steps) and steps[at + 1] != steps[at]

    def drop_read(self) -> None:
        """Drop the points already read."""
        if self.step_mapping is not None:
            self.step_mapping.refresh()
        for number, part in enumerate(self.parts[: self._part + 1]):
            part.drop_before(self._index if number == self._part else len(part))

    def copy(self) -> ConceptStream:
        """The same points at the same position."""
        other = ConceptStream.__new__(ConceptStream)
        vars(other).update(vars(self), _read_lengths=self._read_lengths.copy())
        return other
