"""The points of one concept of a run, as a view of the series that hold them."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, overload

from ppo_top.model import Mark, Series
from ppo_top.model.named_tuple import NamedTuple

T = TypeVar("T", int, float)

MIN_TRACK_POINTS = 8
"""Points that a track always keeps: statements on its newest value need a few."""


class RowColumns(Protocol):
    """What a track needs of its timeline: the steps and times of the rows."""

    @property
    def steps(self) -> Sequence[int]: ...
    @property
    def times(self) -> Sequence[float]: ...


class RecordPoints:
    """The points of a growing column that were a new best, and so the best of any prefix.

    `sign` is 1 if higher is better, -1 if lower is. Non-finite values never count.
    """

    __slots__ = ("_indices", "_seen", "_sign")

    def __init__(self, sign: float) -> None:
        self._sign = sign
        self._indices = array("q")
        self._seen = 0

    def index_of_best(self, values: Sequence[float], seen: int) -> int | None:
        """The index of the first best of the first `seen` values; None if none is finite."""
        indices, sign = self._indices, self._sign
        top = sign * values[indices[-1]] if indices else -math.inf
        for at, value in enumerate(values[self._seen : seen], self._seen):
            if top < sign * value < math.inf:
                top = sign * value
                indices.append(at)
        self._seen = max(self._seen, seen)
        number = bisect_left(indices, seen)
        return indices[number - 1] if number else None

    def forget_after(self, length: int) -> None:
        """Note that the column was cut to this many values."""
        if length < self._seen:
            del self._indices[bisect_left(self._indices, length) :]
            self._seen = length


class Track:
    """The points of one concept (or of a tag without one), in the order of the rows.

    A view: `values` are those of the `parts` (a chain of series), times `scale` plus `offset`;
    `rows` are the numbers of the timeline's rows, rising; `steps` and `times` (unix seconds or NaN)
    are those of the rows. Only the mapping of stretches of points to stretches of rows is stored,
    so a metric logged at every update costs nothing. Points that no series holds (medians of
    episodes, the newest points of an evicted run) are the track's own.
    """

    __slots__ = (
        "_before", "_first_points", "_first_rows", "_length", "_own", "_part_numbers", "_parts",
        "concept", "dropped_high", "dropped_low", "highs", "lows", "offset", "scale", "source",
        "tag", "timeline",
    )  # fmt: skip

    def __init__(
        self,
        concept: str,
        tag: str,
        source: str,
        parts: Sequence[Series] = (),
        timeline: RowColumns | None = None,
        scale: float = 1.0,
        offset: float = 0.0,
    ) -> None:
        self.concept, self.tag, self.source = concept, tag, source
        self.scale, self.offset = scale, offset
        self.highs, self.lows = RecordPoints(1.0), RecordPoints(-1.0)
        self.dropped_high, self.dropped_low = -math.inf, math.inf
        """The extremes of the points that were dropped."""
        self._own = Series(tag)
        self._parts = [*parts, self._own]
        self.timeline = timeline
        """The timeline of its rows; None for a track with its own points only."""
        self._length = 0
        # for each stretch: the points before it, its first row, part and point
        self._before, self._first_rows = array("q"), array("q")
        self._part_numbers, self._first_points = array("q"), array("q")

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> TrackColumn[int]:
        """The number of each point's row."""
        return TrackColumn(self, self._stretch_rows)

    @property
    def values(self) -> TrackColumn[float]:
        """The values in the concept's own sign and unit, NaN and infinities kept."""
        return TrackColumn(self, self._stretch_values)

    @property
    def steps(self) -> TrackColumn[int]:
        """The step of each point's row."""
        return TrackColumn(self, partial(self._stretch_of_rows, "steps"))

    @property
    def times(self) -> TrackColumn[float]:
        """The time of each point's row."""
        return TrackColumn(self, partial(self._stretch_of_rows, "times"))

    def append(self, mark: Mark, value: float) -> None:
        """Add a point of the track's own."""
        self._own.steps.append(mark.step)
        self._own.times.append(mark.time)
        self._own.values.append(value)
        self.extend(mark.row, len(self._parts) - 1, len(self._own) - 1)

    def extend(self, row: int, part: int, point: int, count: int = 1) -> None:
        """Map `count` points, from index `point` of a part on, to the rows from `row` on."""
        last = len(self._before) - 1
        size = self._length - self._before[last] if last >= 0 else 0
        continues = (
            last >= 0
            and self._part_numbers[last] == part
            and self._first_rows[last] + size == row
            and self._first_points[last] + size == point
        )
        if not continues:
            self._before.append(self._length)
            self._first_rows.append(row)
            self._part_numbers.append(part)
            self._first_points.append(point)
        self._length += count

    def count_until(self, row: int) -> int:
        """How many points there are up to and including a row."""
        at = bisect_right(self._first_rows, row) - 1
        if at < 0:
            return 0
        return min(self._before[at] + row - self._first_rows[at] + 1, self._end(at))

    def highest(self, seen: int) -> float:
        """The highest finite value up to the first `seen` points; minus infinity without one."""
        at = self.highs.index_of_best(self.values, seen)
        return self.dropped_high if at is None else max(self.dropped_high, self.values[at])

    def lowest(self, seen: int) -> float:
        """The lowest finite value up to the first `seen` points; infinity without one."""
        at = self.lows.index_of_best(self.values, seen)
        return self.dropped_low if at is None else min(self.dropped_low, self.values[at])

    def truncate(self, length: int) -> None:
        """Keep the first `length` points."""
        if length >= self._length:
            return
        keep = bisect_left(self._before, length)
        for starts in self._starts:
            del starts[keep:]
        self._length = length
        own = len(self._parts) - 1
        used = (at for at in range(keep - 1, -1, -1) if self._part_numbers[at] == own)
        last = next(used, None)
        size = (
            0 if last is None else self._first_points[last] + self._end(last) - self._before[last]
        )
        for column in (self._own.steps, self._own.times, self._own.values):
            del column[size:]
        for records in (self.highs, self.lows):
            records.forget_after(length)

    def drop_before(self, until: int) -> None:
        """Drop the points before the row `until`, except the newest `MIN_TRACK_POINTS`.

        The rest is copied, so that the series may drop every point read so far.
        """
        first = max(0, min(self.count_until(until - 1), self._length - MIN_TRACK_POINTS))
        self.dropped_high, self.dropped_low = self.highest(first), self.lowest(first)
        rows, own = self.rows[first:], Series(self.tag)
        own.steps.extend(self.steps[first:])
        own.times.extend(self.times[first:])
        own.values.extend(self.values[first:])
        self._own, self._length = own, 0
        self._parts[-1] = own
        for starts in self._starts:
            del starts[:]
        for point, row in enumerate(rows):
            self.extend(row, len(self._parts) - 1, point)
        for records in (self.highs, self.lows):
            records.forget_after(0)

    def saved(self) -> SavedTrack:
        """The newest `MIN_TRACK_POINTS` points."""
        newest = slice(-MIN_TRACK_POINTS, None)
        return SavedTrack(
            self.concept,
            self.tag,
            self.source,
            list(self.rows[newest]),
            list(self.steps[newest]),
            list(self.times[newest]),
            list(self.values[newest]),
            self.highest(self._length),
            self.lowest(self._length),
        )

    # --- stretches -------------------------------------------------------------------------------

    @property
    def _starts(self) -> tuple[array[int], ...]:
        return self._before, self._first_rows, self._part_numbers, self._first_points

    def _end(self, at: int) -> int:
        """How many points there are through stretch number `at`."""
        return self._before[at + 1] if at + 1 < len(self._before) else self._length

    def stretches(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """The stretches that hold points `start` to `stop`: number, first and last offset."""
        if len(self._before) == 1 and start < stop:  # nearly always: the curves ask here
            return [(0, start, stop)]
        at = bisect_right(self._before, start) - 1
        found = []
        while start < stop:
            end, before = min(self._end(at), stop), self._before[at]
            found.append((at, start - before, end - before))
            start, at = end, at + 1
        return found

    def _stretch_rows(self, at: int, start: int, stop: int) -> array[int]:
        first = self._first_rows[at]
        return array("q", range(first + start, first + stop))

    def _stretch_values(self, at: int, start: int, stop: int) -> array[float]:
        part = self._parts[self._part_numbers[at]]
        first = self._first_points[at] - part.dropped
        values = part.values[first + start : first + stop]
        if part is self._own or (self.scale == 1.0 and self.offset == 0.0):
            return values
        return array("d", [self.offset + self.scale * value for value in values])

    def _stretch_of_rows(self, name: str, at: int, start: int, stop: int) -> Sequence[Any]:
        """The `steps` or `times` of the rows of a stretch."""
        if self.timeline is None or self._part_numbers[at] == len(self._parts) - 1:
            first, column = self._first_points[at], getattr(self._own, name)
        else:
            first, column = self._first_rows[at], getattr(self.timeline, name)
        found: Sequence[Any] = column[first + start : first + stop]
        return found


class TrackColumn(Sequence[T]):
    """A column of a track, read from its stretches on access."""

    __slots__ = ("_read", "_track")

    def __init__(self, track: Track, read: Callable[[int, int, int], Sequence[T]]) -> None:
        self._track = track
        self._read: Callable[[int, int, int], Sequence[T]] = read

    def __len__(self) -> int:
        return len(self._track)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        track = self._track
        if isinstance(at, slice):
            start, stop, stride = at.indices(len(track))
            pieces = [self._read(*stretch) for stretch in track.stretches(start, stop)]
            if len(pieces) == 1:
                return pieces[0] if stride == 1 else pieces[0][::stride]
            return [each for piece in pieces for each in piece][::stride]
        if at < 0:
            at += len(track)
        if not 0 <= at < len(track):
            raise IndexError(at)
        ((stretch, start, stop),) = track.stretches(at, at + 1)
        return self._read(stretch, start, stop)[0]

    def __iter__(self) -> Iterator[T]:
        for stretch in self._track.stretches(0, len(self._track)):
            yield from self._read(*stretch)


class SavedTrack(NamedTuple):
    """The newest points of a track."""

    concept: str
    tag: str
    source: str
    rows: list[int]
    steps: list[int]
    times: list[float]
    values: list[float]
    high: float
    """The highest finite value of all points, as `Track.highest` gives it."""
    low: float
