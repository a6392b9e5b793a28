"""CRC-32C (Castagnoli) as TFRecord files use it, in the standard library alone.

A checksum is linear: what one byte adds to it depends on the byte and on its distance from the end,
and on nothing else. Everything fast here follows from that: of many records that differ in a few
bytes only those bytes are looked up, and the looking up goes column by column over all of them.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from functools import cache

_POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8
_WORD = 0xFFFFFFFF
_LONG = 2048
"""From here on a message is folded in rows: some seven times as fast."""


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_remainder(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """The checksum of `data`."""
    if len(data) >= _LONG:
        return _fold(data) ^ _WORD
    return _advance(_WORD, data) ^ _WORD


def masked(checksum: int) -> int:
    """The form in which a TFRecord stores a checksum."""
    return ((checksum >> 15 | checksum << 17) + MASK_DELTA) & _WORD


def unmasked(stored: int) -> int:
    """The checksum behind its stored form."""
    turned = (stored - MASK_DELTA) & _WORD
    return (turned << 15 | turned >> 17) & _WORD


def intact(data: bytes, stored: int) -> bool:
    """Whether the stored checksum is that of `data`."""
    return masked(crc32c(data)) == stored


@cache
def shares(distance: int) -> tuple[int, ...]:
    """What each byte value adds to the checksum, `distance` bytes before the end of a message."""
    if distance == 0:
        return _TABLE
    return tuple(share >> 8 ^ _TABLE[share & 255] for share in shares(distance - 1))


def column_sums(columns: Iterable[tuple[int, bytes]], count: int) -> array[int]:
    """The sum (exclusive or) of the shares of some bytes, for `count` messages at once.

    `columns` holds pairs of a distance from the end and the bytes that stand there, one a message.
    """
    planes = [0, 0, 0, 0]
    for distance, column in columns:
        for plane, table in enumerate(_planes(distance)):
            planes[plane] ^= int.from_bytes(column.translate(table), "little")
    woven = bytearray(4 * count)
    for plane, number in enumerate(planes):
        woven[plane::4] = number.to_bytes(count, "little")
    sums = array("I", bytes(woven))
    if sys.byteorder == "big":
        sums.byteswap()
    return sums


@cache
def _planes(distance: int) -> tuple[bytes, ...]:
    """`shares` taken apart into four tables of one byte each, for `bytes.translate`."""
    return tuple(
        bytes(share >> shift & 255 for share in shares(distance)) for shift in (0, 8, 16, 24)
    )


def _advance(state: int, data: bytes) -> int:
    for byte in data:
        state = state >> 8 ^ _TABLE[(state ^ byte) & 255]
    return state


def _fold(data: bytes) -> int:
    """The checksum's state after `data`: rows of equal length side by side, then one after another.

    Each of the four bytes of a row's state is kept in a plane: one long integer for all rows.
    """
    width = 1 << (len(data).bit_length() // 2 - 1)
    rows = len(data) // width
    start = len(data) - rows * width
    planes = [0, 0, 0, 0]
    tables = _planes(0)
    for column in range(start, start + width):
        entering = int.from_bytes(data[column::width], "little")
        index = (planes[0] ^ entering).to_bytes(rows, "little")
        found = [int.from_bytes(index.translate(table), "little") for table in tables]
        planes = [found[0] ^ planes[1], found[1] ^ planes[2], found[2] ^ planes[3], found[3]]
    state = _advance(_WORD, data[:start])
    leap = _leap(width)
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
def _leap(width: int) -> tuple[tuple[int, ...], ...]:
    """Tables that carry each byte of a state over `width` zero bytes."""
    zeros = bytes(width)
    bits = [_advance(1 << bit, zeros) for bit in range(32)]
    tables = []
    for byte in range(4):
        table = [0] * 256
        for value in range(1, 256):
            low = value & -value
            table[value] = table[value ^ low] ^ bits[8 * byte + low.bit_length() - 1]
        tables.append(tuple(table))
    return tuple(tables)
