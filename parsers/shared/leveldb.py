"""LevelDB's log framing as W&B and SwanLab write it: records in checked parts, 32 KiB a block.

A part is `u32 crc | u16 length | u8 kind | data`, little-endian; the checksum is zlib's CRC-32 over
kind and data (LevelDB itself uses another one). A file begins with seven bytes that name its
writer, and these count into the first block. A block's last bytes, fewer than seven, are zeros.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ppo_top.model import Problem

BLOCK = 32768
HEADER = 7
LONGEST = 32 << 20
"""Bytes; a longer record is passed over, it would only fill the memory."""

FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
_PART = struct.Struct("<IHB")
_SEEDS = [zlib.crc32(bytes([kind])) for kind in range(LAST + 1)]
_SEARCH_BYTES = 8 << 20
"""How much is checked in search of the next part of a damaged block: such bytes can be made so that
a part seems to begin everywhere."""


class Record(NamedTuple):
    """A whole record, and the place of its first part in the file."""

    offset: int
    data: bytes


class _Found(Enum):
    """What stands at a place of the file."""

    PART = 0
    SHORT = 1
    DAMAGE = 2


class Log:
    """Collects the bytes of one file and gives its records, and what could not be read."""

    def __init__(self, ident: bytes) -> None:
        self._ident = ident
        self._data = bytearray()
        self._offset = 0
        self._pieces: list[bytes] = []
        self._start = 0
        self._size = 0
        self._lost: int | None = None
        self._part: tuple[int, int] = (0, 0)
        self._needed = HEADER

    def add(self, data: bytes) -> Iterator[Record | Problem]:
        """Take the next bytes; give what is complete, in file order."""
        self._data += data
        return self._read(final=False) if len(self._data) >= self._needed else iter(())

    def finish(self) -> Iterator[Record | Problem]:
        """No byte will follow: look through a damaged end too, and tell what has no end."""
        self._needed = 0
        yield from self._read(final=True)
        left = len(self._data)
        if self._pieces or left:
            start = self._start if self._pieces else self._offset
            size = self._offset + left - start
            yield Problem(start, f"the last record is cut off ({size:,} bytes)")

    def _read(self, final: bool) -> Iterator[Record | Problem]:
        place = 0
        if self._offset == 0:
            if len(self._data) < HEADER:
                return
            if not self._data.startswith(self._ident):
                yield Problem(0, "the file does not begin as such a log does")
            place = HEADER
        data = bytes(self._data)
        base = self._offset
        while True:
            found, end = self._look(data, base, place)
            if found is _Found.PART:
                yield from self._take(data, base, place)
                place = end
                continue
            if found is _Found.DAMAGE:
                behind = self._search(data, base, place, final)
                if behind is not None:
                    yield from self._damaged(base + place, base + behind)
                    place = behind
                    continue
            elif end > place:  # padding
                place = end
                continue
            break
        del self._data[:place]
        self._offset += place

    def _look(self, data: bytes, base: int, place: int) -> tuple[_Found, int]:
        """What begins at a place, and where it ends; a part's kind is kept for `_take`.

        Padding is no part and ends behind `place`; what has not arrived as a whole ends at it.
        """
        left = BLOCK - (base + place) % BLOCK
        here = len(data) - place
        self._needed = min(left, HEADER)
        if here < self._needed:
            return _Found.SHORT, place
        if left < HEADER:
            return _Found.SHORT, place + left
        crc, length, kind = _PART.unpack_from(data, place)
        if not FULL <= kind <= LAST or length > left - HEADER:
            return _Found.DAMAGE, place
        self._needed = HEADER + length
        if here < self._needed:
            return _Found.SHORT, place
        end = place + HEADER + length
        if zlib.crc32(data[place + HEADER : end], _SEEDS[kind]) != crc:
            return _Found.DAMAGE, place
        self._part = kind, end
        return _Found.PART, end

    def _search(self, data: bytes, base: int, place: int, final: bool) -> int | None:
        """The next place in the block where a part begins, else the block's end.

        None: the block has not arrived as a whole.
        """
        end = place + BLOCK - (base + place) % BLOCK
        self._needed = end - place
        if end > len(data) and not final:
            return None
        budget = _SEARCH_BYTES
        for start in range(place + 1, min(end, len(data)) - HEADER + 1):
            if not FULL <= data[start + 6] <= LAST:
                continue
            budget -= data[start + 4] | data[start + 5] << 8
            if budget < 0:
                break
            if self._look(data, base, start)[0] is _Found.PART:
                return start
        return min(end, len(data))

    def _damaged(self, start: int, behind: int) -> Iterator[Problem]:
        """Pass over bytes; the record that they cut in two is lost with them."""
        if self._pieces:
            self._pieces.clear()
            yield Problem(self._start, "a record is damaged and passed over")
        self._lost = None
        yield Problem(start, f"{behind - start:,} damaged bytes are passed over")

    def _take(self, data: bytes, base: int, place: int) -> Iterator[Record | Problem]:
        """One good part: a record, or a piece of one."""
        kind, end = self._part
        piece = data[place + HEADER : end]
        if kind in (FULL, FIRST):
            if self._pieces:
                self._pieces.clear()
                yield Problem(self._start, "a record has no end and is passed over")
            self._lost = None
            if kind == FULL:
                yield Record(base + place, piece)
                return
            self._pieces, self._start, self._size = [piece], base + place, len(piece)
            return
        yield from self._append(piece, base + place, kind == LAST)

    def _append(self, piece: bytes, offset: int, last: bool) -> Iterator[Record | Problem]:
        if not self._pieces:
            if self._lost is None:
                yield Problem(offset, "a record has no beginning and is passed over")
            self._lost = None if last else offset
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LONGEST:
            self._pieces.clear()
            self._lost = None if last else offset
            yield Problem(self._start, f"a record of more than {LONGEST:,} bytes is passed over")
        elif last:
            whole = b"".join(self._pieces)
            self._pieces.clear()
            yield Record(self._start, whole)
