"""Files in LevelDB's framing, as W&B and SwanLab write them, with correct checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from ppo_top.parsers.shared.stores.leveldb import (
    FIRST_PART,
    FULL_PART,
    LAST_PART,
    LEVELDB_BLOCK_BYTES,
    MIDDLE_PART,
    PART_HEADER_BYTES,
)


def leveldb_part(kind: int, data: bytes) -> bytes:
    """One part with its checksum."""
    return struct.pack("<IHB", zlib.crc32(bytes([kind]) + data), len(data), kind) + data


def leveldb_file(ident: bytes, records: Iterable[bytes]) -> bytes:
    """A file that begins with `ident` and holds the records, cut at the blocks."""
    file = bytearray(ident)
    for record in records:
        first, rest = True, record
        while first or rest:
            left = LEVELDB_BLOCK_BYTES - len(file) % LEVELDB_BLOCK_BYTES
            if left < PART_HEADER_BYTES:
                file += bytes(left)
                left = LEVELDB_BLOCK_BYTES
            part, rest = rest[: left - PART_HEADER_BYTES], rest[left - PART_HEADER_BYTES :]
            file += leveldb_part(
                (FIRST_PART if rest else FULL_PART)
                if first
                else (MIDDLE_PART if rest else LAST_PART),
                part,
            )
            first = False
    return bytes(file)
