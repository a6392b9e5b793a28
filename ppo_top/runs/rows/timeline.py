"""A run's timeline: its rows (updates) in order, and the points of each concept."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection

from ppo_top.model import Axis, Mark, RowKind
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline_column import SavedColumn, TimelineColumn
from ppo_top.runs.rows.track import SavedTrack, Track

TRAINING_REWARD = "reward_mean"
_EVALUATION_PREFIXES = ("eval_", "tag:eval/")
"""How the concepts of evaluations begin, known and unknown ones."""


def is_of_evaluation(concept: str) -> bool:
    """Whether a concept is measured by evaluations, not by training."""
    return concept.startswith(_EVALUATION_PREFIXES)


def _is_of_profiler(concept: str) -> bool:
    """Whether a concept is the time of a stage, or only says where: TRL's profiler writes both."""
    return concept.startswith("stage_time{") or concept == "step"


class SavedTimeline(NamedTuple):
    """What is left of a timeline when its older rows are dropped."""

    axis: Axis
    row_kind: RowKind
    steps: SavedColumn
    times: SavedColumn
    restarts: list[int]
    no_updates: list[int]
    tracks: list[SavedTrack]


class Timeline:
    """Rows in order; `restarts` are the numbers of rows at which the run began again (resumed).

    `no_updates` are those of rows that no update wrote, but an evaluation or a profiler. SB3 writes
    the losses of the update before into an evaluation's row, too, but no reward of training.

    An evicted run keeps only its newest rows (`drop_before`), under their old numbers.
    """

    def __init__(self, axis: Axis = Axis.STEP, row_kind: RowKind = RowKind.UPDATE) -> None:
        self.axis = axis
        self.row_kind = row_kind
        self.steps: TimelineColumn[int] = TimelineColumn("q")
        self.times: TimelineColumn[float] = TimelineColumn("d")
        self.restarts: list[int] = []
        self.no_updates: list[int] = []
        self.tracks: dict[str, Track] = {}

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether no row was dropped."""
        return not self.steps.dropped

    def note_rows(self, first: int, count: int, concepts: Collection[str]) -> None:
        """Note whether rows from `first` on, which hold these concepts, are updates."""
        if self._holds_no_update(concepts):
            self.no_updates.extend(range(first, first + count))

    def _holds_no_update(self, concepts: Collection[str]) -> bool:
        if concepts and all(map(_is_of_profiler, concepts)):
            return True
        trains = TRAINING_REWARD in concepts or TRAINING_REWARD not in self.tracks
        return not trains and any(map(is_of_evaluation, concepts))

    def count_updates(self, last: int, first: int = 0) -> int:
        """The updates among the rows `first` to `last`; at least one if there is a row."""
        others = bisect_right(self.no_updates, last) - bisect_left(self.no_updates, first)
        return max(last - first + 1 - others, min(1, last - first + 1))

    def truncate(self, count: int) -> None:
        """Keep the first `count` rows only."""
        self.steps.truncate(count)
        self.times.truncate(count)
        for numbers in (self.restarts, self.no_updates):
            del numbers[bisect_left(numbers, count) :]
        for track in self.tracks.values():
            track.truncate(track.count_until(count - 1))

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
        restarts, others = self.restarts, self.no_updates
        return SavedTimeline(self.axis, self.row_kind, steps, times, restarts, others, tracks)

    @classmethod
    def restored(cls, saved: SavedTimeline) -> Timeline:
        """A timeline of which only the newest rows are known."""
        timeline = cls(saved.axis, saved.row_kind)
        timeline.restarts, timeline.no_updates = saved.restarts, saved.no_updates
        timeline.steps.restore(saved.steps)
        timeline.times.restore(saved.times)
        for each in saved.tracks:
            track = timeline.tracks[each.concept] = Track(each.concept, each.tag, each.source)
            track.dropped_high, track.dropped_low = each.high, each.low
            points = zip(each.rows, each.steps, each.times, each.values, strict=True)
            for row, step, time, value in points:
                track.append(Mark(row, step, time), value)
        return timeline

    def mark(self, row: int) -> Mark:
        """The mark of a row; negative numbers count from the end."""
        at = row if row >= 0 else len(self.steps) + row
        return Mark(at, self.steps[at], self.times[at])
