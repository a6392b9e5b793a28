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

LEVELDB_BLOCK_BYTES = 32768
PART_HEADER_BYTES = 7
MAX_LEVELDB_RECORD_BYTES = 32 << 20
"""Bytes; a longer record is passed over, it would only fill the memory."""

FULL_PART, FIRST_PART, MIDDLE_PART, LAST_PART = 1, 2, 3, 4
_PART_HEADER = struct.Struct("<IHB")
_KIND_CHECKSUMS = [zlib.crc32(bytes([kind])) for kind in range(LAST_PART + 1)]
_SEARCH_BYTES = 8 << 20
"""How much is checked in search of the next part of a damaged block: such bytes can be made so that
a part seems to begin everywhere."""


class LevelDbRecord(NamedTuple):
    """A whole record, and the place of its first part in the file."""

    offset: int
    data: bytes


class _PartState(Enum):
    """What stands at a place of the file."""

    PART = 0
    SHORT = 1
    DAMAGE = 2


class LevelDbReader:
    """Collects the bytes of one file and gives its records, and what could not be read."""

    def __init__(self, ident: bytes) -> None:
        self._ident = ident
        self._data = bytearray()
        self._offset = 0
        self._record_parts: list[bytes] = []
        self._record_start = 0
        self._record_bytes = 0
        self._orphan_offset: int | None = None
        self._part: tuple[int, int] = (0, 0)
        self._bytes_needed = PART_HEADER_BYTES

    def add_bytes(self, data: bytes) -> Iterator[LevelDbRecord | Problem]:
        """Take the next bytes; give what is complete, in file order."""
        self._data += data
        return self._read_parts(final=False) if len(self._data) >= self._bytes_needed else iter(())

    def finish(self) -> Iterator[LevelDbRecord | Problem]:
        """No byte will follow: look through a damaged end too, and tell what has no end."""
        self._bytes_needed = 0
        yield from self._read_parts(final=True)
        left = len(self._data)
        if self._record_parts or left:
            start = self._record_start if self._record_parts else self._offset
            size = self._offset + left - start
            yield Problem(start, f"the last record is cut off ({size:,} bytes)")

    def _read_parts(self, final: bool) -> Iterator[LevelDbRecord | Problem]:
        place = 0
        if self._offset == 0:
            if len(self._data) < PART_HEADER_BYTES:
                return
            if not self._data.startswith(self._ident):
                yield Problem(0, "the file does not begin as such a log does")
            place = PART_HEADER_BYTES
        data = bytes(self._data)
        base = self._offset
        while True:
            found, end = self._inspect(data, base, place)
            if found is _PartState.PART:
                yield from self._add_part(data, base, place)
                place = end
                continue
            if found is _PartState.DAMAGE:
                behind = self._find_next_part(data, base, place, final)
                if behind is not None:
                    yield from self._skip_damage(base + place, base + behind)
                    place = behind
                    continue
            elif end > place:  # padding
                place = end
                continue
            break
        del self._data[:place]
        self._offset += place

    def _inspect(self, data: bytes, base: int, place: int) -> tuple[_PartState, int]:
        """What begins at a place, and where it ends; a part's kind is kept for `_add_part`.

        Padding is no part and ends behind `place`; what has not arrived as a whole ends at it.
        """
        left = LEVELDB_BLOCK_BYTES - (base + place) % LEVELDB_BLOCK_BYTES
        here = len(data) - place
        self._bytes_needed = min(left, PART_HEADER_BYTES)
        if here < self._bytes_needed:
            return _PartState.SHORT, place
        if left < PART_HEADER_BYTES:
            return _PartState.SHORT, place + left
        crc, length, kind = _PART_HEADER.unpack_from(data, place)
        if not FULL_PART <= kind <= LAST_PART or length > left - PART_HEADER_BYTES:
            return _PartState.DAMAGE, place
        self._bytes_needed = PART_HEADER_BYTES + length
        if here < self._bytes_needed:
            return _PartState.SHORT, place
        end = place + PART_HEADER_BYTES + length
        if zlib.crc32(data[place + PART_HEADER_BYTES : end], _KIND_CHECKSUMS[kind]) != crc:
            return _PartState.DAMAGE, place
        self._part = kind, end
        return _PartState.PART, end

    def _find_next_part(self, data: bytes, base: int, place: int, final: bool) -> int | None:
        """The next place in the block where a part begins, else the block's end.

        None: the block has not arrived as a whole.
        """
        end = place + LEVELDB_BLOCK_BYTES - (base + place) % LEVELDB_BLOCK_BYTES
        self._bytes_needed = end - place
        if end > len(data) and not final:
            return None
        budget = _SEARCH_BYTES
        for start in range(place + 1, min(end, len(data)) - PART_HEADER_BYTES + 1):
            if not FULL_PART <= data[start + 6] <= LAST_PART:
                continue
            budget -= data[start + 4] | data[start + 5] << 8
            if budget < 0:
                break
            if self._inspect(data, base, start)[0] is _PartState.PART:
                return start
        return min(end, len(data))

    def _skip_damage(self, start: int, behind: int) -> Iterator[Problem]:
        """Pass over bytes; the record that they cut in two is lost with them."""
        if self._record_parts:
            self._record_parts.clear()
            yield Problem(self._record_start, "a record is damaged and passed over")
        self._orphan_offset = None
        yield Problem(start, f"{behind - start:,} damaged bytes are passed over")

    def _add_part(self, data: bytes, base: int, place: int) -> Iterator[LevelDbRecord | Problem]:
        """One good part: a record, or a piece of one."""
        kind, end = self._part
        piece = data[place + PART_HEADER_BYTES : end]
        if kind in (FULL_PART, FIRST_PART):
            if self._record_parts:
                self._record_parts.clear()
                yield Problem(self._record_start, "a record has no end and is passed over")
            self._orphan_offset = None
            if kind == FULL_PART:
                yield LevelDbRecord(base + place, piece)
                return
            self._record_parts, self._record_start, self._record_bytes = (
                [piece],
                base + place,
                len(piece),
            )
            return
        yield from self._continue_record(piece, base + place, kind == LAST_PART)

    def _continue_record(
        self, piece: bytes, offset: int, last: bool
    ) -> Iterator[LevelDbRecord | Problem]:
        if not self._record_parts:
            if self._orphan_offset is None:
                yield Problem(offset, "a record has no beginning and is passed over")
            self._orphan_offset = None if last else offset
            return
        self._record_parts.append(piece)
        self._record_bytes += len(piece)
        if self._record_bytes > MAX_LEVELDB_RECORD_BYTES:
            self._record_parts.clear()
            self._orphan_offset = None if last else offset
            yield Problem(
                self._record_start,
                f"a record of more than {MAX_LEVELDB_RECORD_BYTES:,} bytes is passed over",
            )
        elif last:
            whole = b"".join(self._record_parts)
            self._record_parts.clear()
            yield LevelDbRecord(self._record_start, whole)
