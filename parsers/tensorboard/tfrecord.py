"""The framing of TensorBoard event files: finds records and continues after damage.

A record is `u64 length | u32 masked crc32c(length) | payload | u32 masked crc32c(payload)`, little
endian. Headers are verified here. Payloads are verified by the decoders, except where the result
decides how to continue:

- a bad header may follow a truncated record, so the payload before it is checked: if that is
  damaged, the search for the next header starts inside it, otherwise after it;
- a damaged payload at the end of the data is held back until the header after it has arrived.

The result depends only on the bytes and never on how they were cut.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterator
from enum import Enum, auto

from ppo_top.model import Problem
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.tensorboard.crc32c import is_intact
from ppo_top.text.lazy_pattern import lazy_pattern

HEADER_BYTES = 12
OVERHEAD_BYTES = 16
MAX_TFRECORD_BYTES = 256 << 20
"""Longer records are skipped."""
MAX_BLOCK_BYTES = 6 << 20

BAD_CHECKSUM = "record with a bad checksum skipped"
NO_RECORD = "no record here: skipped to the next one"
TOO_LONG = "record too long, skipped"

_unpack_length = struct.Struct("<Q").unpack_from
_unpack_checksum = struct.Struct("<I").unpack_from
_NOT_ZERO = lazy_pattern(rb"[^\0]")
_ZEROS = bytes(4)
_MAX_KNOWN_HEADERS = 1 << 12
_WALKED_FIRST = 600
"""Records walked over one by one before others are looked for ahead."""

LookAhead = Callable[[bytes, "array[int]", int], "array[int]"]
"""Given data, the bounds of records and a limit: the ends of records that follow with good headers.

