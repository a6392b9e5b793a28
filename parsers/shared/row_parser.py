"""The common part of parsers that read one row of text after another."""

from __future__ import annotations

from ppo_top.model import Batch, ConfigValue, Problem, RunEnd
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.line_splitter import MAX_LINE_BYTES, LineSplitter, Segment


class RowParser:
    """Splits a file into lines and collects what `_add_line` finds in them."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._splitter = LineSplitter(max_line_bytes)
        self._reset_batch()

    def _reset_batch(self) -> None:
        self._builder = ColumnBuilder()
        self._config: dict[str, ConfigValue] = {}
        self._problems: list[Problem] = []
        self._ended: RunEnd | None = None

    def feed(self, data: bytes) -> Batch:
        """What the lines completed by these bytes hold."""
        for segment in self._splitter.complete_segments(data):
            if segment.data.strip():
                self._add_line(segment)
        return self._pop_batch()

    def finish(self) -> Batch:
        """Nothing more: a row without its line end may be cut in the middle of a number."""
        return self._pop_batch()

    def _add_line(self, segment: Segment) -> None:
        raise NotImplementedError

    def _pop_batch(self) -> Batch:
        found = self._splitter.pop_problems() + self._problems
        problems = sorted(found, key=lambda each: each.offset)
        points = self._builder.pop_points()
        batch = Batch(points, self._config, problems=problems, ended=self._ended)
        self._reset_batch()
        return batch
