"""Scalars of an event file as columns, in the standard library alone: for files of ordinary size.

Below some hundred thousand events this is done before numpy would have been imported.
"""

from __future__ import annotations

import sys
from array import array

from ppo_top.parsers.tensorboard.crc32c import all_intact
from ppo_top.parsers.tensorboard.file_order import Piece
from ppo_top.parsers.tensorboard.templates import Template, Templates
from ppo_top.parsers.tensorboard.tfrecord import HEADER

_FEW = 20
"""Fewer records than this are not worth a column."""
_HIGH = bytes(range(128, 256))
_LOWER = [bytes((byte & 127) << shift & 255 for byte in range(256)) for shift in range(8)]
_UPPER = [bytes((byte & 127) << shift >> 8 for byte in range(256)) for shift in range(8)]
"""Seven bits moved up: what stays in their byte and what goes into the next."""


def split(data: bytes, bounds: array[int], templates: Templates) -> tuple[list[Piece], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i stands in `data[bounds[i]:bounds[i + 1]]`.
    """
    groups, rest = _groups(data, bounds, templates)
    pieces = []
    for template, order in groups.items():
        read = _column if len(order) >= _FEW else _points
        piece = read(data, template, [bounds[each] + HEADER for each in order], order)
        if piece is None:
            rest += order
        else:
            pieces.append(piece)
    return pieces, sorted(rest)


def _groups(
    data: bytes, bounds: array[int], templates: Templates
) -> tuple[dict[Template, list[int]], list[int]]:
    """The numbers of the records by template, and of those that have none."""
    groups: dict[Template, list[int]] = {}
    rest = []
    shapes = templates.shapes
    start = bounds[0] + HEADER
    for order, stop in enumerate(bounds[1:]):
        found = None
        for shape in shapes.get(stop - start - 4, ()):
            found = shape.tags.get(data[start + shape.start : start + shape.stop])
            if found is not None:
                break
        else:
            found = templates.learn(data[start : stop - 4])
        if found is None:
            rest.append(order)
        elif found in groups:
            groups[found].append(order)
        else:
            groups[found] = [order]
        start = stop + HEADER
    return groups, rest


def _points(data: bytes, template: Template, starts: list[int], order: list[int]) -> Piece | None:
    """A few points of one tag; None when any record is not what the template says, or damaged."""
    width = template.layout.length + 4
    points = [template.point(data[start : start + width]) for start in starts]
    steps, times, values = array("q"), array("d"), array("d")
    for point in points:
        if point is None:
            return None
        steps.append(point.step)
        times.append(point.time)
        values.append(point.value)
    return Piece(template.tag, array("q", order), steps, times, values)


def _column(data: bytes, template: Template, starts: list[int], order: list[int]) -> Piece | None:
    """The columns of one tag; None when any record is not what the template says, or damaged."""
    layout = template.layout
    width = layout.length + 4
    rows = b"".join([data[start : start + width] for start in starts])
    columns = [rows[place::width] for place in range(width)]
    if not _fits(columns, template, len(starts)) or not all_intact(
        columns, layout.changing, template.checksum
    ):
        return None
    times = array("d", _weave(columns[layout.time : layout.time + 8]))
    values = array(layout.code, _weave(columns[layout.value : layout.value + layout.value_size]))
    if sys.byteorder == "big":
        times.byteswap()
        values.byteswap()
    steps = _steps(columns[layout.step : layout.step + layout.step_size], len(starts))
    return Piece(template.tag, array("q", order), steps, times, array("d", values))


def _fits(columns: list[bytes], template: Template, count: int) -> bool:
    """Whether the fixed bytes are the template's and the step ends where it should."""
    layout = template.layout
    for place in layout.fixed:
        if columns[place].count(template.fixed[place]) != count:
            return False
    steps = columns[layout.step : layout.step + layout.step_size]
    if steps and not steps[-1].isascii():
        return False
    return not any(column.translate(None, _HIGH) for column in steps[:-1])


def _weave(columns: list[bytes]) -> bytes:
    """Columns of bytes put side by side again."""
    woven = bytearray(len(columns) * len(columns[0]))
    for place, column in enumerate(columns):
        woven[place :: len(columns)] = column
    return bytes(woven)


def _steps(columns: list[bytes], count: int) -> array[int]:
    """Seven bits a byte, the lowest first; no byte is step 0."""
    planes = [0] * 8
    for number, column in enumerate(columns):
        place, shift = divmod(7 * number, 8)
        planes[place] |= int.from_bytes(column.translate(_LOWER[shift]), "little")
        if shift > 1:  # the rest of the seven bits
            planes[place + 1] |= int.from_bytes(column.translate(_UPPER[shift]), "little")
    steps = array("q", _weave([plane.to_bytes(count, "little") for plane in planes]))
    if sys.byteorder == "big":
        steps.byteswap()
    return steps
