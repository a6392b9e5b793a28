"""Decodes any TensorBoard event without the protobuf library.

Field numbers are those of TensorFlow's `event.proto`, `summary.proto` and `tensor.proto`. What is
not charted (graphs, images, audio, log messages) is skipped.
"""

from __future__ import annotations

import struct
from math import prod

from ppo_top.model import Histogram
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.stores.protobuf import (
    BYTES,
    FIXED32,
    VARINT,
    MalformedMessage,
    ProtobufField,
    double,
    fields,
    integers,
    messages,
    numbers,
    signed,
    single,
    text,
)

MAX_ELEMENTS_BYTES = 1 << 20
"""Longer lists of numbers and texts are skipped."""
_HISTOGRAMS = "histograms"
_MAX_HISTOGRAM_TAGS = 10_000
_STRING_TYPE = 7
_BFLOAT16_TYPE = 14
_STRUCT_CODES = {
    1: "f",
    2: "d",
    3: "i",
    4: "B",
    5: "h",
    6: "b",
    9: "q",
    10: "?",
    14: "H",
    17: "H",
    19: "e",
    22: "I",
    23: "Q",
}
"""TensorFlow's data type -> struct code of one element in `tensor_content`."""


class NumberLocation(NamedTuple):
    """Position of a number's bytes, and their struct code."""

    start: int
    code: str


class SummaryValue(NamedTuple):
    """One value of a summary: a number, histogram, texts or content, or none of them.

    `content` is what plugins without values (hparams) keep in the metadata.
    """

    tag: str
    plugin: str = ""
    number: float | None = None
    location: NumberLocation | None = None
    histogram: Histogram | None = None
    texts: tuple[str, ...] = ()
    content: bytes = b""


class Event:
    """An event, with the byte positions of time and step if they are written."""

    def __init__(self) -> None:
        self.time = 0.0
        self.step = 0
        self.version = ""
        self.values: list[SummaryValue] = []
        self.time_start: int | None = None
        self.step_range: tuple[int, int] | None = None


class Tensor(NamedTuple):
    """A tensor's shape and its elements: floats, or texts of a string tensor."""

    shape: tuple[int, ...]
    elements: list[float]
    texts: tuple[str, ...]
    location: NumberLocation | None


def decode_event(data: bytes, start: int, stop: int, histogram_tags: set[str]) -> Event:
    """The event in `data[start:stop]`; raises `MalformedMessage`.

    `histogram_tags` collects the tags whose tensors are histograms: some writers say so only in the
    first event.
    """
    event = Event()
    for each in fields(data, start, stop):
        if each.number == 1:
            event.time, event.time_start = double(data, each), each.start
        elif each.number == 2 and each.wire_type == VARINT:
            event.step, event.step_range = signed(each.integer), (each.start, each.stop)
        elif each.number == 3:
            event.version = text(data, each)
        elif each.number == 5 and each.wire_type == BYTES:
            for value in fields(data, each.start, each.stop):
                if value.number == 1 and value.wire_type == BYTES:
                    event.values.append(_value(data, value, histogram_tags))
    return event


def _value(data: bytes, value: ProtobufField, rows: set[str]) -> SummaryValue:
    found = {each.number: each for each in fields(data, value.start, value.stop)}
    tag = text(data, found[1]) if 1 in found else ""
    plugin, content = _plugin(data, found[9]) if 9 in found else ("", b"")
    if plugin == _HISTOGRAMS and len(rows) < _MAX_HISTOGRAM_TAGS:
        rows.add(tag)
    if 2 in found:
        place = NumberLocation(found[2].start, "f") if found[2].wire_type == FIXED32 else None
        return SummaryValue(tag, plugin, single(data, found[2]), place)
    if 5 in found:
        return SummaryValue(tag, plugin, histogram=_histogram(data, found[5]))
    if 8 in found:
        plugin = plugin or (_HISTOGRAMS if tag in rows else "")
        return _tensor_value(tag, plugin, _tensor(data, found[8]))
    return SummaryValue(tag, plugin, content=content)


def _tensor_value(tag: str, plugin: str, tensor: Tensor) -> SummaryValue:
    if tensor.texts:
        return SummaryValue(tag, plugin, texts=tensor.texts)
    if plugin == _HISTOGRAMS and tensor.shape[1:] == (3,):
        return SummaryValue(tag, plugin, histogram=Histogram.from_rows(tensor.elements))
    if prod(tensor.shape) == 1 and len(tensor.elements) == 1:
        return SummaryValue(tag, plugin, tensor.elements[0], tensor.location)
    return SummaryValue(tag, plugin)


