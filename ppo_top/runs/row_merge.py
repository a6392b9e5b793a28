"""How the series of several sources become one order of rows: lanes, segments, and what is sealed.

A *lane* feeds one concept from one source (or from a chain of files of one kind: a resumed run).
Rows are the distinct steps of all lanes, segment by segment; a step that goes back by more than
one record begins a new segment (the run was resumed). A row is *sealed* when every source has a
later point: nothing can be added to it any more. Which rows there are depends on the series alone
and never on the order in which the sources arrived; a point that turns up before the last sealed
row makes the lanes `late`, and whoever reads them starts again.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import lt
from statistics import median
from typing import Any, Literal, NamedTuple

from ppo_top.model import Series

RowKey = tuple[int, int]
"""(segment, step): the order of rows."""


class MergedCell(NamedTuple):
    """One point on its way into a row."""

    time: float
    value: float


class StreamCursor(NamedTuple):
    """How far a lane has been read."""

    next_key: RowKey | None
    part: int
    at: int
    segment: int
    steps: tuple[int, int] | None
    taken: int


@dataclass(slots=True)
class ConceptStream:
    """Feeds one concept, point by point, from a chain of series that still grow."""

    concept: str
    tag: str
    source: str
    parts: Sequence[Series]
    scale: float = 1.0
    offset: float = 0.0
    per_episode: bool = False
    zero_missing: bool = False
    step_mapping: StepMapping | None = None
    """Where the source counts something else than the run does."""
    next_key: RowKey | None = None
    """The key of the next point, or None when all points are taken."""
    _part: int = 0
    _at: int = 0
    _segment: int = 0
    _steps: tuple[int, int] | None = None
    """The highest step so far and the one before it: going back to the latter restarts."""

    def refresh(self, starts: SegmentStarts) -> None:
        """See whether there is a next point."""
        if self.next_key is None:
            self._find_next(starts)

    def has_late_points(self) -> bool:
        """Whether a part that was left behind has grown since."""
        return any(
            len(part) > taken
            for part, taken in zip(self.parts[: self._part], self._taken, strict=False)
        )

    _taken: list[int] = field(default_factory=list)

    def _find_next(self, starts: SegmentStarts) -> None:
        while self._part < len(self.parts):
            part = self.parts[self._part]
            while self._at < len(part):
                at = self._at - part.dropped
                if not (self.zero_missing and part.values[at] == 0.0):
                    self.next_key = self._key(part, at, starts)
                    return
                self._at += 1
            if self._part + 1 == len(self.parts):
                return
            self._taken.append(self._at)
            self._part, self._at = self._part + 1, 0

    def _key(self, part: Series, at: int, starts: SegmentStarts) -> RowKey | None:
        step = (
            part.steps[at]
            if self.step_mapping is None
            else self.step_mapping.run_step(part.steps[at])
        )
        if step is None:
            return None  # not known yet which step of the run it is
        if self._steps is None:
            self._segment = starts.segment_at(part.times[at])
            self._steps = (step, step - 1)
        elif step <= self._steps[1]:
            self._segment += 1
            self._steps = (step, step - 1)
        elif step > self._steps[0]:
            self._steps = (step, self._steps[0])
        return self._segment, self._steps[0]

    def pop_cell(self, starts: SegmentStarts) -> MergedCell:
        """The next point, in the concept's own sign and unit; the head moves on."""
        part = self.parts[self._part]
        at = self._at - part.dropped
        cell = MergedCell(part.times[at], self.offset + self.scale * part.values[at])
        self._at += 1
        self.next_key = None
        self._find_next(starts)
        return cell

    @property
    def position(self) -> tuple[int, int]:
        """The number of the next point's part, and of the point in it."""
        return self._part, self._at

    @property
    def remaining(self) -> int:
        """How many points the part has from the next one on."""
        return len(self.parts[self._part]) - self._at

    def column(self, name: Literal["steps", "times", "values"], size: int) -> array[Any]:
        """The next points' steps, times or values as they were logged."""
        part = self.parts[self._part]
        at = self._at - part.dropped
        found: array[Any] = getattr(part, name)[at : at + size]
        return found

    def has_plain_steps(self, steps: array[int]) -> bool:
        """Whether the next points stand at these steps, each counts, and no other does there."""
        ours = self.column("steps", len(steps) + 1)
        if self.step_mapping is not None or ours[:-1] != steps:
            return False
        if steps[-2] < ours[-1] <= steps[-1]:  # it belongs to the last of these rows
            return False
        return not (self.zero_missing and 0.0 in self.column("values", len(steps)))

    def pop_column(self, steps: array[int], starts: SegmentStarts) -> array[float]:
        """The next points in the concept's own sign and unit; `steps` (rising) are theirs."""
        values = self.column("values", len(steps))
        if self.scale != 1.0 or self.offset != 0.0:
            values = array("d", [self.offset + self.scale * value for value in values])
        self._at += len(steps)
        self._steps = steps[-1], steps[-2]
        self.next_key = None
        self._find_next(starts)
        return values

    def has_point_after(self, key: RowKey) -> bool:
        """Whether this lane has a point behind the row `key`."""
        if self.next_key is None:
            return False
        if self.next_key > key:
            return True
        part = self.parts[self._part]
        steps, at = part.steps, self._at - part.dropped
        return at + 1 < len(steps) and steps[at + 1] != steps[at]

    def drop_old(self, keep: int) -> None:
        """Drop the points that were taken, but for the newest `keep` of them."""
        if self.step_mapping is not None:
            self.step_mapping.refresh()
        for number, part in enumerate(self.parts[: self._part + 1]):
            part.drop_before((self._at if number == self._part else len(part)) - keep)

    def cursor(self) -> StreamCursor:
        """Where the lane stands, to come back to with `rewind`."""
        return StreamCursor(
            self.next_key, self._part, self._at, self._segment, self._steps, len(self._taken)
        )

    def rewind(self, cursor: StreamCursor) -> None:
        """Stand again where `cursor` was taken."""
        self.next_key, self._part, self._at, self._segment, self._steps, taken = cursor
        del self._taken[taken:]


