"""What is known of a log that tells which run it belongs to: its first values and its origin."""

from __future__ import annotations

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.points import Points

HEAD_ROWS = 6
"""Points of a tag that are kept to compare it with the same tag of another log."""
MAX_HEAD_TAGS = 2_000
"""Tags of a log that are compared."""


class Head(NamedTuple):
    """The first `HEAD_ROWS` points of a tag, then those after 8, 16, 32, ... others."""

    steps: list[int]
    values: list[float]


class SourceFacts:
    """What grouping knows of a source; the same however its bytes were cut.

    `version` grows with each change, `rows` is the number of points of the longest series, `start`
    the time of the first point and `end` that of the newest (unix seconds, NaN without a clock).
    `printed` are paths and names of runs that a console printed, `lines` how many lines were looked
    through for them. `title` is what a tracker calls the run. `has_last_words`: the log holds
    evidence or an end, by which it counts without any point.
    """

    def __init__(
        self,
        heads: dict[str, Head] | None = None,
        rows: int = 0,
        start: float = float("nan"),
        printed: list[str] | None = None,
        has_last_words: bool = False,
        lines: int = 0,
        version: int = 0,
        title: str = "",
        end: float = float("nan"),
    ) -> None:
        self.heads = {} if heads is None else heads
        self.rows = rows
        self.start = start
        self.printed = [] if printed is None else printed
        self.has_last_words = has_last_words
        self.lines = lines
        self.version = version
        self.title = title
        self.end = end

    def replace(self, other: SourceFacts) -> None:
        """Take over what was found when the file was read again."""
        same = self.heads == other.heads and self.printed == other.printed
        same = same and self.title == other.title
        if not same or self.start != other.start or self.has_last_words != other.has_last_words:
            self.version += 1
        self.heads, self.printed, self.start = other.heads, other.printed, other.start
        self.rows, self.lines, self.end = other.rows, other.lines, other.end
        self.has_last_words, self.title = other.has_last_words, other.title

    def set_title(self, title: str) -> None:
        """Note what a tracker calls the run."""
        self.version += title != self.title
        self.title = title

    def add_points(self, points: Points, length: int) -> None:
        """Add points of a tag, of which there are `length` now."""
        if length > self.rows:
            self.version += self.rows < HEAD_ROWS
            self.rows = length
        if points.times[-1] == points.times[-1]:
            self.end = points.times[-1]
        head = self.heads.get(points.tag)
        if head is None:
            if len(self.heads) >= MAX_HEAD_TAGS:
                return
            head = self.heads[points.tag] = Head([], [])
            if points.times[0] == points.times[0] and not self.start <= points.times[0]:
                self.start = points.times[0]
        missing = HEAD_ROWS - len(head.steps)
        if missing > 0:
            head.steps.extend(points.steps[:missing])
            head.values.extend(points.values[:missing])
            self.version += 1
        while len(head.steps) >= HEAD_ROWS and (at := _sampled_after(len(head.steps))) < length:
            number = at - (length - len(points))
            head.steps.append(points.steps[number])
            head.values.append(points.values[number])
            self.version += 1


def _sampled_after(kept: int) -> int:
    """The number of the next point to keep if so many are kept."""
    return 8 << (kept - HEAD_ROWS)
