"""Events that differ in time, step and value only: what is equal in them, decoded once.

A writer's scalars of one tag are equal byte for byte but for a double (the time), a varint (the
step) and a float or double (the value). A `EventLayout` says where these stand; a `EventTemplate`
is a layout with the bytes around them, which hold the tag and everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ppo_top.parsers.shared.protobuf import MalformedMessage
from ppo_top.parsers.tensorboard.crc32c import byte_contributions, crc32c, masked
from ppo_top.parsers.tensorboard.event import Event, decode_event

_unpack_double = struct.Struct("<d").unpack_from
_unpack_float = struct.Struct("<f").unpack_from
_unpack_uint32 = struct.Struct("<I").unpack_from

MAX_TEMPLATE_PAYLOAD_BYTES = 1000
"""Longer payloads are decoded one by one: their scalars are few."""
_MAX_EVENT_TEMPLATES = 8192
_MAX_STEP_BYTES = 9
"""Ten bytes are a negative step."""


class ByteRange(NamedTuple):
    """A range of bytes in a payload."""

    start: int
    stop: int


def ranges_between(fields: Iterable[ByteRange], length: int) -> list[ByteRange]:
    """The ranges between some fields, up to a length."""
    edges = [0, *(edge for field in sorted(fields) if field.stop for edge in field), length]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [ByteRange(start, stop) for start, stop in pairs if start < stop]


@dataclass(frozen=True)
class EventLayout:
    """Where the changing bytes of a payload of `length` bytes stand.

    `code` is the value's struct code, "f" or "d"; `step_size` is 0 at step 0, which is not written.
    """

    length: int
    time: int
    step: int
    step_size: int
    value: int
    code: str

    @property
    def value_size(self) -> int:
        """How many bytes the value takes."""
        return struct.calcsize(f"<{self.code}")

    @cached_property
    def changing_ranges(self) -> tuple[ByteRange, ByteRange, ByteRange]:
        """The ranges of changing bytes: time, step, value."""
        sizes = (self.time, 8), (self.step, self.step_size), (self.value, self.value_size)
        time, step, value = (ByteRange(start, start + size) for start, size in sizes)
        return time, step, value

    @cached_property
    def changing_places(self) -> tuple[int, ...]:
        """The places of all changing bytes."""
        return tuple(place for field in self.changing_ranges for place in range(*field))

    @cached_property
    def fixed_places(self) -> tuple[int, ...]:
        """The places of all other bytes."""
        changing = set(self.changing_places)
        return tuple(place for place in range(self.length) if place not in changing)

    @cached_property
    def fixed_ranges(self) -> tuple[ByteRange, ...]:
        """The ranges of fixed bytes, the longest first: it holds the tag."""
        found = ranges_between(self.changing_ranges, self.length)
        return tuple(sorted(found, key=lambda gap: gap.start - gap.stop))

    @cached_property
    def contributions(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Each changing place with what its byte adds to the checksum."""
        return tuple(
            (place, byte_contributions(self.length - 1 - place)) for place in self.changing_places
        )

    def unpack_numbers(self, record: bytes) -> tuple[float, float, int]:
        """Time, value and stored checksum of a payload with its checksum behind it."""
        time: float = _unpack_double(record, self.time)[0]
        value: float = (_unpack_float if self.code == "f" else _unpack_double)(record, self.value)[
            0
        ]
        stored: int = _unpack_uint32(record, self.length)[0]
        return time, value, stored

    def blank_changing(self, payload: bytes) -> bytes:
        """The payload with zeros for the changing bytes."""
        blanked = bytearray(payload)
        for place in self.changing_places:
            blanked[place] = 0
        return bytes(blanked)


class EventPoint(NamedTuple):
    """One point of a tag."""

    step: int
    time: float
    value: float


