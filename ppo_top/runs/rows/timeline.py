"""A run's timeline: its rows (updates) in order, and the points of each concept."""

from __future__ import annotations

from ppo_top.model import Axis, Mark
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline_column import SavedColumn, TimelineColumn
from ppo_top.runs.rows.track import SavedTrack, Track


class SavedTimeline(NamedTuple):
    """What is left of a timeline when its older rows are dropped."""

    axis: Axis
    steps: SavedColumn
    times: SavedColumn
    restarts: list[int]
    tracks: list[SavedTrack]


class Timeline:
    """Rows in order; `restarts` are the numbers of rows at which the run began again (resumed).

    An evicted run keeps only its newest rows (`drop_before`), under their old numbers.
    """

    def __init__(self, axis: Axis = Axis.STEP) -> None:
        self.axis = axis
        self.steps: TimelineColumn[int] = TimelineColumn("q")
        self.times: TimelineColumn[float] = TimelineColumn("d")
        self.restarts: list[int] = []
        self.tracks: dict[str, Track] = {}

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether no row was dropped."""
        return not self.steps.dropped

    def drop_before(self, until: int) -> None:
        """Drop the rows before row `until`; each track keeps its newest few points."""
        for column in (self.steps, self.times):
            column.drop_before(until)
        for track in self.tracks.values():
            track.drop_before(until)

    def saved(self, keep: int) -> SavedTimeline:
        """The newest `keep` rows and the newest points of each track."""
        first = max(0, len(self) - keep, self.steps.dropped)
        steps, times = (
            SavedColumn(first, column[0] if len(self) else 0, list(column[first:]))
            for column in (self.steps, self.times)
        )
        tracks = [track.saved() for track in self.tracks.values()]
        return SavedTimeline(self.axis, steps, times, self.restarts, tracks)

    @classmethod
    def restored(cls, saved: SavedTimeline) -> Timeline:
        """A timeline of which only the newest rows are known."""
        timeline = cls(saved.axis)
        timeline.restarts = saved.restarts
        timeline.steps.restore(saved.steps)
        timeline.times.restore(saved.times)
        for each in saved.tracks:
            track = timeline.tracks[each.concept] = Track(each.concept, each.tag, each.source)
            points = zip(each.rows, each.steps, each.times, each.values, strict=True)
            for row, step, time, value in points:
                track.append(Mark(row, step, time), value)
        return timeline

    def mark(self, row: int) -> Mark:
        """The mark of a row; negative numbers count from the end."""
        at = row if row >= 0 else len(self.steps) + row
        return Mark(at, self.steps[at], self.times[at])
