"""Files in LevelDB's framing, as W&B and SwanLab write them, with right checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from ppo_top.parsers.shared.leveldb import BLOCK, FIRST, FULL, HEADER, LAST, MIDDLE


def part(kind: int, data: bytes) -> bytes:
    """One part with its checksum."""
    return struct.pack("<IHB", zlib.crc32(bytes([kind]) + data), len(data), kind) + data


def logged(ident: bytes, records: Iterable[bytes]) -> bytes:
    """A file that begins with `ident` and holds the records, cut at the blocks."""
    file = bytearray(ident)
    for record in records:
        first, rest = True, record
        while first or rest:
            left = BLOCK - len(file) % BLOCK
            if left < HEADER:
                file += bytes(left)
                left = BLOCK
            piece, rest = rest[: left - HEADER], rest[left - HEADER :]
            file += part((FIRST if rest else FULL) if first else (MIDDLE if rest else LAST), piece)
            first = False
    return bytes(file)
