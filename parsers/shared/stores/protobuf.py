"""The wire format of protocol buffers: the fields of a message and their byte ranges.

With the position of each field, messages that differ only in some numbers can be read as columns.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ppo_top.model.named_tuple import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_unpack_double = struct.Struct("<d").unpack_from
_unpack_float = struct.Struct("<f").unpack_from
_SIGN_BIT = 1 << 63


class MalformedMessage(ValueError):
    """The bytes are not a protocol buffer."""


class ProtobufField(NamedTuple):
    """One field: its number, its wire type and the byte range of its content.

    `integer` is the unsigned value of a varint, and 0 for other wire types.
    """

    number: int
    wire_type: int
    start: int
    stop: int
    integer: int = 0


def fields(data: bytes, start: int, stop: int) -> Iterator[ProtobufField]:
    """The fields of the message in `data[start:stop]`, in file order; raises `MalformedMessage`."""
    while start < stop:
        key, start = varint(data, start, stop)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, end = varint(data, start, stop)
            yield ProtobufField(number, wire, start, end, value)
        else:
            start, end = _content_range(data, start, stop, wire)
            yield ProtobufField(number, wire, start, end)
        start = end


def messages(data: bytes, outer: ProtobufField, number: int) -> Iterator[ProtobufField]:
    """The messages (or bytes) in the fields of a message that have this number."""
    for each in fields(data, outer.start, outer.stop):
        if each.number == number and each.wire_type == BYTES:
            yield each


def _content_range(data: bytes, start: int, stop: int, wire: int) -> tuple[int, int]:
    if wire == BYTES:
        size, start = varint(data, start, stop)
    elif wire == FIXED64:
        size = 8
    elif wire == FIXED32:
        size = 4
    else:
        raise MalformedMessage(f"wire type {wire}")
    if start + size > stop:
        raise MalformedMessage("field extends past its message")
    return start, start + size


def varint(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """The number at `start` (below 2**64) and the position after it."""
    value = shift = 0
    while start < stop and shift < 70:
        byte = data[start]
        value |= (byte & 127) << shift
        start += 1
        if byte < 128:
            return value & (1 << 64) - 1, start
        shift += 7
    raise MalformedMessage("unterminated varint")


def signed(value: int) -> int:
    """An unsigned varint read as int64."""
    return value - 2 * _SIGN_BIT if value & _SIGN_BIT else value


def double(data: bytes, field: ProtobufField) -> float:
    """A field that holds a double."""
    if field.wire_type != FIXED64:
        raise MalformedMessage("double of the wrong size")
    number: float = _unpack_double(data, field.start)[0]
    return number


def single(data: bytes, field: ProtobufField) -> float:
    """A field that holds a float."""
    if field.wire_type != FIXED32:
        raise MalformedMessage("float of the wrong size")
    number: float = _unpack_float(data, field.start)[0]
    return number


def text(data: bytes, field: ProtobufField) -> str:
    """A field that holds text; invalid UTF-8 stays visible as escapes."""
    if field.wire_type != BYTES:
        raise MalformedMessage("string of the wrong wire type")
    return data[field.start : field.stop].decode(errors="backslashreplace")


def numbers(data: bytes, field: ProtobufField, code: str) -> list[float]:
    """A repeated float ("f") or double ("d") field, packed or a single element."""
    size = field.stop - field.start
    width = struct.calcsize(f"<{code}")
    if field.wire_type == VARINT or size % width:
        raise MalformedMessage("list of numbers of the wrong size")
    return list(struct.unpack_from(f"<{size // width}{code}", data, field.start))


def integers(data: bytes, field: ProtobufField) -> list[int]:
    """A repeated integer field, packed or a single element, unsigned."""
    if field.wire_type == VARINT:
        return [field.integer]
    if field.wire_type != BYTES:
        raise MalformedMessage("integers of the wrong wire type")
    found = []
    start = field.start
    while start < field.stop:
        value, start = varint(data, start, field.stop)
        found.append(value)
    return found