class SegmentStarts:
    """The times at which the segments of a chain began, as far as it has been written."""

    def __init__(self, parts: Sequence[Series] = ()) -> None:
        self.times: list[float] = []
        self._parts = parts
        self._seen = [0] * len(parts)
        self._steps: tuple[int, int] | None = None

    def refresh(self) -> None:
        """Look at what was written since."""
        for number, part in enumerate(self._parts):
            for at in range(self._seen[number] - part.dropped, len(part.steps)):
                self._add_step(part.steps[at], part.times[at])
            self._seen[number] = len(part)

    def _add_step(self, step: int, time: float) -> None:
        if self._steps is None or step <= self._steps[1]:
            self.times.append(time)
            self._steps = (step, step - 1)
        elif step > self._steps[0]:
            self._steps = (step, self._steps[0])

    def segment_at(self, time: float) -> int:
        """The segment that a time falls into; 0 where there is no clock."""
        return max(bisect_right(self.times, time) - 1, 0) if time == time else 0


class StepMapping:
    """Translates the steps of a source that counts something else than the run does.

    A console counts iterations, an event file environment steps: the k-th step at which the one
    logs a concept is the k-th step at which the other logs it. Both may still grow.
    """

    def __init__(self, theirs: Sequence[Series], ours: Sequence[Series]) -> None:
        self._series = (theirs, ours)
        self._taken = ([0] * len(theirs), [0] * len(ours))
        self._steps: tuple[dict[int, None], dict[int, None]] = ({}, {})
        self._pairs: dict[int, int] = {}

    def run_step(self, step: int) -> int | None:
        """The run's step for one of the source's; None as long as it is not known."""
        if step not in self._pairs:
            self.refresh()
        return self._pairs.get(step)

    def refresh(self) -> None:
        """Take in the steps that were logged since."""
        for series, taken, steps in zip(self._series, self._taken, self._steps, strict=True):
            for number, part in enumerate(series):
                steps.update(dict.fromkeys(part.steps[taken[number] - part.dropped :]))
                taken[number] = len(part)
        if len(self._pairs) < min(map(len, self._steps)):
            self._pairs = dict(zip(*self._steps, strict=False))


@dataclass(slots=True)
class MergedRow:
    """A row as the streams gave it: concept -> value, with the time of its newest point.

    `points` says for each concept which point it is: the number of its part, and of the point in
    that. What was made of several points (a median of episodes) is not in it.
    """

    key: RowKey
    time: float
    values: dict[str, float]
    points: dict[str, tuple[int, int]]


class RowBlock(NamedTuple):
    """Consecutive rows of one segment that hold the same concepts, by columns of equal length.

    `points` says for each concept where its points begin: part and point.
    """

    steps: array[int]
    times: array[float]
    columns: dict[str, array[float]]
    points: dict[str, tuple[int, int]]


