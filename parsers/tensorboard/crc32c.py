"""CRC-32C (Castagnoli) as TFRecord files use it, in the standard library alone.

A checksum is linear: what one byte adds to it depends on the byte and on its distance from the end,
and on nothing else. Everything fast here follows from that: of many records that differ in a few
bytes only those bytes are looked up, and the looking up goes column by column over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

_POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8
_UINT32_MASK = 0xFFFFFFFF
_MIN_BYTES_FOR_ROWS = 2048
"""From here on a message is folded in rows: some seven times as fast."""


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_remainder(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """The checksum of `data`."""
    if len(data) >= _MIN_BYTES_FOR_ROWS:
        return _advance_in_rows(data) ^ _UINT32_MASK
    return _advance(_UINT32_MASK, data) ^ _UINT32_MASK


def masked(checksum: int) -> int:
    """The form in which a TFRecord stores a checksum."""
    return ((checksum >> 15 | checksum << 17) + MASK_DELTA) & _UINT32_MASK


def is_intact(data: bytes, stored: int) -> bool:
    """Whether the stored checksum is that of `data`."""
    return masked(crc32c(data)) == stored


@cache
def byte_contributions(distance: int) -> tuple[int, ...]:
    """What each byte value adds to the checksum, `distance` bytes before the end of a message."""
    zeros = bytes(distance)
    return _combine_bits([_advance(_TABLE[1 << bit], zeros) for bit in range(8)])


def are_all_intact(columns: Sequence[bytes], changing: Iterable[int], fixed: int) -> bool:
    """Whether the checksums of many messages of one length are right.

    `columns` holds the bytes of each place of the message, one a message, and behind them those of
    the stored checksum. The messages differ in the places `changing` only, and `fixed` is their
    checksum with zeros there.
    """
    count, length = len(columns[0]), len(columns) - 4
    planes = [
        int.from_bytes(bytes([byte]) * count, "little") for byte in fixed.to_bytes(4, "little")
    ]
    for place in changing:
        for plane, table in enumerate(_contribution_planes(length - 1 - place)):
            planes[plane] ^= int.from_bytes(columns[place].translate(table), "little")
    words = _join_words([plane.to_bytes(count, "little") for plane in planes])
    lower = int.from_bytes((b"\xff" * 4 + bytes(4)) * count, "little")
    turned = (words >> 15 & lower) | (words << 17 & lower)
    delta = int.from_bytes(MASK_DELTA.to_bytes(8, "little") * count, "little")
    return turned + delta & lower == _join_words(columns[length:])


def _join_words(planes: Sequence[bytes]) -> int:
    """Words from their bytes, lowest first, as one integer with 64 bits for each."""
    woven = bytearray(8 * len(planes[0]))
    for place, plane in enumerate(planes):
        woven[place::8] = plane
    return int.from_bytes(woven, "little")


@cache
def _contribution_planes(distance: int) -> tuple[bytes, ...]:
    """`byte_contributions` taken apart into four tables of one byte each, for `bytes.translate`."""
    return tuple(
        bytes(share >> shift & 255 for share in byte_contributions(distance))
        for shift in (0, 8, 16, 24)
    )


def _advance(state: int, data: bytes) -> int:
    for byte in data:
        state = state >> 8 ^ _TABLE[(state ^ byte) & 255]
    return state


def _advance_in_rows(data: bytes) -> int:
    """The checksum's state after `data`: rows of equal length side by side, then one after another.

    Each of the four bytes of a row's state is kept in a plane: one long integer for all rows.
    """
    width = 1 << (len(data).bit_length() // 2 - 1)
    rows = len(data) // width
    start = len(data) - rows * width
    planes = [0, 0, 0, 0]
    tables = _contribution_planes(0)
    for column in range(start, start + width):
        entering = int.from_bytes(data[column::width], "little")
        index = (planes[0] ^ entering).to_bytes(rows, "little")
        found = [int.from_bytes(index.translate(table), "little") for table in tables]
        planes = [found[0] ^ planes[1], found[1] ^ planes[2], found[2] ^ planes[3], found[3]]
    state = _advance(_UINT32_MASK, data[:start])
    leap = _zero_skip_tables(width)
    states = zip(*(plane.to_bytes(rows, "little") for plane in planes), strict=True)
    for low, second, third, high in states:
        state = (
            leap[0][state & 255]
            ^ leap[1][state >> 8 & 255]
            ^ leap[2][state >> 16 & 255]
            ^ leap[3][state >> 24]
            ^ (low | second << 8 | third << 16 | high << 24)
        )
    return state


@cache
def _zero_skip_tables(width: int) -> tuple[tuple[int, ...], ...]:
    """Tables that carry each byte of a state over `width` zero bytes."""
    zeros = bytes(width)
    bits = [_advance(1 << bit, zeros) for bit in range(32)]
    return tuple(_combine_bits(bits[start : start + 8]) for start in range(0, 32, 8))


def _combine_bits(bits: Sequence[int]) -> tuple[int, ...]:
    """For each byte value the sum of what its eight bits give."""
    table = [0]
    for bit in bits:
        table += [bit ^ each for each in table]
    return tuple(table)
