"""The wire format of protocol buffers: fields of a message and where their bytes stand.

Knowing the place of a field, not only its value, lets equal messages be read as columns later.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_DOUBLE = struct.Struct("<d").unpack_from
_FLOAT = struct.Struct("<f").unpack_from
_SIGN = 1 << 63


class Malformed(ValueError):
    """The bytes are not a protocol buffer."""


class Field(NamedTuple):
    """One field: its number, how it is written, and the range of its content in the bytes.

    `integer` is the value of a varint, unsigned, and 0 for the other kinds.
    """

    number: int
    wire: int
    start: int
    stop: int
    integer: int = 0


def fields(data: bytes, start: int, stop: int) -> Iterator[Field]:
    """The fields of the message in `data[start:stop]`, in file order; raises `Malformed`."""
    while start < stop:
        key, start = varint(data, start, stop)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, end = varint(data, start, stop)
            yield Field(number, wire, start, end, value)
        else:
            start, end = _extent(data, start, stop, wire)
            yield Field(number, wire, start, end)
        start = end


def _extent(data: bytes, start: int, stop: int, wire: int) -> tuple[int, int]:
    if wire == BYTES:
        size, start = varint(data, start, stop)
    elif wire == FIXED64:
        size = 8
    elif wire == FIXED32:
        size = 4
    else:
        raise Malformed(f"wire type {wire}")
    if start + size > stop:
        raise Malformed("a field ends behind its message")
    return start, start + size


def varint(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """The number at `start` (below 2**64) and the place behind it."""
    value = shift = 0
    while start < stop and shift < 70:
        byte = data[start]
        value |= (byte & 127) << shift
        start += 1
        if byte < 128:
            return value & (1 << 64) - 1, start
        shift += 7
    raise Malformed("a number has no end")


def signed(value: int) -> int:
    """An unsigned varint read as int64."""
    return value - 2 * _SIGN if value & _SIGN else value


def double(data: bytes, field: Field) -> float:
    """A field that holds a double."""
    if field.wire != FIXED64:
        raise Malformed("a double of another size")
    number: float = _DOUBLE(data, field.start)[0]
    return number


def single(data: bytes, field: Field) -> float:
    """A field that holds a float."""
    if field.wire != FIXED32:
        raise Malformed("a float of another size")
    number: float = _FLOAT(data, field.start)[0]
    return number


def text(data: bytes, field: Field) -> str:
    """A field that holds text; bytes that are no UTF-8 stay visible as escapes."""
    if field.wire != BYTES:
        raise Malformed("text of another kind")
    return data[field.start : field.stop].decode(errors="backslashreplace")


def numbers(data: bytes, field: Field, code: str) -> list[float]:
    """A repeated float ("f") or double ("d") field, packed or a single element."""
    size = field.stop - field.start
    width = struct.calcsize(f"<{code}")
    if field.wire == VARINT or size % width:
        raise Malformed("an odd number of bytes in a list of numbers")
    return list(struct.unpack_from(f"<{size // width}{code}", data, field.start))


def integers(data: bytes, field: Field) -> list[int]:
    """A repeated integer field, packed or a single element, unsigned."""
    if field.wire == VARINT:
        return [field.integer]
    if field.wire != BYTES:
        raise Malformed("integers of another kind")
    found = []
    start = field.start
    while start < field.stop:
        value, start = varint(data, start, field.stop)
        found.append(value)
    return found
