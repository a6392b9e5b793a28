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
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from ppo_top.model import Problem
from ppo_top.parsers.tensorboard.crc32c import crc32c, intact, masked, shares

HEADER = 12
OVERHEAD = 16
LONGEST = 256 << 20
"""A record that says it is longer than this is passed over."""
BLOCK_BYTES = 6 << 20
_STEP = 1 << 15
"""So many bytes are walked record by record before a stride is tried."""
_REACH = 1 << 18
"""The first stride; each one that holds makes the next one longer."""
_RECENT = 513
"""A stride is foretold from so many bounds: of twice the largest period that is found."""

BAD_CHECKSUM = "a record with a bad checksum is passed over"
NO_RECORD = "no record begins here: the bytes up to the next one are passed over"
TOO_LONG = "a record too long to be read is passed over"

_LENGTH = struct.Struct("<Q").unpack_from
_CHECK = struct.Struct("<I").unpack_from
_NOT_ZERO = re.compile(rb"[^\0]")
_ZEROS = bytes(4)
_EMPTY_LENGTH = crc32c(bytes(8))
_KNOWN_LENGTHS = 1 << 12


class Block(NamedTuple):
    """Whole records with good headers: record i stands in `data[bounds[i]:bounds[i + 1]]`.

    `offset` is the place of `data` in the file. Payloads are not verified yet.
    """

    data: bytes
    offset: int
    bounds: array[int]


class Stride(NamedTuple):
    """Ends of records that were foretold and verified; whether nothing spoke against going on."""

    ends: array[int]
    unbroken: bool


class _Stop(Enum):
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