@dataclass(frozen=True, eq=False)
class EventTemplate:
    """A layout, the tag, and the fixed bytes (zeros between them) with their checksum."""

    layout: EventLayout
    tag: str
    fixed_bytes: bytes
    checksum: int

    def read_point(self, record: bytes) -> EventPoint | None:
        """The point in a payload with its checksum behind it; None when anything is amiss."""
        for start, stop in self.layout.fixed_ranges:
            if record[start:stop] != self.fixed_bytes[start:stop]:
                return None
        checksum = self.checksum
        for place, table in self.layout.contributions:
            checksum ^= table[record[place]]
        time, value, stored = self.layout.unpack_numbers(record)
        step = self._read_step(record)
        if step is None or masked(checksum) != stored:
            return None
        return EventPoint(step, time, value)

    def _read_step(self, record: bytes) -> int | None:
        """The step, if it ends where the layout says."""
        step = 0
        start = self.layout.step
        for number, byte in enumerate(record[start : start + self.layout.step_size], 1):
            if (byte > 127) == (number == self.layout.step_size):
                return None
            step |= (byte & 127) << 7 * number - 7
        return step


class TemplateGroup(NamedTuple):
    """A layout, its longest range of fixed bytes, and the templates by what stands there."""

    layout: EventLayout
    start: int
    stop: int
    templates: dict[bytes, EventTemplate]


class TemplateCache:
    """The templates that were met; a cache that never changes what is read."""

    def __init__(self) -> None:
        self.groups_by_length: dict[int, list[TemplateGroup]] = {}
        self._by_fixed_bytes: dict[tuple[EventLayout, bytes], EventTemplate] = {}

    def find_by_tag(self, payload: bytes) -> EventTemplate | None:
        """The template that a payload seems to have; its other bytes are still to be compared."""
        for shape in self.groups_by_length.get(len(payload), ()):
            found = shape.templates.get(payload[shape.start : shape.stop])
            if found is not None:
                return found
        return None

    def learn_template(self, payload: bytes) -> EventTemplate | None:
        """The template of a scalar event; None when it is anything else."""
        if len(payload) > MAX_TEMPLATE_PAYLOAD_BYTES:
            return None
        try:
            event = decode_event(payload, 0, len(payload), set())
        except MalformedMessage:
            return None
        layout = _event_layout(payload, event)
        if layout is None:
            return None
        return self.find_exact(layout, layout.blank_changing(payload)) or self._add_template(
            layout, payload, event
        )

    def find_exact(self, layout: EventLayout, fixed: bytes) -> EventTemplate | None:
        """The template with these fixed bytes, if it was met before."""
        return self._by_fixed_bytes.get((layout, fixed))

    def _add_template(self, layout: EventLayout, payload: bytes, event: Event) -> EventTemplate:
        if len(self._by_fixed_bytes) >= _MAX_EVENT_TEMPLATES:
            self._by_fixed_bytes.clear()
            self.groups_by_length.clear()
        shapes = self.groups_by_length.setdefault(layout.length, [])
        shape = next((each for each in shapes if each.layout == layout), None)
        if shape is None:
            shape = TemplateGroup(layout, *layout.fixed_ranges[0], {})
            shapes.insert(0, shape)  # steps grow: the newest is asked first
        fixed = layout.blank_changing(payload)
        made = EventTemplate(shape.layout, event.values[0].tag, fixed, crc32c(fixed))
        shape.templates[payload[shape.start : shape.stop]] = made
        self._by_fixed_bytes[shape.layout, fixed] = made
        return made


def _event_layout(payload: bytes, event: Event) -> EventLayout | None:
    if len(event.values) != 1 or event.version or event.restart:
        return None
    if event.values[0].plugin not in ("", "scalars"):
        return None
    place = event.values[0].location
    start, stop = event.step_range or (0, 0)
    if place is None or event.time_start is None or stop - start > _MAX_STEP_BYTES:
        return None
    return EventLayout(len(payload), event.time_start, start, stop - start, place.start, place.code)
