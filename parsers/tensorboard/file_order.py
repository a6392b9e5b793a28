"""Puts points that were decoded in groups back into file order, tag by tag."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ppo_top.model import Points
from ppo_top.model.named_tuple import NamedTuple


class DecodedPoints(NamedTuple):
    """Some points of one tag in file order, as four columns of equal length.

    `record_numbers` (int64, ascending) says which record each point came from. The columns are
    arrays of the array module or of numpy: anything with the buffer protocol.
    """

    tag: str
    record_numbers: Any
    steps: Any
    times: Any
    values: Any

    @classmethod
    def empty(cls, tag: str) -> DecodedPoints:
        """Columns without points."""
        return cls(tag, array("q"), array("q"), array("d"), array("d"))


def merge_in_file_order(pieces: Iterable[DecodedPoints], into: dict[str, Points]) -> None:
    """Append the pieces to the points of their tags, in file order."""
    tags: dict[str, list[DecodedPoints]] = {}
    for piece in sorted(pieces, key=lambda each: int(each.record_numbers[0])):
        tags.setdefault(piece.tag, []).append(piece)
    for tag, found in tags.items():
        points = into.get(tag)
        if points is None:
            points = into[tag] = Points(tag, array("q"), array("d"), array("d"))
        if all(a.record_numbers[-1] <= b.record_numbers[0] for a, b in pairwise(found)):
            for piece in found:
                points.steps.frombytes(_bytes(piece.steps))
                points.times.frombytes(_bytes(piece.times))
                points.values.frombytes(_bytes(piece.values))
        else:
            _interleave(points, found)


def _bytes(column: Any) -> memoryview:
    return memoryview(column).cast("B")


def _interleave(points: Points, pieces: list[DecodedPoints]) -> None:
    """Append pieces that overlap; of one record's points the order of the pieces is kept."""
    order, steps, times, values = array("q"), array("q"), array("d"), array("d")
    for piece in pieces:
        order.frombytes(_bytes(piece.record_numbers))
        steps.frombytes(_bytes(piece.steps))
        times.frombytes(_bytes(piece.times))
        values.frombytes(_bytes(piece.values))
    places = sorted(range(len(order)), key=order.__getitem__)
    points.steps.extend(steps[place] for place in places)
    points.times.extend(times[place] for place in places)
    points.values.extend(values[place] for place in places)
