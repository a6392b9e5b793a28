"""Cuts a stream of bytes at line feeds and carriage returns, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppo_top.model import Problem
from ppo_top.model.named_tuple import NamedTuple

MAX_LINE_BYTES = 16 << 20
"""No trainer prints longer lines; bounds memory."""

_SEGMENT = re.compile(rb"([^\r\n]*+)([\r\n])")
_NEWLINE = 10


class Segment(NamedTuple):
    """The bytes up to a line end, and their offset in the file."""

    offset: int
    data: bytes
    newline: bool
    """Ended by a line feed rather than a carriage return, after which it may be drawn over."""


class LineSplitter:
    """Splits the bytes of one file; keeps an unfinished segment until its rest arrives.

    A segment longer than `max_bytes` is dropped with a problem, however it is cut.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self.problems: list[Problem] = []
        self.dropped_newline: bool | None = None
        """Whether what `add_bytes` dropped ended with a line feed; None if it dropped nothing."""
        self._max_bytes = max_bytes
        self._unfinished = bytearray()
        self._start = 0  # file offset of `_unfinished`
        self._skipping = False

    def add_bytes(self, data: bytes) -> tuple[bytes, int]:
        """All segments that the next bytes complete, joined, and their offset in the file."""
        self.dropped_newline = None
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not end:
            self._keep_unfinished(data)
            return b"", self._start
        view = memoryview(data)[:end]
        whole = b"".join((self._unfinished, view)) if self._unfinished else bytes(view)
        offset = self._start
        self._start += len(whole)
        self._unfinished.clear()
        if self._skipping:
            self._skipping = False
            cut = _SEGMENT.match(whole)
            assert cut is not None
            self.dropped_newline = cut[2] == b"\n"
            whole, offset = whole[cut.end() :], offset + cut.end()
        self._keep_unfinished(data[end:])
        return whole, offset

    def _keep_unfinished(self, data: bytes) -> None:
        if self._skipping:
            self._start += len(data)
            return
        self._unfinished += data
        if len(self._unfinished) > self._max_bytes:
            self._report_too_long(self._start)
            self._start += len(self._unfinished)
            self._unfinished = bytearray()
            self._skipping = True

    def segment_at(self, data: bytes, offset: int, position: int) -> tuple[Segment | None, int]:
        """The segment at `position` in `data` (at `offset` in the file), and the end of it.

        None instead of a segment that is too long.
        """
        match = _SEGMENT.match(data, position)
        assert match is not None
        if match.end(1) - position > self._max_bytes:
            self._report_too_long(offset + position)
            return None, match.end()
        newline = data[match.end() - 1] == _NEWLINE
        return Segment(offset + position, match[1], newline), match.end()

    def complete_segments(self, data: bytes) -> Iterator[Segment]:
        """Every segment that the next bytes complete."""
        whole, offset = self.add_bytes(data)
        position = 0
        while position < len(whole):
            segment, position = self.segment_at(whole, offset, position)
            if segment is not None:
                yield segment

    def unfinished(self, max_bytes: int = MAX_LINE_BYTES) -> Segment:
        """The unfinished segment, at most its first `max_bytes` bytes."""
        return Segment(self._start, bytes(self._unfinished[:max_bytes]), newline=False)

    def pop_problems(self) -> list[Problem]:
        """Segments dropped since the last call."""
        popped, self.problems = self.problems, []
        return popped

    def _report_too_long(self, offset: int) -> None:
        self.problems.append(Problem(offset, f"line longer than {self._max_bytes:,} bytes skipped"))
