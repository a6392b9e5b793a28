"""Scalars of an event file as columns, in the standard library alone: for files of ordinary size.

Below some hundred thousand events this is done before numpy would have been imported.
"""

from __future__ import annotations

import sys
from array import array

from ppo_top.parsers.tensorboard.crc32c import are_all_intact
from ppo_top.parsers.tensorboard.file_order import DecodedPoints
from ppo_top.parsers.tensorboard.templates import EventTemplate, TemplateCache
from ppo_top.parsers.tensorboard.tfrecord import HEADER_BYTES

_MIN_COLUMN_RECORDS = 20
"""Fewer records than this are not worth a column."""
_HIGH_BYTES = bytes(range(128, 256))
_LOWER_BITS = [bytes((byte & 127) << shift & 255 for byte in range(256)) for shift in range(8)]
_UPPER_BITS = [bytes((byte & 127) << shift >> 8 for byte in range(256)) for shift in range(8)]
"""Seven bits moved up: what stays in their byte and what goes into the next."""


def decode_columns(
    data: bytes, bounds: array[int], templates: TemplateCache
) -> tuple[list[DecodedPoints], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i stands in `data[bounds[i]:bounds[i + 1]]`.
    """
    groups, rest = _group_by_template(data, bounds, templates)
    pieces = []
    for template, order in groups.items():
        read = _decode_column if len(order) >= _MIN_COLUMN_RECORDS else _decode_points
        piece = read(data, template, [bounds[each] + HEADER_BYTES for each in order], order)
        if piece is None:
            rest += order
        else:
            pieces.append(piece)
    return pieces, sorted(rest)


def _group_by_template(
    data: bytes, bounds: array[int], templates: TemplateCache
) -> tuple[dict[EventTemplate, list[int]], list[int]]:
    """The numbers of the records by template, and of those that have none."""
    groups: dict[EventTemplate, list[int]] = {}
    rest = []
    shapes = templates.groups_by_length
    start = bounds[0] + HEADER_BYTES
    for order, stop in enumerate(bounds[1:]):
        found = None
        for shape in shapes.get(stop - start - 4, ()):
            found = shape.templates.get(data[start + shape.start : start + shape.stop])
            if found is not None:
                break
        else:
            found = templates.learn_template(data[start : stop - 4])
        if found is None:
            rest.append(order)
        elif found in groups:
            groups[found].append(order)
        else:
            groups[found] = [order]
        start = stop + HEADER_BYTES
    return groups, rest


def _decode_points(
    data: bytes, template: EventTemplate, starts: list[int], order: list[int]
) -> DecodedPoints | None:
    """A few points of one tag; None when any record is not what the template says, or damaged."""
    width = template.layout.length + 4
    points = [template.read_point(data[start : start + width]) for start in starts]
    steps, times, values = array("q"), array("d"), array("d")
    for point in points:
        if point is None:
            return None
        steps.append(point.step)
        times.append(point.time)
        values.append(point.value)
    return DecodedPoints(template.tag, array("q", order), steps, times, values)


def _decode_column(
    data: bytes, template: EventTemplate, starts: list[int], order: list[int]
) -> DecodedPoints | None:
    """The columns of one tag; None when any record is not what the template says, or damaged."""
    layout = template.layout
    width = layout.length + 4
    rows = b"".join([data[start : start + width] for start in starts])
    columns = [rows[place::width] for place in range(width)]
    if not _matches_template(columns, template, len(starts)) or not are_all_intact(
        columns, layout.changing_places, template.checksum
    ):
        return None
    times = array("d", _weave(columns[layout.time : layout.time + 8]))
    values = array(layout.code, _weave(columns[layout.value : layout.value + layout.value_size]))
    if sys.byteorder == "big":
        times.byteswap()
        values.byteswap()
    steps = _decode_steps(columns[layout.step : layout.step + layout.step_size], len(starts))
    return DecodedPoints(template.tag, array("q", order), steps, times, array("d", values))


def _matches_template(columns: list[bytes], template: EventTemplate, count: int) -> bool:
    """Whether the fixed bytes are the template's and the step ends where it should."""
    layout = template.layout
    for place in layout.fixed_places:
        if columns[place].count(template.fixed_bytes[place]) != count:
            return False
    steps = columns[layout.step : layout.step + layout.step_size]
    if steps and not steps[-1].isascii():
        return False
    return not any(column.translate(None, _HIGH_BYTES) for column in steps[:-1])


def _weave(columns: list[bytes]) -> bytes:
    """Columns of bytes put side by side again."""
    woven = bytearray(len(columns) * len(columns[0]))
    for place, column in enumerate(columns):
        woven[place :: len(columns)] = column
    return bytes(woven)


def _decode_steps(columns: list[bytes], count: int) -> array[int]:
    """Seven bits a byte, the lowest first; no byte is step 0."""
    planes = [0] * 8
    for number, column in enumerate(columns):
        place, shift = divmod(7 * number, 8)
        planes[place] |= int.from_bytes(column.translate(_LOWER_BITS[shift]), "little")
        if shift > 1:  # the rest of the seven bits
            planes[place + 1] |= int.from_bytes(column.translate(_UPPER_BITS[shift]), "little")
    steps = array("q", _weave([plane.to_bytes(count, "little") for plane in planes]))
    if sys.byteorder == "big":
        steps.byteswap()
    return steps
