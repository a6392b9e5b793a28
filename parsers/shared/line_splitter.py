"""Cuts a stream of bytes at line feeds and carriage returns, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ppo_top.model import Problem

MAX_LINE_BYTES = 16 << 20
"""Bytes; nothing that a trainer prints is longer, and what never ends must not fill the memory."""

_SEGMENT = re.compile(rb"([^\r\n]*+)([\r\n])")
_NEWLINE = 10


class Segment(NamedTuple):
    """The bytes up to a line end: `offset` is the first one's place in the file."""

    offset: int
    data: bytes
    newline: bool
    """Ended by a line feed; otherwise by a carriage return, so something may be drawn over it."""


class LineSplitter:
    """Bytes that have arrived and are not used yet, and how far they have been searched.

    A segment longer than `longest` is dropped with a problem, however it arrives.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self.problems: list[Problem] = []
        self.dropped_newline: bool | None = None
        """Whether what `add_bytes` dropped last ended with a line feed; None: nothing dropped."""
        self._max_bytes = max_bytes
        self._unfinished = bytearray()
        self._start = 0  # place of the first byte of _rest in the file
        self._skipping = False

    def add_bytes(self, data: bytes) -> tuple[bytes, int]:
        """Take the next bytes; give all complete segments as one piece, and its place."""
        self.dropped_newline = None
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not end:
            self._keep_unfinished(data)
            return b"", self._start
        view = memoryview(data)[:end]
        piece = b"".join((self._unfinished, view)) if self._unfinished else bytes(view)
        place = self._start
        self._start += len(piece)
        self._unfinished.clear()
        if self._skipping:
            self._skipping = False
            cut = _SEGMENT.match(piece)
            assert cut is not None
            self.dropped_newline = cut[2] == b"\n"
            piece, place = piece[cut.end() :], place + cut.end()
        self._keep_unfinished(data[end:])
        return piece, place

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

    def segment_at(self, piece: bytes, place: int, position: int) -> tuple[Segment | None, int]:
        """The segment of `piece` that starts at `position`, and where the next one starts."""
        match = _SEGMENT.match(piece, position)
        assert match is not None
        if match.end(1) - position > self._max_bytes:
            self._report_too_long(place + position)
            return None, match.end()
        newline = piece[match.end() - 1] == _NEWLINE
        return Segment(place + position, match[1], newline), match.end()

    def complete_segments(self, data: bytes) -> Iterator[Segment]:
        """Take the next bytes; give every complete segment."""
        piece, place = self.add_bytes(data)
        position = 0
        while position < len(piece):
            segment, position = self.segment_at(piece, place, position)
            if segment is not None:
                yield segment

    def unfinished(self, max_bytes: int = MAX_LINE_BYTES) -> Segment:
        """What has no end yet, at most its first `max_bytes` bytes."""
        return Segment(self._start, bytes(self._unfinished[:max_bytes]), newline=False)

    def pop_problems(self) -> list[Problem]:
        """What had to be dropped since the last call."""
        taken, self.problems = self.problems, []
        return taken

    def _report_too_long(self, offset: int) -> None:
        self.problems.append(Problem(offset, f"line longer than {self._max_bytes:,} bytes skipped"))
