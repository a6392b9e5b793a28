"""LevelDB's log framing as W&B and SwanLab write it: checksummed parts in blocks of 32 KiB.

A part is `u32 crc | u16 length | u8 kind | data`, little-endian; the checksum is zlib's CRC-32 over
kind and data (LevelDB itself uses CRC-32C). A file starts with a seven-byte identifier, which is
part of the first block. A rest of fewer than seven bytes at the end of a block is zeros.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from enum import Enum

from ppo_top.model import Problem
from ppo_top.model.named_tuple import NamedTuple

LEVELDB_BLOCK_BYTES = 32768
PART_HEADER_BYTES = 7
MAX_LEVELDB_RECORD_BYTES = 32 << 20
"""Longer records are skipped, to bound memory."""

FULL_PART, FIRST_PART, MIDDLE_PART, LAST_PART = 1, 2, 3, 4
_PART_HEADER = struct.Struct("<IHB")
_KIND_CHECKSUMS = [zlib.crc32(bytes([kind])) for kind in range(LAST_PART + 1)]
_SEARCH_BYTES = 8 << 20
"""Bytes checksummed at most in search of the next part of a damaged block, which may be crafted so
that a part seems to begin everywhere."""


class LevelDbRecord(NamedTuple):
    """A whole record, and the file offset of its first part."""

    offset: int
    data: bytes


class _PartState(Enum):
    """What was found at a position."""

    PART = 0
    SHORT = 1
    DAMAGE = 2


class LevelDbReader:
    """Collects the bytes of one file; yields its records and what could not be read."""

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
        """What is complete after the next bytes, in file order."""
        self._data += data
        return self._read_parts(final=False) if len(self._data) >= self._bytes_needed else iter(())

    def finish(self) -> Iterator[LevelDbRecord | Problem]:
        """What remains when no more bytes will follow, including a truncated record."""
        self._bytes_needed = 0
        yield from self._read_parts(final=True)
        left = len(self._data)
        if self._record_parts or left:
            start = self._record_start if self._record_parts else self._offset
            size = self._offset + left - start
            yield Problem(start, f"last record truncated ({size:,} bytes)")

    def _read_parts(self, final: bool) -> Iterator[LevelDbRecord | Problem]:
        position = 0
        if self._offset == 0:
            if len(self._data) < PART_HEADER_BYTES:
                return
            if not self._data.startswith(self._ident):
                yield Problem(0, "unexpected file header")
            position = PART_HEADER_BYTES
        data = bytes(self._data)
        base = self._offset
        while True:
            found, end = self._inspect(data, base, position)
            if found is _PartState.PART:
                yield from self._add_part(data, base, position)
                position = end
                continue
            if found is _PartState.DAMAGE:
                after = self._find_next_part(data, base, position, final)
                if after is not None:
                    yield from self._skip_damage(base + position, base + after)
                    position = after
                    continue
            elif end > position:  # padding
                position = end
                continue
            break
        del self._data[:position]
        self._offset += position

    def _inspect(self, data: bytes, base: int, position: int) -> tuple[_PartState, int]:
        """What begins at a position, and where it ends; `_add_part` needs the part's kind.

        Padding ends after `position`; what has not arrived completely ends at it.
        """
        left = LEVELDB_BLOCK_BYTES - (base + position) % LEVELDB_BLOCK_BYTES
        here = len(data) - position
        self._bytes_needed = min(left, PART_HEADER_BYTES)
        if here < self._bytes_needed:
            return _PartState.SHORT, position
        if left < PART_HEADER_BYTES:
            return _PartState.SHORT, position + left
        crc, length, kind = _PART_HEADER.unpack_from(data, position)
        if not FULL_PART <= kind <= LAST_PART or length > left - PART_HEADER_BYTES:
            return _PartState.DAMAGE, position
        self._bytes_needed = PART_HEADER_BYTES + length
        if here < self._bytes_needed:
            return _PartState.SHORT, position
        end = position + PART_HEADER_BYTES + length
        if zlib.crc32(data[position + PART_HEADER_BYTES : end], _KIND_CHECKSUMS[kind]) != crc:
            return _PartState.DAMAGE, position
        self._part = kind, end
        return _PartState.PART, end

    def _find_next_part(self, data: bytes, base: int, position: int, final: bool) -> int | None:
        """Where the next part or block begins; None if the block is not complete."""
        end = position + LEVELDB_BLOCK_BYTES - (base + position) % LEVELDB_BLOCK_BYTES
        self._bytes_needed = end - position
        if end > len(data) and not final:
            return None
        budget = _SEARCH_BYTES
        for start in range(position + 1, min(end, len(data)) - PART_HEADER_BYTES + 1):
            if not FULL_PART <= data[start + 6] <= LAST_PART:
                continue
            budget -= data[start + 4] | data[start + 5] << 8
            if budget < 0:
                break
            if self._inspect(data, base, start)[0] is _PartState.PART:
                return start
        return min(end, len(data))

    def _skip_damage(self, start: int, end: int) -> Iterator[Problem]:
        """Skip bytes; the record that they cut in two is lost with them."""
        if self._record_parts:
            self._record_parts.clear()
            yield Problem(self._record_start, "damaged record skipped")
        self._orphan_offset = None
        yield Problem(start, f"{end - start:,} damaged bytes skipped")

    def _add_part(self, data: bytes, base: int, position: int) -> Iterator[LevelDbRecord | Problem]:
        """One good part: a whole record or part of one."""
        kind, end = self._part
        part = data[position + PART_HEADER_BYTES : end]
        if kind in (FULL_PART, FIRST_PART):
            if self._record_parts:
                self._record_parts.clear()
                yield Problem(self._record_start, "record without an end skipped")
            self._orphan_offset = None
            if kind == FULL_PART:
                yield LevelDbRecord(base + position, part)
                return
            self._record_parts, self._record_start = [part], base + position
            self._record_bytes = len(part)
            return
        yield from self._continue_record(part, base + position, kind == LAST_PART)

    def _continue_record(
        self, part: bytes, offset: int, last: bool
    ) -> Iterator[LevelDbRecord | Problem]:
        if not self._record_parts:
            if self._orphan_offset is None:
                yield Problem(offset, "record without a beginning skipped")
            self._orphan_offset = None if last else offset
            return
        self._record_parts.append(part)
        self._record_bytes += len(part)
        if self._record_bytes > MAX_LEVELDB_RECORD_BYTES:
            self._record_parts.clear()
            self._orphan_offset = None if last else offset
            what = f"record of more than {MAX_LEVELDB_RECORD_BYTES:,} bytes skipped"
            yield Problem(self._record_start, what)
        elif last:
            whole = b"".join(self._record_parts)
            self._record_parts.clear()
            yield LevelDbRecord(self._record_start, whole)
