"""Scalar events that differ only in time, step and value: their common bytes, decoded once.

A writer's scalars of one tag are equal byte for byte except for a double (the time), a varint (the
step) and a float or double (the value). An `EventLayout` says where these are; an `EventTemplate`
is a layout with the bytes around them, which hold the tag.
"""

from __future__ import annotations

import struct
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.tensorboard.crc32c import crc32c
from ppo_top.parsers.tensorboard.event import Event

MAX_TEMPLATE_PAYLOAD_BYTES = 1000
"""Longer payloads are decoded one by one: they hold few scalars."""
_MAX_EVENT_TEMPLATES = 8192
_MAX_STEP_BYTES = 9
"""A varint of ten bytes is a negative step."""


EventPoint = tuple[str, int, float, float]
"""Tag, step, time and value."""


class ByteRange(NamedTuple):
    """A range of bytes in a payload."""

    start: int
    stop: int


class EventLayout(NamedTuple):
    """Where the changing bytes of a payload of `length` bytes are.

    `code` is the value's struct code, "f" or "d"; `step_size` is 0 at step 0, which is not written.
    """

    length: int
    time: int
    step: int
    step_size: int
    value: int
    code: str

    @property
    def changing_ranges(self) -> tuple[ByteRange, ByteRange, ByteRange]:
        """The bytes of time, step and value."""
        value_size = struct.calcsize(f"<{self.code}")
        sizes = (self.time, 8), (self.step, self.step_size), (self.value, value_size)
        time, step, value = (ByteRange(start, start + size) for start, size in sizes)
        return time, step, value

    @property
    def fixed_ranges(self) -> tuple[ByteRange, ...]:
        """All other bytes."""
        fields = sorted(field for field in self.changing_ranges if field.start < field.stop)
        edges = [0, *(edge for field in fields for edge in field), self.length]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return tuple(ByteRange(start, stop) for start, stop in pairs if start < stop)


class EventTemplate:
    """A layout, the tag, and a payload with zeros for the changing bytes."""

    def __init__(self, layout: EventLayout, tag: str, fixed_bytes: bytes) -> None:
        self.layout = layout
        self.tag = tag
        self.fixed_bytes = fixed_bytes

    @cached_property
    def changing_ranges(self) -> tuple[ByteRange, ByteRange, ByteRange]:
        """The bytes of time, step and value."""
        return self.layout.changing_ranges

    @cached_property
    def fixed_words(self) -> list[tuple[int, int, int]]:
        """All other bytes as words: where each is, of how many bytes (8, 4, 2 or 1), and it."""
        words = []
        for start, stop in self.layout.fixed_ranges:
            size = next(each for each in (8, 4, 2, 1) if each <= stop - start)
            for place in range(start, stop, size):
                place = min(place, stop - size)  # the last one may overlap the one before
                word = int.from_bytes(self.fixed_bytes[place : place + size], "little")
                words.append((place, size, word))
        return words

    @cached_property
    def checksum(self) -> int:
        """The checksum of `fixed_bytes`."""
        return crc32c(self.fixed_bytes)


class _LayoutReader:
    """Unpacks payloads of one layout and knows their templates by the fixed bytes."""

    def __init__(self, layout: EventLayout) -> None:
        self.layout = layout
        codes = zip(layout.changing_ranges, ("d", f"{layout.step_size}s", layout.code), strict=True)
        code_by_range = dict(codes)
        ranges = sorted({*layout.fixed_ranges, *layout.changing_ranges})
        self.unpack = struct.Struct(
            "<" + "".join(code_by_range.get(each, f"{each.stop - each.start}s") for each in ranges)
        ).unpack
        self.pick_numbers = itemgetter(*map(ranges.index, layout.changing_ranges))
        self.pick_fixed = itemgetter(*map(ranges.index, layout.fixed_ranges))
        self.templates: dict[Any, EventTemplate] = {}

    def add(self, payload: bytes, tag: str) -> None:
        """Learn the template of a payload."""
        blanked = bytearray(payload)
        for start, stop in self.layout.changing_ranges:
            blanked[start:stop] = bytes(stop - start)
        fixed = self.pick_fixed(self.unpack(payload))
        self.templates[fixed] = EventTemplate(self.layout, tag, bytes(blanked))


class TemplateCache:
    """The templates seen so far; a cache that never changes what is read."""

    def __init__(self) -> None:
        self._readers_by_length: dict[int, list[_LayoutReader]] = {}
        self._size = 0

    def read_point(self, payload: bytes) -> EventPoint | None:
        """The point in the payload of an intact record, if its template is known."""
        for reader in self._readers_by_length.get(len(payload), ()):
            fields = reader.unpack(payload)
            template = reader.templates.get(reader.pick_fixed(fields))
            if template is not None:
                time, step_bytes, value = reader.pick_numbers(fields)
                step = _parse_varint(step_bytes)
                if step is not None:
                    return template.tag, step, time, value
        return None

    def find(self, payload: bytes) -> EventTemplate | None:
        """The known template of a payload."""
        for reader in self._readers_by_length.get(len(payload), ()):
            template = reader.templates.get(reader.pick_fixed(reader.unpack(payload)))
            if template is not None:
                return template
        return None

    def learn(self, payload: bytes, event: Event) -> None:
        """Remember the template of a scalar event; other events have none."""
        layout = _event_layout(payload, event)
        if layout is None:
            return
        if self._size >= _MAX_EVENT_TEMPLATES:
            self._readers_by_length.clear()
            self._size = 0
        self._size += 1
        readers = self._readers_by_length.setdefault(layout.length, [])
        reader = next((each for each in readers if each.layout == layout), None)
        if reader is None:
            reader = _LayoutReader(layout)
            readers.insert(0, reader)  # steps grow: try the newest first
        reader.add(payload, event.values[0].tag)


@lru_cache(maxsize=1024)
def _parse_varint(data: bytes) -> int | None:
    """The number that takes exactly these bytes; no byte is 0. All tags of a step share it."""
    number = 0
    for place, byte in enumerate(data):
        if (byte > 127) == (place == len(data) - 1):
            return None
        number |= (byte & 127) << 7 * place
    return number


def _event_layout(payload: bytes, event: Event) -> EventLayout | None:
    if len(payload) > MAX_TEMPLATE_PAYLOAD_BYTES or len(event.values) != 1 or event.version:
        return None
    value, time = event.values[0], event.time_start
    start, stop = event.step_range or (0, 0)
    if value.plugin not in ("", "scalars") or stop - start > _MAX_STEP_BYTES:
        return None
    if time is None or value.location is None:
        return None
    return EventLayout(len(payload), time, start, stop - start, *value.location)
