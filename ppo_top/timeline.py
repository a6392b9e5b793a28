"""A run's own timeline: its rows (updates) in order, and for each concept the points on it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from ppo_top.model import Mark


@dataclass(slots=True)
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

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, mark: Mark, value: float) -> None:
        """Add the value that a row holds."""
        self.rows.append(mark.row)
        self.steps.append(mark.step)
        self.times.append(mark.time)
        self.values.append(value)

    def until(self, row: int) -> int:
        """How many points there are at or before a row of the timeline."""
        return bisect_right(self.rows, row)


@dataclass(slots=True)
class Timeline:
    """Rows in order; `restarts` are the numbers of rows at which the run began again (resumed)."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    restarts: list[int] = field(default_factory=list)
    tracks: dict[str, Track] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.steps)

    def mark(self, row: int) -> Mark:
        """The place of a row; negative numbers count from the end."""
        at = row if row >= 0 else len(self.steps) + row
        return Mark(at, self.steps[at], self.times[at])
