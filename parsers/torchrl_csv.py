"""TorchRL's CSVLogger: one file a tag, `<experiment>/scalars/<tag>.csv`, with lines `step,value`.

A file does not name its tag: its path does. `str` of Python wrote the numbers, so nan is `nan`.
"""

from __future__ import annotations

import re

from ppo_top.model import UNKNOWN_TIME, Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.line_splitter import LineSplitter, Segment
from ppo_top.parsers.shared.number_text import as_step, parse_number

_LINE = re.compile(rb"-?\d{1,19},(?:-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan)")
_LINE_START = re.compile(rb"-?\d{0,19}(?:,[-+\d.einfa]*)?")
_SCALARS_FOLDER = "/scalars/"


class TorchRlCsvParser:
    """Reads one file; its points have no tag yet."""

    def __init__(self) -> None:
        self._splitter = LineSplitter()

    def feed(self, data: bytes) -> Batch:
        """The points of the lines that the next bytes complete."""
        sheet = ColumnBuilder()
        problems = [
            Problem(segment.offset, "not a step and a value")
            for segment in self._splitter.complete_segments(data)
            if segment.data and not _add_point(sheet, segment)
        ]
        return Batch(sheet.pop_points(), problems=problems + self._splitter.pop_problems())

    def finish(self) -> Batch:
        """Nothing: a line without its end may be cut in the middle of a number."""
        return Batch()


def _add_point(builder: ColumnBuilder, segment: Segment) -> bool:
    step, _, value = segment.data.decode("ascii", "replace").partition(",")
    at, found = as_step(parse_number(step)), parse_number(value)
    if at is None or found is None:
        return False
    builder.add_point("", at, UNKNOWN_TIME, found)
    return True


def tag_of(path: str) -> str:
    """The tag of a file: its path below `scalars`, without its end; "" when it lies elsewhere."""
    _, folder, tag = path.rpartition(_SCALARS_FOLDER)
    return tag.removesuffix(".csv") if folder else ""


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the first line is a step and a value."""
    line, end, _ = head.partition(b"\n")
    if not end:
        return None if _LINE_START.fullmatch(line) else False
    return _LINE.fullmatch(line) is not None


FORMAT = Format(
    name="torchrl-csv",
    claims=claims,
    claim_order=65,
    precedence=55,
    parser=TorchRlCsvParser,
    by_lines=True,
    tag_of_path=tag_of,
)
