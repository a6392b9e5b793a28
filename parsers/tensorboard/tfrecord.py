"""The framing of TensorBoard event files: where records begin, and how to go on behind damage.

A record is `u64 length | u32 masked crc32c(length) | payload | u32 masked crc32c(payload)`, little
endian. Headers are verified here; payloads by whoever decodes them (many at once is faster), except
where the answer decides where reading goes on:

- a header that does not verify may follow a record that was cut short, so the payload before it is
  checked: if that is damaged, the search for the next header begins inside it, otherwise behind it;
- a damaged payload at the very end is held back until the header behind it has arrived.

What is found therefore depends on the bytes alone and never on how they were cut.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from ppo_top.model import Problem
from ppo_top.parsers.tensorboard.crc32c import is_intact

HEADER_BYTES = 12
OVERHEAD_BYTES = 16
MAX_TFRECORD_BYTES = 256 << 20
"""A record that says it is longer than this is passed over."""
MAX_BLOCK_BYTES = 6 << 20

BAD_CHECKSUM = "a record with a bad checksum is passed over"
NO_RECORD = "no record begins here: the bytes up to the next one are passed over"
TOO_LONG = "a record too long to be read is passed over"

_unpack_length = struct.Struct("<Q").unpack_from
_unpack_checksum = struct.Struct("<I").unpack_from
_NOT_ZERO = re.compile(rb"[^\0]")
_ZEROS = bytes(4)
_MAX_KNOWN_HEADERS = 1 << 12


class RecordBlock(NamedTuple):
    """Whole records with good headers: record i stands in `data[bounds[i]:bounds[i + 1]]`.

    `offset` is the place of `data` in the file. Payloads are not verified yet.
    """

    data: bytes
    offset: int
    bounds: array[int]


class _StopReason(Enum):
    """Why walking from record to record ended."""

    NO_HEADER = auto()
    """Less than a header is left: what follows the last record is not known."""
    HALF = auto()
    """The record has begun and has no end yet."""
    BROKEN = auto()
    """The header does not verify."""
    LONG = auto()
    """The record is longer than any that is read."""
    FULL = auto()
    """Enough for one block."""


class HeaderCache:
    """Verifies headers and remembers those that are good."""

    __slots__ = ("length_by_header",)

    def __init__(self) -> None:
        self.length_by_header: dict[bytes, int] = {}

    def verify(self, header: bytes) -> int | None:
        """The length in a header of 12 bytes, or None when its checksum does not verify."""
        length: int = _unpack_length(header)[0]
        if not is_intact(header[:8], _unpack_checksum(header, 8)[0]):
            return None
        if len(self.length_by_header) >= _MAX_KNOWN_HEADERS:
            self.length_by_header.clear()
        self.length_by_header[header] = length
        return length

    def find_header(self, data: bytes, start: int) -> int:
        """The first place at or after `start` where a good header of a readable record stands.

        Without one: the first place where one may begin when more bytes are there.
        """
        last = len(data) - HEADER_BYTES
        while start <= last:
            zeros = data.find(_ZEROS, start + 4)  # the upper half of the length of any record here
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
    """The next place worth a look: twelve zero bytes in a row are no header."""
    if data[start : start + HEADER_BYTES].count(0) < HEADER_BYTES:
        return start + 1
    found = _NOT_ZERO.search(data, start)
    behind = found.start() if found else len(data)
    return behind - HEADER_BYTES + 1


class TfRecordReader:
    """Collects the bytes of one file and gives its records in blocks."""

    def __init__(self) -> None:
        self._headers = HeaderCache()
        self._data = b""
        self._offset = 0
        self._arrived: list[bytes] = []
        self._waiting_bytes = 0
        self._bytes_needed = 0
        self._searching = False
        self._problems: list[Problem] = []

    def add_bytes(self, data: bytes) -> Iterator[RecordBlock]:
        """Take the next bytes and give the records that are complete."""
        self._arrived.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes < self._bytes_needed or not self._waiting_bytes:
            return
        self._data = (
            b"".join((self._data, *self._arrived)) if self._data else b"".join(self._arrived)
        )
        self._arrived.clear()
        place = 0
        while True:
            bounds, stop = self._walk(place)
            place = self._resume_place(bounds, stop)
            if len(bounds) > 1:
                yield RecordBlock(self._data, self._offset, bounds)
            if stop in (_StopReason.NO_HEADER, _StopReason.HALF):
                break
        self._drop_read(place)

    def pop_problems(self) -> list[Problem]:
        """What was passed over since the last call."""
        taken, self._problems = self._problems, []
        return taken

    def unfinished_problem(self) -> Problem | None:
        """The record that has begun and has no end, if no byte follows."""
        if self._searching or not (size := len(self._data) + self._waiting_bytes):
            return None
        return Problem(self._offset, f"the last record is cut off or damaged ({size:,} bytes)")

    def _drop_read(self, place: int) -> None:
        """Drop what was read; remember how many bytes are needed before another look pays."""
        self._data = self._data[place:]
        self._offset += place
        self._waiting_bytes = 0
        size = len(self._data)
        self._bytes_needed = 1
        if not self._searching and size >= HEADER_BYTES:
            whole: int = _unpack_length(self._data)[0] + OVERHEAD_BYTES
            if size >= whole:  # it is doubtful, and waits for the header behind it
                whole += HEADER_BYTES
            self._bytes_needed = max(1, whole - size)

    def _walk(self, place: int) -> tuple[array[int], _StopReason]:
        """Go from header to header: the bounds of whole records, and why it ended behind them."""
        if self._searching:
            place = self._headers.find_header(self._data, place)
            if place + HEADER_BYTES > len(self._data):
                return array("q", [place]), _StopReason.NO_HEADER
            self._searching = False
        bounds = [place]
        stop = self._walk_headers(bounds, place + MAX_BLOCK_BYTES)
        return array("q", bounds), stop

    def _walk_headers(self, bounds: list[int], limit: int) -> _StopReason:
        """Append the ends of whole records up to the limit; why it ended."""
        data, size = self._data, len(self._data)
        known, learn = self._headers.length_by_header, self._headers.verify
        place = bounds[-1]
        while True:
            header = data[place : place + HEADER_BYTES]
            length = known.get(header)
            if length is None:
                if len(header) < HEADER_BYTES:
                    return _StopReason.NO_HEADER
                length = learn(header)
                if length is None:
                    return _StopReason.BROKEN
            if length > MAX_TFRECORD_BYTES:
                return _StopReason.LONG
            if place >= limit:
                return _StopReason.FULL
            place += OVERHEAD_BYTES + length
            if place > size:
                return _StopReason.HALF
            bounds.append(place)

    def _resume_place(self, bounds: array[int], stop: _StopReason) -> int:
        """Where to go on after a walk; takes a last record off that is not certain."""
        place = bounds[-1]
        if stop is _StopReason.LONG:
            return self._report_damage(place, place + HEADER_BYTES, TOO_LONG)
        if stop not in (_StopReason.BROKEN, _StopReason.NO_HEADER):
            return place
        if len(bounds) > 1 and not self._is_intact(bounds[-2], place):
            bounds.pop()
            if stop is _StopReason.NO_HEADER:
                return bounds[-1]
            return self._report_damage(bounds[-1], bounds[-1] + HEADER_BYTES, BAD_CHECKSUM)
        if stop is _StopReason.BROKEN:
            return self._report_damage(place, place + 1, NO_RECORD)
        return place

    def _is_intact(self, start: int, end: int) -> bool:
        stored: int = _unpack_checksum(self._data, end - 4)[0]
        return is_intact(self._data[start + HEADER_BYTES : end - 4], stored)

    def _report_damage(self, start: int, behind: int, what: str) -> int:
        self._problems.append(Problem(self._offset + start, what))
        self._searching = True
        return behind
