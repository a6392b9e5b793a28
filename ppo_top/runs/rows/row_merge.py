"""Merges the series of several sources into rows.

A *stream* feeds one concept from one source (or from a chain of files of one kind: a resumed run).
Rows are the distinct steps of all streams, segment by segment; a step that goes back by more than
one record begins a new segment (the run was resumed). A row is *sealed* when every source has a
later point: nothing can be added to it any more. The rows depend on the series alone, never on the
order in which the sources arrived; after a late point, one before the last sealed row, merging has
to start again.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from copy import copy
from operator import lt

from ppo_top.model import Series
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.concept_stream import ConceptStream, RowKey
from ppo_top.runs.rows.segments import SegmentStarts
from ppo_top.runs.rows.timeline import is_of_evaluation


class MergedRow(NamedTuple):
    """A row: concept -> value, with the time of its newest point.

    `points` gives part and index of each concept's point, except for means of episodes.
    """

    key: RowKey
    time: float
    values: dict[str, float]
    points: dict[str, tuple[int, int]]


class MergedBlock(NamedTuple):
    """Consecutive rows of one segment with the same concepts, as columns of equal length.

    `points` gives part and index of each concept's first point.
    """

    steps: array[int]
    times: array[float]
    columns: dict[str, array[float]]
    points: dict[str, tuple[int, int]]


class RowMerger:
    """Merges streams row by row.

    Where nothing else but evaluations stands beside episodes, each of these is a row.
    """

    def __init__(self, streams: Sequence[ConceptStream], clock: Sequence[Series] = ()) -> None:
        self._starts = SegmentStarts(clock)
        self._step_streams = [stream for stream in streams if not stream.per_episode]
        self.episode_streams = [stream for stream in streams if stream.per_episode]
        if all(is_of_evaluation(stream.concept) for stream in self._step_streams):
            self._step_streams, self.episode_streams = list(streams), []
        self.sealed_key: RowKey | None = None
        self.lagging: set[str] = set()
        """The sources without which rows are sealed."""
        self._group_streams()

    def _group_streams(self) -> None:
        self._streams = (*self._step_streams, *self.episode_streams)
        self._sources: dict[str, list[ConceptStream]] = {}
        for stream in self._step_streams:
            self._sources.setdefault(stream.source, []).append(stream)

    def copy(self) -> RowMerger:
        """A merger at the same position, to look ahead with."""
        other = copy(self)
        other._step_streams = [stream.copy() for stream in self._step_streams]
        other.episode_streams = [stream.copy() for stream in self.episode_streams]
        other._group_streams()
        return other

    def refresh(self) -> bool:
        """Look for new points; False if one belongs before the last sealed row."""
        self._starts.refresh()
        for stream in self._streams:
            stream.refresh(self._starts)
        return not any(self._is_late(stream) for stream in self._step_streams)

    def _is_late(self, stream: ConceptStream) -> bool:
        sealed, key = self.sealed_key, stream.next_key
        return stream.has_late_points() or (
            sealed is not None and key is not None and key <= sealed
        )

    def waiting_for(self, key: RowKey) -> list[str]:
        """The sources that have no point after the row `key` yet."""
        return [
            source
            for source, streams in self._sources.items()
            if source not in self.lagging
            and not any(stream.has_point_after(key) for stream in streams)
        ]

    def has_sealed(self) -> bool:
        """Whether every source has passed the newest row, and it has no further episodes."""
        key = self.sealed_key
        if key is None or self.waiting_for(key):
            return False
        keys = (stream.next_key for stream in self.episode_streams)
        return all(each is None or each > key for each in keys)

    def next_key(self) -> RowKey | None:
        """The key of the next row; None if there is none."""
        keys = (stream.next_key for stream in self._step_streams if stream.next_key is not None)
        return min(keys, default=None)

    def merge_row(self, key: RowKey) -> MergedRow:
        """Read the row `key` from all streams; the last of several points at one step counts."""
        values: dict[str, float] = {}
        points: dict[str, tuple[int, int]] = {}
        newest = float("nan")
        for stream in self._step_streams:
            while stream.next_key == key:
                points[stream.concept] = stream.position
                cell = stream.pop_cell(self._starts)
                values[stream.concept] = cell.value
                if cell.time > newest or newest != newest:
                    newest = cell.time
        for stream in self.episode_streams:
            value = self.merge_episodes(stream, key)
            if value is not None:
                values[stream.concept] = value
        return MergedRow(key, newest, values, points)

    def pop_block(self, key: RowKey, max_rows: int) -> MergedBlock | None:
        """Read up to `max_rows` complete rows from `key` on; None if that takes `merge_row`.

        Needs rows of one source in which each stream with a point in the first row has one in all
        of them. Later points of each source follow the rows, so they are sealed.
        """
        streams = [stream for stream in self._step_streams if stream.next_key == key]
        if not self._are_next(streams):
            return None
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
        return MergedBlock(steps, times, columns, points)

    def _are_next(self, streams: Sequence[ConceptStream]) -> bool:
        """Whether streams are of one source, and each of the others has a later point."""
        sources = {stream.source for stream in streams}
        if len(sources) != 1:
            return False
        return all(
            source in sources
            or source in self.lagging
            or any(stream.next_key is not None for stream in others)
            for source, others in self._sources.items()
        )

    def merge_episodes(self, stream: ConceptStream, key: RowKey) -> float | None:
        """The mean of the episodes since the previous row (non-finite if one of them is)."""
        cells: list[float] = []
        while stream.next_key is not None and stream.next_key <= key:
            cells.append(stream.pop_cell(self._starts).value)
        if not cells:
            return None
        broken = [value for value in cells if value - value != 0]
        return broken[0] if broken else math.fsum(cells) / len(cells)

    def drop_read(self) -> None:
        """Drop the points already read, but for the newest of each stream."""
        self._starts.refresh()
        for stream in self._streams:
            stream.drop_read()


def _newest_times(columns: Sequence[array[float]]) -> array[float]:
    """The newest time of each row; NaN if none is known."""
    first = columns[0]
    exact = first.tobytes()
    if all(column.tobytes() == exact for column in columns):
        return first
    known = [[time for time in times if time == time] for times in zip(*columns, strict=True)]
    return array("d", [max(times, default=math.nan) for times in known])
