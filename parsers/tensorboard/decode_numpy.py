"""Scalars of large event files as columns, by numpy.

Records that differ only in time, step and value become the rows of one array. They are compared
with their template all at once, and checksums are verified from the changing bytes alone. Only this
module imports numpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppo_top.parsers.shared.stores.protobuf import MalformedMessage
from ppo_top.parsers.tensorboard.crc32c import MASK_DELTA, byte_contributions
from ppo_top.parsers.tensorboard.event import decode_event
from ppo_top.parsers.tensorboard.file_order import DecodedPoints
from ppo_top.parsers.tensorboard.templates import (
    MAX_TEMPLATE_PAYLOAD_BYTES,
    EventLayout,
    EventTemplate,
    TemplateCache,
)
from ppo_top.parsers.tensorboard.tfrecord import HEADER_BYTES, OVERHEAD_BYTES

Bools = NDArray[np.bool_]

_MIN_ROWS = 32
"""Fewer records than this are not worth numpy's calls."""
_LONGEST_CYCLE = 256
"""Records after which a writer that repeats itself begins again, at most."""
_MAX_TEMPLATE_TRIES = 128
"""Templates tried among the records of one length."""


def decode_columns(
    data: bytes, bounds: array[int], templates: TemplateCache
) -> tuple[list[DecodedPoints], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i is `data[bounds[i]:bounds[i + 1]]`.
    """
    edges = np.frombuffer(bounds, np.int64)
    sizes = np.diff(edges)
    left = np.ones(len(sizes), np.bool_)
    found = []
    for members in _by_size(sizes):
        for points in _decode_size(data, edges, members, templates):
            found.append(points)
            left[points.record_numbers] = False
    return found, np.flatnonzero(left).tolist()


def _decode_size(
    data: bytes, edges: NDArray[np.int64], members: NDArray[np.int64], templates: TemplateCache
) -> Iterator[DecodedPoints]:
    """The points of each tag among records of one size, given by their numbers."""
    length = int(edges[members[0] + 1] - edges[members[0]]) - OVERHEAD_BYTES
    payloads = _windows(data, length + 4)[edges[members] + HEADER_BYTES]
    sums: dict[EventLayout, NDArray[np.uint32]] = {}
    """By layout: what the fixed bytes of each payload have to add to its checksum."""
    is_left = np.ones(len(members), np.bool_)
    for _ in range(_MAX_TEMPLATE_TRIES):
        left = np.flatnonzero(is_left)
        if len(left) < _MIN_ROWS:
            break
        middle = left[len(left) // 2]  # the record least likely to be an exception
        template = _template_of(payloads[middle].tobytes()[:length], templates)
        if template is not None:
            layout = template.layout
            if layout not in sums:
                sums[layout] = _checksums_of_fixed(payloads, layout)
            alike = np.flatnonzero(is_left & (sums[layout] == np.uint32(template.checksum)))
            rows = payloads[alike]
            if len(alike) and not (good := _fits(rows, template)).all():
                rows, alike = rows[good], alike[good]
            if len(alike):
                yield _decode_rows(rows, members[alike], template)
                is_left[alike] = False
        is_left[middle] = False


def recurring_bounds(data: bytes, bounds: array[int], limit: int) -> array[int]:
    """The bounds of the records that follow in the order of sizes in which the last ones came.

    A writer that logs the same tags at each step repeats itself, header by header. `LookAhead`.
    """
    edges = np.frombuffer(bounds[-2 * _LONGEST_CYCLE - 1 :], np.int64)
    sizes = np.diff(edges)
    if len(sizes) < 2 * _LONGEST_CYCLE:
        return array("q")
    earlier = np.lib.stride_tricks.sliding_window_view(sizes[:-1], _LONGEST_CYCLE)
    alike = np.flatnonzero((earlier == sizes[-_LONGEST_CYCLE:]).all(axis=1))
    if not len(alike):
        return array("q")
    cycle = len(sizes) - _LONGEST_CYCLE - int(alike[-1])
    starts, end = edges[-1 - cycle : -1], int(edges[-1])
    length = end - int(starts[0])
    rounds = (min(limit, len(data)) - end) // length
    if rounds < 1:
        return array("q")
    headers = _windows(data, HEADER_BYTES)
    found = headers[(starts + length * np.arange(1, rounds + 1)[:, None]).ravel()]
    words = found.view("<u4").reshape(rounds, cycle, -1)
    equal = (words == headers[starts].view("<u4").reshape(cycle, -1)).all(axis=2).ravel()
    good = len(equal) if equal.all() else int(equal.argmin())
    ends = (edges[-cycle:] + length * np.arange(1, rounds + 1)[:, None]).ravel()[:good]
    return array("q", ends.tobytes())


def _by_size(sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The numbers of the records of each size, in file order; not of long or rare ones."""
    limit = MAX_TEMPLATE_PAYLOAD_BYTES + OVERHEAD_BYTES
    short = np.flatnonzero(sizes <= limit)
    if not len(short):
        return
    keys = sizes[short].astype(np.uint16)  # a radix sort
    order = np.argsort(keys, kind="stable")
    by_size = np.split(short[order], np.flatnonzero(np.diff(keys[order])) + 1)
    yield from (members for members in by_size if len(members) >= _MIN_ROWS)


def _template_of(payload: bytes, templates: TemplateCache) -> EventTemplate | None:
    """The template of a payload, which is not verified; None when it is no scalar event."""
    found = templates.find(payload)
    if found is None:
        try:
            templates.learn(payload, decode_event(payload, 0, len(payload), set()))
        except MalformedMessage:
            return None
        found = templates.find(payload)
    return found


def _windows(data: bytes, width: int) -> NDArray[Any]:
    """Each run of `width` bytes as one element, not copied."""
    return np.ndarray(max(0, len(data) - width + 1), f"V{width}", data, strides=(1,))


def _column(rows: NDArray[Any], offset: int, dtype: str) -> NDArray[Any]:
    """The numbers at one offset of all rows, not copied."""
    return np.ndarray(len(rows), dtype, rows, offset, rows.strides)


def _fits(rows: NDArray[Any], template: EventTemplate) -> Bools:
    """Which payloads have the template's fixed bytes and a step as long."""
    good = np.ones(len(rows), np.bool_)
    for place, size, word in template.fixed_words:
        good &= _column(rows, place, f"<u{size}") == word
    _, step, _ = template.changing_ranges
    for place in range(*step):  # a varint: the high bit says that another byte follows
        good &= (_column(rows, place, "u1") > 127) == (place < step.stop - 1)
    return good


def _checksums_of_fixed(rows: NDArray[Any], layout: EventLayout) -> NDArray[np.uint32]:
    """The checksum that follows each payload, without the share of the changing bytes."""
    stored = _column(rows, layout.length, "<u4") - np.uint32(MASK_DELTA)
    checksums = stored << np.uint32(15) | stored >> np.uint32(17)
    for part in layout.changing_ranges:
        for place in range(*part):
            table = _contributions(layout.length - 1 - place)
            checksums ^= table.take(_column(rows, place, "u1"))
    return checksums


def _decode_rows(
    rows: NDArray[Any], numbers: NDArray[np.int64], template: EventTemplate
) -> DecodedPoints:
    layout = template.layout
    steps = np.zeros(len(rows), np.int64)
    for place in reversed(range(*template.changing_ranges[1])):
        steps <<= 7
        steps |= _column(rows, place, "u1") & 127
    times = _column(rows, layout.time, "<f8").astype(np.float64)
    values = _column(rows, layout.value, "<f4" if layout.code == "f" else "<f8").astype(np.float64)
    return DecodedPoints(template.tag, numbers, steps, times, values)


@cache
def _contributions(distance: int) -> NDArray[np.uint32]:
    return np.array(byte_contributions(distance), np.uint32)
