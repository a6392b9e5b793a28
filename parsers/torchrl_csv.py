"""TorchRL's CSVLogger: one file a tag, `<experiment>/scalars/<tag>.csv`, with lines `step,value`.

A file does not name its tag: its path does. `str` of Python wrote the numbers, so nan is `nan`.
"""

from __future__ import annotations

import re

from ppo_top.model import UNKNOWN_TIME, Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import Sheet
from ppo_top.parsers.shared.line_splitter import Segment, Segments
from ppo_top.parsers.shared.number_text import number, whole

_LINE = re.compile(rb"-?\d{1,19},(?:-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan)")
_BEGINS = re.compile(rb"-?\d{0,19}(?:,[-+\d.einfa]*)?")
_FOLDER = "/scalars/"


class Scalars:
    """Reads one file; its points have no tag yet."""

    def __init__(self) -> None:
        self._segments = Segments()

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes; give the points of complete lines."""
        sheet = Sheet()
        problems = [
            Problem(segment.offset, "a line that is no step and value")
            for segment in self._segments.each(data)
            if segment.data and not _add(sheet, segment)
        ]
        return Batch(sheet.take(), problems=problems + self._segments.take_problems())

    def finish(self) -> Batch:
        """Nothing: a line without its end may be cut in the middle of a number."""
        return Batch()


def _add(sheet: Sheet, segment: Segment) -> bool:
    step, _, value = segment.data.decode("ascii", "replace").partition(",")
    at, found = number(step), number(value)
    place = None if at is None else whole(at)
    if place is None or found is None:
        return False
    sheet.add("", place, UNKNOWN_TIME, found)
    return True


def tag_of(path: str) -> str:
    """The tag of a file: its path below `scalars`, without its end; "" when it lies elsewhere."""
    _, folder, tag = path.rpartition(_FOLDER)
    return tag.removesuffix(".csv") if folder else ""


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the first line is a step and a value."""
    line, end, _ = head.partition(b"\n")
    if not end:
        return None if _BEGINS.fullmatch(line) else False
    return _LINE.fullmatch(line) is not None


FORMAT = Format(
    name="torchrl-csv",
    names=re.compile(r"\.csv$"),
    claims=claims,
    order=65,
    rank=55,
    parser=Scalars,
    tag=tag_of,
)
