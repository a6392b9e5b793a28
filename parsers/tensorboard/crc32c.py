"""CRC-32C (Castagnoli) as TFRecord files use it, by google-crc32c where it is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

_POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8
_UINT32_MASK = 0xFFFFFFFF


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_table_entry, range(256)))


def _update(state: int, data: bytes) -> int:
    for byte in data:
        state = state >> 8 ^ _TABLE[(state ^ byte) & 255]
    return state


def crc32c_by_table(data: bytes) -> int:
    """The checksum of `data` in pure Python, about 10 MB/s."""
    return _update(_UINT32_MASK, data) ^ _UINT32_MASK


def _fastest_crc32c() -> Callable[[bytes], int]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns when built without its C extension
            import google_crc32c
    except ImportError:
        return crc32c_by_table
    compiled: Callable[[bytes], int] = google_crc32c.value
    return compiled if google_crc32c.implementation == "c" else crc32c_by_table


crc32c = _fastest_crc32c()
"""The checksum of some bytes."""


def masked(checksum: int) -> int:
    """The form in which a TFRecord stores a checksum."""
    return ((checksum >> 15 | checksum << 17) + MASK_DELTA) & _UINT32_MASK


def is_intact(data: bytes, stored: int) -> bool:
    """Whether the stored checksum is that of `data`."""
    return masked(crc32c(data)) == stored


@cache
def byte_contributions(distance: int) -> tuple[int, ...]:
    """What each byte value adds (by XOR) to the checksum, `distance` bytes before the end.

    CRCs are linear, so records that differ in a few bytes need only those bytes looked up.
    """
    zeros = bytes(distance)
    table = [0]
    for bit in range(8):
        contribution = _update(_TABLE[1 << bit], zeros)
        table += [contribution ^ each for each in table]
    return tuple(table)
