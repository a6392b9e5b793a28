"""Events that differ in time, step and value only: what is equal in them, decoded once.

A writer's scalars of one tag are equal byte for byte but for a double (the time), a varint (the
step) and a float or double (the value). A `Layout` says where these stand; a `Template` is a layout
with the bytes around them, which hold the tag and everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ppo_top.parsers.shared.protobuf import Malformed
from ppo_top.parsers.tensorboard.crc32c import crc32c, masked, shares
from ppo_top.parsers.tensorboard.event import Event, decode

_DOUBLE = struct.Struct("<d").unpack_from
_FLOAT = struct.Struct("<f").unpack_from
_WORD = struct.Struct("<I").unpack_from

LONGEST = 1000
"""Longer payloads are decoded one by one: their scalars are few."""
_MOST = 8192
_STEP_BYTES = 9
"""Ten bytes are a negative step."""


class Field(NamedTuple):
    """A range of bytes in a payload."""

    start: int
    stop: int


def gaps(fields: Iterable[Field], length: int) -> list[Field]:
    """The ranges between some fields, up to a length."""
    edges = [0, *(edge for field in sorted(fields) if field.stop for edge in field), length]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [Field(start, stop) for start, stop in pairs if start < stop]


@dataclass(frozen=True)
class Layout:
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
    def fields(self) -> tuple[Field, Field, Field]:
        """The ranges of changing bytes: time, step, value."""
        sizes = (self.time, 8), (self.step, self.step_size), (self.value, self.value_size)
        time, step, value = (Field(start, start + size) for start, size in sizes)
        return time, step, value

    @cached_property
    def changing(self) -> tuple[int, ...]:
        """The places of all changing bytes."""
        return tuple(place for field in self.fields for place in range(*field))

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """The places of all other bytes."""
        changing = set(self.changing)
        return tuple(place for place in range(self.length) if place not in changing)

    @cached_property
    def gaps(self) -> tuple[Field, ...]:
        """The ranges of fixed bytes, the longest first: it holds the tag."""
        found = gaps(self.fields, self.length)
        return tuple(sorted(found, key=lambda gap: gap.start - gap.stop))

    @cached_property
    def tables(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Each changing place with what its byte adds to the checksum."""
        return tuple((place, shares(self.length - 1 - place)) for place in self.changing)

    def numbers(self, record: bytes) -> tuple[float, float, int]:
        """Time, value and stored checksum of a payload with its checksum behind it."""
        time: float = _DOUBLE(record, self.time)[0]
        value: float = (_FLOAT if self.code == "f" else _DOUBLE)(record, self.value)[0]
        stored: int = _WORD(record, self.length)[0]
        return time, value, stored

    def blank(self, payload: bytes) -> bytes:
        """The payload with zeros for the changing bytes."""
        blanked = bytearray(payload)
        for place in self.changing:
            blanked[place] = 0
        return bytes(blanked)


class Point(NamedTuple):
    """One point of a tag."""

    step: int
    time: float
    value: float


@dataclass(frozen=True, eq=False)
class Template:
    """A layout, the tag, and the fixed bytes (zeros between them) with their checksum."""

    layout: Layout
    tag: str
    fixed: bytes
    checksum: int

    def point(self, record: bytes) -> Point | None:
        """The point in a payload with its checksum behind it; None when anything is amiss."""
        for start, stop in self.layout.gaps:
            if record[start:stop] != self.fixed[start:stop]:
                return None
        checksum = self.checksum
        for place, table in self.layout.tables:
            checksum ^= table[record[place]]
        time, value, stored = self.layout.numbers(record)
        step = self._step(record)
        if step is None or masked(checksum) != stored:
            return None
        return Point(step, time, value)

    def _step(self, record: bytes) -> int | None:
        """The step, if it ends where the layout says."""
        step = 0
        start = self.layout.step
        for number, byte in enumerate(record[start : start + self.layout.step_size], 1):
            if (byte > 127) == (number == self.layout.step_size):
                return None
            step |= (byte & 127) << 7 * number - 7
        return step


class Shape(NamedTuple):
    """A layout, its longest range of fixed bytes, and the templates by what stands there."""

    layout: Layout
    start: int
    stop: int
    tags: dict[bytes, Template]


class Templates:
    """The templates that were met; a cache that never changes what is read."""

    def __init__(self) -> None:
        self.shapes: dict[int, list[Shape]] = {}
        self._fixed: dict[tuple[Layout, bytes], Template] = {}

    def known(self, payload: bytes) -> Template | None:
        """The template that a payload seems to have; its other bytes are still to be compared."""
        for shape in self.shapes.get(len(payload), ()):
            found = shape.tags.get(payload[shape.start : shape.stop])
            if found is not None:
                return found
        return None

    def learn(self, payload: bytes) -> Template | None:
        """The template of a scalar event; None when it is anything else."""
        if len(payload) > LONGEST:
            return None
        try:
            event = decode(payload, 0, len(payload), set())
        except Malformed:
            return None
        layout = _layout(payload, event)
        if layout is None:
            return None
        return self.find(layout, layout.blank(payload)) or self._add(layout, payload, event)

    def find(self, layout: Layout, fixed: bytes) -> Template | None:
        """The template with these fixed bytes, if it was met before."""
        return self._fixed.get((layout, fixed))

    def _add(self, layout: Layout, payload: bytes, event: Event) -> Template:
        if len(self._fixed) >= _MOST:
            self._fixed.clear()
            self.shapes.clear()
        shapes = self.shapes.setdefault(layout.length, [])
        shape = next((each for each in shapes if each.layout == layout), None)
        if shape is None:
            shape = Shape(layout, *layout.gaps[0], {})
            shapes.insert(0, shape)  # steps grow: the newest is asked first
        fixed = layout.blank(payload)
        made = Template(shape.layout, event.values[0].tag, fixed, crc32c(fixed))
        shape.tags[payload[shape.start : shape.stop]] = made
        self._fixed[shape.layout, fixed] = made
        return made


def _layout(payload: bytes, event: Event) -> Layout | None:
    if len(event.values) != 1 or event.version or event.restart:
        return None
    if event.values[0].plugin not in ("", "scalars"):
        return None
    place = event.values[0].place
    start, stop = event.step_at or (0, 0)
    if place is None or event.time_at is None or stop - start > _STEP_BYTES:
        return None
    return Layout(len(payload), event.time_at, start, stop - start, place.start, place.code)