class Headers:
    """Verifies headers and remembers those that are good."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}

    def learn(self, header: bytes) -> int | None:
        """The length in a header of 12 bytes, or None when its checksum does not verify."""
        length: int = _LENGTH(header)[0]
        if masked(_length_checksum(length)) != _CHECK(header, 8)[0]:
            return None
        if len(self.known) >= _KNOWN_LENGTHS:
            self.known.clear()
        self.known[header] = length
        return length

    def search(self, data: bytes, start: int) -> int:
        """The first place at or after `start` where a good header of a readable record stands.

        Without one: the first place where one may begin when more bytes are there.
        """
        last = len(data) - HEADER
        while start <= last:
            zeros = data.find(_ZEROS, start + 4)  # the upper half of the length of any record here
            if zeros < 0:
                return len(data) - 7  # zeros may follow
            start = zeros - 4
            if start > last:
                break
            length = self.learn(data[start : start + HEADER])
            if length is not None and length <= LONGEST:
                return start
            start = _past_zeros(data, start)
        return start


def _past_zeros(data: bytes, start: int) -> int:
    """The next place worth a look: twelve zero bytes in a row are no header."""
    if data[start : start + HEADER].count(0) < HEADER:
        return start + 1
    found = _NOT_ZERO.search(data, start)
    behind = found.start() if found else len(data)
    return behind - HEADER + 1


def _length_checksum(length: int) -> int:
    if length >> 32:
        return crc32c(length.to_bytes(8, "little"))
    return (
        _EMPTY_LENGTH
        ^ shares(7)[length & 255]
        ^ shares(6)[length >> 8 & 255]
        ^ shares(5)[length >> 16 & 255]
        ^ shares(4)[length >> 24]
    )


class Records:
    """Collects the bytes of one file and gives its records in blocks.

    `stride`, if set, foretells the bounds of records from those before them, up to a place.
    """

    def __init__(self) -> None:
        self.stride: Callable[[bytes, array[int], int], Stride] | None = None
        self._headers = Headers()
        self._data = b""
        self._offset = 0
        self._arrived: list[bytes] = []
        self._waiting = 0
        self._needed = 0
        self._searching = False
        self._problems: list[Problem] = []

    def add(self, data: bytes) -> Iterator[Block]:
        """Take the next bytes and give the records that are complete."""
        self._arrived.append(data)
        self._waiting += len(data)
        if self._waiting < self._needed or not self._waiting:
            return
        self._data = (
            b"".join((self._data, *self._arrived)) if self._data else b"".join(self._arrived)
        )
        self._arrived.clear()
        place = 0
        while True:
            bounds, stop = self._walk(place)
            place = self._settle(bounds, stop)
            if len(bounds) > 1:
                yield Block(self._data, self._offset, bounds)
            if stop in (_Stop.NO_HEADER, _Stop.HALF):
                break
        self._keep(place)

    def problems(self) -> list[Problem]:
        """What was passed over since the last call."""
        taken, self._problems = self._problems, []
        return taken

    def rest(self) -> Problem | None:
        """The record that has begun and has no end, if no byte follows."""
        if self._searching or not (size := len(self._data) + self._waiting):
            return None
        return Problem(self._offset, f"the last record is cut off or damaged ({size:,} bytes)")

    def _keep(self, place: int) -> None:
        """Drop what was read; remember how many bytes are needed before another look pays."""
        self._data = self._data[place:]
        self._offset += place
        self._waiting = 0
        size = len(self._data)
        self._needed = 1
        if not self._searching and size >= HEADER:
            whole: int = _LENGTH(self._data)[0] + OVERHEAD
            if size >= whole:  # it is doubtful, and waits for the header behind it
                whole += HEADER
            self._needed = max(1, whole - size)

    def _walk(self, place: int) -> tuple[array[int], _Stop]:
        """Go from header to header: the bounds of whole records, and why it ended behind them."""
        if self._searching:
            place = self._headers.search(self._data, place)
            if place + HEADER > len(self._data):
                return array("q", [place]), _Stop.NO_HEADER
            self._searching = False
        bounds = array("q", [place])
        limit = place + BLOCK_BYTES
        step, reach = (_STEP, _REACH) if self.stride else (BLOCK_BYTES, 0)
        while True:
            walked = [bounds[-1]]
            stop = self._chain(walked, min(limit, walked[0] + step))
            bounds.extend(walked[1:])
            if stop is not _Stop.FULL or bounds[-1] >= limit or self.stride is None:
                return bounds, stop
            found = self.stride(self._data, bounds[-_RECENT:], min(limit, bounds[-1] + reach))
            bounds.extend(found.ends)
            if found.unbroken:
                step, reach = 0, 4 * reach
            else:
                step, reach = _STEP if found.ends else max(_STEP, 2 * step), _REACH

    def _chain(self, bounds: list[int], limit: int) -> _Stop:
        """Append the ends of whole records up to the limit; why it ended."""
        data, size = self._data, len(self._data)
        known, learn = self._headers.known, self._headers.learn
        place = bounds[-1]
        while True:
            header = data[place : place + HEADER]
            length = known.get(header)
            if length is None:
                if len(header) < HEADER:
                    return _Stop.NO_HEADER
                length = learn(header)
                if length is None:
                    return _Stop.BROKEN
            if length > LONGEST:
                return _Stop.LONG
            if place >= limit:
                return _Stop.FULL
            place += OVERHEAD + length
            if place > size:
                return _Stop.HALF
            bounds.append(place)

    def _settle(self, bounds: array[int], stop: _Stop) -> int:
        """Where to go on after a walk; takes a last record off that is not certain."""
        place = bounds[-1]
        if stop is _Stop.LONG:
            return self._damage(place, place + HEADER, TOO_LONG)
        if stop not in (_Stop.BROKEN, _Stop.NO_HEADER):
            return place
        if len(bounds) > 1 and not self._sound(bounds[-2], place):
            bounds.pop()
            if stop is _Stop.NO_HEADER:
                return bounds[-1]
            return self._damage(bounds[-1], bounds[-1] + HEADER, BAD_CHECKSUM)
        if stop is _Stop.BROKEN:
            return self._damage(place, place + 1, NO_RECORD)
        return place

    def _sound(self, start: int, end: int) -> bool:
        stored: int = _CHECK(self._data, end - 4)[0]
        return intact(self._data[start + HEADER : end - 4], stored)

    def _damage(self, start: int, behind: int, what: str) -> int:
        self._problems.append(Problem(self._offset + start, what))
        self._searching = True
        return behind
