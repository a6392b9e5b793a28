"""The common part of parsers of files with a point a line, whose tag stands in their path."""

from __future__ import annotations

from typing import NamedTuple

from ppo_top.model import Batch, Problem
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.text.line_splitter import LineSplitter, Segment


class LinePoint(NamedTuple):
    """The point of a line; `time` in unix seconds or NaN."""

    step: int
    time: float
    value: float


class PointLinesParser:
    """Reads one file; its points have no tag yet. `_read_point` decodes a line."""

    _unreadable = "not a point"
    """What is said of a line that holds none."""
    _counts_rows = False
    """Whether the step of a point is only the number of its line."""

    def __init__(self) -> None:
        self._splitter = LineSplitter()

    def feed(self, data: bytes) -> Batch:
        """The points of the lines that the next bytes complete."""
        builder = ColumnBuilder()
        problems: list[Problem] = []
        for segment in self._splitter.complete_segments(data):
            if not segment.data.strip() or self._is_heading(segment):
                continue
            point = self._read_point(segment.data.decode("ascii", "replace"))
            if point is None:
                problems.append(Problem(segment.offset, self._unreadable))
            else:
                builder.add_point("", *point)
        problems += self._splitter.pop_problems()
        points = builder.pop_points()
        counts = bool(points) and self._counts_rows
        return Batch(points, problems=problems, counts_updates=counts)

    def finish(self) -> Batch:
        """Nothing: a line without its end may be cut in the middle of a number."""
        return Batch()

    def _is_heading(self, segment: Segment) -> bool:
        """Whether a line stands for the names of what follows."""
        return False

    def _read_point(self, text: str) -> LinePoint | None:
        """The point of a line, or None."""
        raise NotImplementedError