class RowMerger:
    """Reads lanes row by row."""

    def __init__(self, lanes: Sequence[ConceptStream], clock: Sequence[Series] = ()) -> None:
        self._starts = SegmentStarts(clock)
        self._step_streams = [lane for lane in lanes if not lane.per_episode]
        self.episode_streams = [lane for lane in lanes if lane.per_episode]
        if not self._step_streams:
            self._step_streams, self.episode_streams = self.episode_streams, []
        self._sources: dict[str, list[ConceptStream]] = {}
        for lane in self._step_streams:
            self._sources.setdefault(lane.source, []).append(lane)
        self._sealed_key: RowKey | None = None
        self._lagging: set[str] = set()

    def refresh(self) -> bool:
        """Look for new points; False when one belongs before a row that was given as sealed."""
        self._starts.refresh()
        for lane in (*self._step_streams, *self.episode_streams):
            lane.refresh(self._starts)
        return not any(self._is_late(lane) for lane in self._step_streams)

    def _is_late(self, lane: ConceptStream) -> bool:
        if lane.has_late_points():
            return True
        return (
            self._sealed_key is not None
            and lane.next_key is not None
            and lane.next_key <= self._sealed_key
        )

    def stop_waiting_for(self, sources: Iterable[str]) -> None:
        """Do not wait for these sources when rows are sealed."""
        self._lagging.update(sources)

    def waiting_for(self, key: RowKey) -> list[str]:
        """The sources that have nothing behind the row `key` yet."""
        return [
            source
            for source, lanes in self._sources.items()
            if source not in self._lagging and not any(lane.has_point_after(key) for lane in lanes)
        ]

    def next_key(self) -> RowKey | None:
        """The key of the next row, None when there is none."""
        heads = [lane.next_key for lane in self._step_streams if lane.next_key is not None]
        return min(heads) if heads else None

    def merge_row(self, key: RowKey) -> MergedRow:
        """Take the row `key` from all lanes; the last of several points at one step counts."""
        values: dict[str, float] = {}
        points: dict[str, tuple[int, int]] = {}
        newest = float("nan")
        for lane in self._step_streams:
            while lane.next_key == key:
                points[lane.concept] = lane.position
                cell = lane.pop_cell(self._starts)
                values[lane.concept] = cell.value
                if cell.time > newest or newest != newest:
                    newest = cell.time
        for lane in self.episode_streams:
            binned = self.merge_episodes(lane, key)
            if binned is not None:
                values[lane.concept] = binned
        return MergedRow(key, newest, values, points)

    def pop_block(self, key: RowKey, max_rows: int) -> RowBlock | None:
        """Take complete rows from `key` on, by columns; None where they have to be merged singly.

        That is possible where one source feeds all rows, and every stream that has a point in the
        first row has one in each of the others. Each row but those has a later point: it is sealed.
        """
        if len(self._sources) != 1:
            return None
        streams = [stream for stream in self._step_streams if stream.next_key == key]
        later = [s.next_key for s in self._step_streams if s.next_key not in (None, key)]
        rows = min(max_rows, min(stream.remaining for stream in streams) - 1)
        if rows < 2:
            return None
        steps: array[int] = streams[0].column("steps", rows)
        if later and (first := min(later))[0] == key[0]:
            rows = bisect_left(steps, first[1])
            steps = steps[:rows]
        if rows < 2 or steps[0] != key[1] or not all(map(lt, steps, steps[1:])):
            return None
        if not all(stream.has_plain_steps(steps) for stream in streams):
            return None
        times = _newest_times([stream.column("times", rows) for stream in streams])
        points = {stream.concept: stream.position for stream in streams}
        columns = {stream.concept: stream.pop_column(steps, self._starts) for stream in streams}
        return RowBlock(steps, times, columns, points)

    def merge_episodes(self, lane: ConceptStream, key: RowKey) -> float | None:
        """The median of a per-episode stream since the row before (NaN if one of them is)."""
        cells: list[float] = []
        while lane.next_key is not None and lane.next_key <= key:
            cells.append(lane.pop_cell(self._starts).value)
        if not cells:
            return None
        broken = [value for value in cells if value - value != 0]
        return broken[0] if broken else median(cells)

    def drop_old(self, keep: int) -> None:
        """Drop what was taken of all lanes, but for the newest `keep` points of each."""
        self._starts.refresh()
        for lane in (*self._step_streams, *self.episode_streams):
            lane.drop_old(keep)

    def seal(self, key: RowKey) -> None:
        """Say that the row `key` was judged for good."""
        self._sealed_key = key

    def cursors(self) -> list[tuple[ConceptStream, StreamCursor]]:
        """Where all lanes stand, for a look ahead that is taken back."""
        return [(lane, lane.cursor()) for lane in (*self._step_streams, *self.episode_streams)]

    @staticmethod
    def rewind(places: list[tuple[ConceptStream, StreamCursor]]) -> None:
        """Take a look ahead back."""
        for lane, place in places:
            lane.rewind(place)


def _newest_times(columns: Sequence[array[float]]) -> array[float]:
    """Row by row the newest of some times (NaN where none is known)."""
    first = columns[0]
    exact = first.tobytes()
    if all(column.tobytes() == exact for column in columns):
        return first
    known = [[time for time in times if time == time] for times in zip(*columns, strict=True)]
    return array("d", [max(times, default=math.nan) for times in known])
