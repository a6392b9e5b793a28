"""The common part of parsers that read one row of text after another."""

from __future__ import annotations

from ppo_top.model import Batch, ConfigValue, Problem, RunEnd
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.text.line_splitter import MAX_LINE_BYTES, LineSplitter, Segment

MAX_BLOCK_BYTES = 1 << 18
"""Bytes of whole lines that are tried as a block."""


class RowParser:
    """Splits a file into lines and collects what `_add_line` finds in them.

    Where there are many lines, `_add_block` may take them at once.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_line_bytes = max_line_bytes
        self._splitter = LineSplitter(max_line_bytes)
        self._reset_batch()

    def _reset_batch(self) -> None:
        self._builder = ColumnBuilder()
        self._config: dict[str, ConfigValue] = {}
        self._problems: list[Problem] = []
        self._ended: RunEnd | None = None

    @property
    def _counts_rows(self) -> bool:
        """Whether the step of the last row is only its number."""
        return False

    def feed(self, data: bytes) -> Batch:
        """What the lines completed by these bytes hold."""
        data, offset = self._splitter.add_bytes(data)
        position = plain_from = 0
        while position < len(data):
            if self._expects_row and position >= plain_from:
                end = data.find(b"\n", min(position + MAX_BLOCK_BYTES, len(data) - 1)) + 1
                block = data[position : end or len(data)]
                is_plain = len(block) <= min(2 * MAX_BLOCK_BYTES, self._max_line_bytes)
                is_plain = is_plain and block.find(b"\n") + 1 < len(block)  # more than one line
                after = position + len(block)
                if b"\r" in block:  # the first line feed may be the rest of the line before
                    block = block.replace(b"\r\n", b"\n").lstrip(b"\n")
                if is_plain and b"\r" not in block and self._add_block(block):
                    position = after
                    continue
                plain_from = after  # line by line, so that time stays linear
            segment, position = self._splitter.segment_at(data, offset, position)
            if segment is not None and (segment.data.strip() or not self._expects_row):
                self._add_line(segment)
        return self._pop_batch()

    @property
    def _expects_row(self) -> bool:
        """Whether a row begins with the next line; blank lines between rows are left out."""
        return True

    def _add_block(self, block: bytes) -> bool:
        """Add many lines at once; False if they have to be added one by one."""
        return False

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
        batch.counts_updates = bool(points) and self._counts_rows
        self._reset_batch()
        return batch