def _plugin(data: bytes, metadata: ProtobufField) -> tuple[str, bytes]:
    """The plugin's name and its own data."""
    name, content = "", b""
    for each in messages(data, metadata, 1):
        for inner in fields(data, each.start, each.stop):
            if inner.number == 1:
                name = text(data, inner)
            elif inner.number == 2:
                content = data[inner.start : inner.stop]
    return name, content


def _histogram(data: bytes, histogram: ProtobufField) -> Histogram:
    if histogram.wire_type != BYTES:
        raise MalformedMessage("histogram of the wrong wire type")
    low = high = 0.0
    limits: list[float] = []
    counts: list[float] = []
    for each in fields(data, histogram.start, histogram.stop):
        if each.number == 1:
            low = double(data, each)
        elif each.number == 2:
            high = double(data, each)
        elif not _readable(each):
            raise MalformedMessage("histogram with too many buckets")
        elif each.number == 6:
            limits += numbers(data, each, "d")
        elif each.number == 7:
            counts += numbers(data, each, "d")
    return Histogram(low, high, limits, counts)


def _tensor(data: bytes, tensor: ProtobufField) -> Tensor:
    if tensor.wire_type != BYTES:
        raise MalformedMessage("tensor of the wrong wire type")
    found = [each for each in fields(data, tensor.start, tensor.stop) if _readable(each)]
    kind = next((each.integer for each in found if each.number == 1), 0)
    shape: list[int] = []
    elements: list[float] = []
    place = None
    for each in found:
        if each.number == 2 and each.wire_type == BYTES:
            shape = _shape(data, each)
        elif each.number == 4 and kind in _STRUCT_CODES:
            elements, place = _content(data, each, kind)
        elif each.number in _LIST_READERS:
            elements += _LIST_READERS[each.number](data, each, kind)
            place = _list_location(each)
    texts = [text(data, each) for each in found if each.number == 8 and kind == _STRING_TYPE]
    return Tensor(tuple(shape), elements, tuple(texts), place)


def _readable(part: ProtobufField) -> bool:
    """Meshes and images are tensors too: millions of numbers that nobody charts."""
    return part.stop - part.start <= MAX_ELEMENTS_BYTES


def _shape(data: bytes, shape: ProtobufField) -> list[int]:
    sizes = []
    for each in messages(data, shape, 2):
        inner = fields(data, each.start, each.stop)
        sizes.append(next((part.integer for part in inner if part.number == 1), 0))
    return sizes


def _content(
    data: bytes, content: ProtobufField, kind: int
) -> tuple[list[float], NumberLocation | None]:
    """Elements packed as in memory, and the position of the first."""
    size = content.stop - content.start
    code = _STRUCT_CODES[kind]
    width = struct.calcsize(f"<{code}")
    if content.wire_type != BYTES or size % width:
        raise MalformedMessage("tensor content of the wrong size")
    found = struct.unpack_from(f"<{size // width}{code}", data, content.start)
    if kind == _BFLOAT16_TYPE:
        return [_bfloat16(bits) for bits in found], None
    place = NumberLocation(content.start, code) if code in "fd" else None
    return [float(each) for each in found], place


def _list_location(elements: ProtobufField) -> NumberLocation | None:
    """Position of the only float or double of a list."""
    code = {5: "f", 6: "d"}.get(elements.number)
    if code and elements.stop - elements.start == struct.calcsize(f"<{code}"):
        return NumberLocation(elements.start, code)
    return None


def _floats(data: bytes, elements: ProtobufField, kind: int) -> list[float]:
    return numbers(data, elements, "f" if elements.number == 5 else "d")


def _signed(data: bytes, elements: ProtobufField, kind: int) -> list[float]:
    return [float(signed(each)) for each in integers(data, elements)]


def _unsigned(data: bytes, elements: ProtobufField, kind: int) -> list[float]:
    return [float(each) for each in integers(data, elements)]


def _halves(data: bytes, elements: ProtobufField, kind: int) -> list[float]:
    convert = _bfloat16 if kind == _BFLOAT16_TYPE else _half
    return [convert(each & 0xFFFF) for each in integers(data, elements)]


_LIST_READERS = {
    5: _floats,
    6: _floats,
    7: _signed,
    10: _signed,
    11: _unsigned,
    13: _halves,
    16: _unsigned,
    17: _unsigned,
}
"""Field number of `float_val`, `double_val`, `int_val` ... -> reader of its elements."""


def _half(bits: int) -> float:
    number: float = struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    return number


def _bfloat16(bits: int) -> float:
    number: float = struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0]
    return number
