"""Events that differ in time, step and value only: what is equal in them, decoded once.

A writer's scalars of one tag are equal byte for byte but for a double (the time), a varint (the
step) and a float or double (the value). A `Layout` says where these stand; a `Template` is a layout
with the bytes around them, which hold the tag and everything else.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ppo_top.parsers._crc32c import crc32c
from ppo_top.parsers._event import Event, decode
from ppo_top.parsers._protobuf import Malformed

LONGEST = 1000
"""Longer payloads are decoded one by one: their scalars are few."""
_MOST = 8192
_STEP_BYTES = 9
"""Ten bytes are a negative step."""


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
    def changing(self) -> tuple[int, ...]:
        """The places of all changing bytes."""
        return (
            *range(self.time, self.time + 8),
            *range(self.step, self.step + self.step_size),
            *range(self.value, self.value + self.value_size),
        )

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """The places of all other bytes."""
        changing = set(self.changing)
        return tuple(place for place in range(self.length) if place not in changing)

    @cached_property
    def mark(self) -> tuple[int, int]:
        """The longest range of fixed bytes: it holds the tag."""
        edges = (-1, *sorted(self.changing), self.length)
        gaps = ((right - left - 1, left + 1) for left, right in pairwise(edges))
        size, start = max(gaps)
        return start, start + size

    def blank(self, payload: bytes) -> bytes:
        """The payload with zeros for the changing bytes."""
        blanked = bytearray(payload)
        for place in self.changing:
            blanked[place] = 0
        return bytes(blanked)


@dataclass(frozen=True, eq=False, slots=True)
class Template:
    """A layout, the tag, and the fixed bytes (zeros between them) with their checksum."""

    layout: Layout
    tag: str
    fixed: bytes
    checksum: int


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

    def learn(self, payload: bytes) -> Template | None:
        """The template of a scalar event; None when it is anything else."""
        if len(payload) > LONGEST:
            return None
        try:
            event = decode(payload, 0, len(payload), {})
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
            shape = Shape(layout, *layout.mark, {})
            shapes.insert(0, shape)  # steps grow: the newest is asked first
        fixed = layout.blank(payload)
        made = Template(shape.layout, event.values[0].tag, fixed, crc32c(fixed))
        shape.tags[payload[shape.start : shape.stop]] = made
        self._fixed[shape.layout, fixed] = made
        return made


def _layout(payload: bytes, event: Event) -> Layout | None:
    if len(event.values) != 1 or event.version or event.restart:
        return None
    place = event.values[0].place
    start, stop = event.step_at or (0, 0)
    if place is None or event.time_at is None or stop - start > _STEP_BYTES:
        return None
    return Layout(len(payload), event.time_at, start, stop - start, place.start, place.code)