Each of them begins before the limit.
"""


class RecordBlock(NamedTuple):
    """Whole records with good headers: record i is `data[bounds[i]:bounds[i + 1]]`.

    `offset` is the position of `data` in the file. Payloads are not verified yet.
    """

    data: bytes
    offset: int
    bounds: array[int]


class _StopReason(Enum):
    """Why the walk from record to record ended."""

    NO_HEADER = auto()
    """Less than a header is left, so what follows the last record is unknown."""
    HALF = auto()
    """The record is not complete yet."""
    BROKEN = auto()
    """The header does not verify."""
    LONG = auto()
    """The record is too long to be read."""
    FULL = auto()
    """Enough for one block."""


class HeaderCache:
    """Verifies headers and remembers the good ones."""

    __slots__ = ("length_by_header",)

    def __init__(self) -> None:
        self.length_by_header: dict[bytes, int] = {}

    def verify(self, header: bytes) -> int | None:
        """The length in a 12-byte header; None if its checksum is wrong."""
        length: int = _unpack_length(header)[0]
        if not is_intact(header[:8], _unpack_checksum(header, 8)[0]):
            return None
        if len(self.length_by_header) >= _MAX_KNOWN_HEADERS:
            self.length_by_header.clear()
        self.length_by_header[header] = length
        return length

    def find_header(self, data: bytes, start: int) -> int:
        """Where the first good header at or after `start` is.

        Without one: the first position where one may begin once more bytes have arrived.
        """
        last = len(data) - HEADER_BYTES
        while start <= last:
            zeros = data.find(_ZEROS, start + 4)  # upper half of any readable length
            if zeros < 0:
                return len(data) - 7  # zeros may follow
            start = zeros - 4
            if start > last:
                break
            length = self.verify(data[start : start + HEADER_BYTES])
            if length is not None and length <= MAX_TFRECORD_BYTES:
                return start
            start = _past_zeros(data, start)
        return start


def _past_zeros(data: bytes, start: int) -> int:
    """The next candidate: twelve zero bytes in a row are not a header."""
    if data[start : start + HEADER_BYTES].count(0) < HEADER_BYTES:
        return start + 1
    found = _NOT_ZERO.search(data, start)
    end = found.start() if found else len(data)
    return end - HEADER_BYTES + 1


class TfRecordReader:
    """Collects the bytes of one file and yields its records in blocks."""

    def __init__(self) -> None:
        self._headers = HeaderCache()
        self._data = b""
        self._offset = 0
        self._arrived: list[bytes] = []
        self._waiting_bytes = 0
        self._bytes_needed = 0
        self._searching = False
        self._problems: list[Problem] = []
        self._look_ahead: LookAhead | None = None

    def add_bytes(self, data: bytes, look_ahead: LookAhead | None = None) -> Iterator[RecordBlock]:
        """The records that the next bytes complete; `look_ahead` finds many of them at once."""
        self._look_ahead = look_ahead
        self._arrived.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes < self._bytes_needed or not self._waiting_bytes:
            return
        pieces = [self._data, *self._arrived] if self._data else self._arrived
        self._data = b"".join(pieces)
        self._arrived.clear()
        position = 0
        while True:
            bounds, stop = self._walk(position)
            position = self._resume_place(bounds, stop)
            if len(bounds) > 1:
                yield RecordBlock(self._data, self._offset, bounds)
            if stop in (_StopReason.NO_HEADER, _StopReason.HALF):
                break
        self._drop_read(position)

    def pop_problems(self) -> list[Problem]:
        """What was skipped since the last call."""
        popped, self._problems = self._problems, []
        return popped

    def unfinished_problem(self) -> Problem | None:
        """The incomplete record at the end, if no more bytes follow."""
        if self._searching or not (size := len(self._data) + self._waiting_bytes):
            return None
        return Problem(self._offset, f"last record truncated or damaged ({size:,} bytes)")

    def _drop_read(self, position: int) -> None:
        """Drop what was read; note how many more bytes the next record needs."""
        self._data = self._data[position:]
        self._offset += position
        self._waiting_bytes = 0
        size = len(self._data)
        self._bytes_needed = 1
        if not self._searching and size >= HEADER_BYTES:
            whole: int = _unpack_length(self._data)[0] + OVERHEAD_BYTES
            if size >= whole:  # damaged: waits for the header after it
                whole += HEADER_BYTES
            self._bytes_needed = max(1, whole - size)

    def _walk(self, position: int) -> tuple[array[int], _StopReason]:
        """The bounds of whole records from `position` on, and why the walk ended there."""
        if self._searching:
            position = self._headers.find_header(self._data, position)
            if position + HEADER_BYTES > len(self._data):
                return array("q", [position]), _StopReason.NO_HEADER
            self._searching = False
        bounds = array("q", [position])
        return bounds, self._walk_headers(bounds, position + MAX_BLOCK_BYTES)

    def _walk_headers(self, bounds: array[int], limit: int) -> _StopReason:
        """Append the ends of whole records up to the limit; return why it ended."""
        data, size = self._data, len(self._data)
        known, learn = self._headers.length_by_header, self._headers.verify
        position = bounds[-1]
        until = len(bounds) + _WALKED_FIRST if self._look_ahead is not None else sys.maxsize
        while True:
            if len(bounds) >= until and self._look_ahead is not None:
                ahead = self._look_ahead(data, bounds, limit)
                until = len(bounds) + (_WALKED_FIRST if ahead else len(bounds))
                bounds += ahead
                position = bounds[-1]
            header = data[position : position + HEADER_BYTES]
            length = known.get(header)
            if length is None:
                if len(header) < HEADER_BYTES:
                    return _StopReason.NO_HEADER
                length = learn(header)
                if length is None:
                    return _StopReason.BROKEN
            if length > MAX_TFRECORD_BYTES:
                return _StopReason.LONG
            if position >= limit:
                return _StopReason.FULL
            position += OVERHEAD_BYTES + length
            if position > size:
                return _StopReason.HALF
            bounds.append(position)

    def _resume_place(self, bounds: array[int], stop: _StopReason) -> int:
        """Where to continue after a walk; removes a last record that is doubtful."""
        position = bounds[-1]
        if stop is _StopReason.LONG:
            return self._report_damage(position, position + HEADER_BYTES, TOO_LONG)
        if stop not in (_StopReason.BROKEN, _StopReason.NO_HEADER):
            return position
        if len(bounds) > 1 and not self._is_intact(bounds[-2], position):
            bounds.pop()
            if stop is _StopReason.NO_HEADER:
                return bounds[-1]
            return self._report_damage(bounds[-1], bounds[-1] + HEADER_BYTES, BAD_CHECKSUM)
        if stop is _StopReason.BROKEN:
            return self._report_damage(position, position + 1, NO_RECORD)
        return position

    def _is_intact(self, start: int, end: int) -> bool:
        stored: int = _unpack_checksum(self._data, end - 4)[0]
        return is_intact(self._data[start + HEADER_BYTES : end - 4], stored)

    def _report_damage(self, start: int, resume: int, message: str) -> int:
        self._problems.append(Problem(self._offset + start, message))
        self._searching = True
        return resume
