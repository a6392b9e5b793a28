"""A run's own timeline: its rows (updates) in order, and for each concept the points on it."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from ppo_top.model import Mark

T = TypeVar("T", int, float)

MIN_TRACK_POINTS = 8
"""Points that a track keeps in any case: what is said of its newest value rests on a few."""


class RecordPoints:
    """Which points of a growing column were a new best when they came: the best of any beginning.

    `sign` is 1 where higher is better, -1 where lower is. A column that was cut shorter is
    followed from there; values that are not finite are no records.
    """

    __slots__ = ("_indices", "_seen", "_sign")

    def __init__(self, sign: float) -> None:
        self._sign = sign
        self._indices = array("q")
        self._seen = 0

    def index_of_best(self, values: Sequence[float], seen: int) -> int | None:
        """The index of the first best among the first `seen` values; None without a finite one."""
        indices, sign = self._indices, self._sign
        top = sign * values[indices[-1]] if indices else -math.inf
        for at in range(self._seen, seen):
            if top < sign * values[at] < math.inf:
                top = sign * values[at]
                indices.append(at)
        self._seen = max(self._seen, seen)
        place = bisect_left(indices, seen)
        return indices[place - 1] if place else None

    def forget_after(self, length: int) -> None:
        """The column was cut to this many values."""
        if length < self._seen:
            del self._indices[bisect_left(self._indices, length) :]
            self._seen = length

    def restart(self) -> None:
        """The beginning of the column was dropped."""
        self.forget_after(0)


@dataclass(slots=True, eq=False)
class Track:
    """The points of one concept (or of a tag that has none) in the order of judgement.

    Columns of equal length: `rows` (numbers of the timeline's rows, rising), `steps`, `times` (unix
    seconds or NaN), `values` in the concept's own sign and unit, NaN and infinities kept.
    """

    concept: str
    tag: str
    source: str
    rows: array[int] = field(default_factory=lambda: array("q"))
    steps: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    highs: RecordPoints = field(default_factory=lambda: RecordPoints(1.0))
    lows: RecordPoints = field(default_factory=lambda: RecordPoints(-1.0))

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, mark: Mark, value: float) -> None:
        """Add the value that a row holds."""
        self.rows.append(mark.row)
        self.steps.append(mark.step)
        self.times.append(mark.time)
        self.values.append(value)

    def count_until(self, row: int) -> int:
        """How many points there are at or before a row of the timeline."""
        return bisect_right(self.rows, row)

    def truncate(self, length: int) -> None:
        """Keep the first `length` points."""
        for column in (self.rows, self.steps, self.times, self.values):
            del column[length:]
        for records in (self.highs, self.lows):
            records.forget_after(length)

    def drop_before(self, until: int) -> None:
        """Drop the points before the row `until`, but for the newest few."""
        count = min(self.count_until(until - 1), len(self) - MIN_TRACK_POINTS)
        if count > 0:
            for column in (self.rows, self.steps, self.times, self.values):
                del column[:count]
            for records in (self.highs, self.lows):
                records.restart()


class TimelineColumn(Sequence[T]):
    """A column that grows at its end, and whose beginning may be let go.

    Places keep their numbers. Of what was let go the very first element is known; another place
    reads as the oldest element that is left.
    """

    __slots__ = ("_array", "_first", "dropped")

    def __init__(self, kind: str) -> None:
        self._array: array[Any] = array(kind)
        self.dropped = 0
        self._first: T | None = None

    def __len__(self) -> int:
        return self.dropped + len(self._array)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if not self.dropped:
            return self._array[at]
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        return self._first if place == 0 else self._array[max(0, place - self.dropped)]  # type: ignore[return-value]

    def append(self, value: T) -> None:
        """Add an element."""
        self._array.append(value)

    def truncate(self, length: int) -> None:
        """Take the newest elements off, so that so many are left."""
        del self._array[max(0, length - self.dropped) :]

    def drop_before(self, until: int) -> None:
        """Drop the elements before place `until`."""
        count = min(until - self.dropped, len(self._array))
        if count > 0:
            if not self.dropped:
                self._first = self._array[0]
            del self._array[:count]
            self.dropped += count


@dataclass(slots=True)
class Timeline:
    """Rows in order; `restarts` are the numbers of rows at which the run began again (resumed).

    Of a run that nobody looks at only the newest rows are kept (`drop_before`), under their old
    numbers.
    """

    steps: TimelineColumn[int] = field(default_factory=lambda: TimelineColumn("q"))
    times: TimelineColumn[float] = field(default_factory=lambda: TimelineColumn("d"))
    restarts: list[int] = field(default_factory=list)
    tracks: dict[str, Track] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether no row was let go."""
        return not self.steps.dropped

    def drop_before(self, until: int) -> None:
        """Drop the rows before row `until`; each track keeps its newest few points."""
        for column in (self.steps, self.times):
            column.drop_before(until)
        for track in self.tracks.values():
            track.drop_before(until)

    def mark(self, row: int) -> Mark:
        """The place of a row; negative numbers count from the end."""
        at = row if row >= 0 else len(self.steps) + row
        return Mark(at, self.steps[at], self.times[at])
