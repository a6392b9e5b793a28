"""What TensorBoard's "download as CSV" gives: `run-<run>-tag-<tag>.csv` with a line a point.

A file does not hold its tag; its name does, with the slashes as underscores.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from ppo_top.model import Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.axes import parse_unix_time
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.line_splitter import LineSplitter, Segment
from ppo_top.parsers.shared.number_text import as_step, parse_number

_HEADER = b"Wall time,Step,Value"
_NAME = re.compile(r"(?:^|-)tag-(.+)$")


class TensorBoardCsvParser:
    """Reads one file; its points have no tag yet."""

    def __init__(self) -> None:
        self._splitter = LineSplitter()

    def feed(self, data: bytes) -> Batch:
        """The points of the lines that the next bytes complete."""
        builder = ColumnBuilder()
        problems = [
            Problem(segment.offset, "not a time, a step and a value")
            for segment in self._splitter.complete_segments(data)
            if segment.data.strip() not in (b"", _HEADER) and not _add_point(builder, segment)
        ]
        return Batch(builder.pop_points(), problems=problems + self._splitter.pop_problems())

    def finish(self) -> Batch:
        """Nothing: a line without its end may be cut in the middle of a number."""
        return Batch()


def _add_point(builder: ColumnBuilder, segment: Segment) -> bool:
    cells = [parse_number(cell) for cell in segment.data.decode("ascii", "replace").split(",")]
    if len(cells) != _HEADER.count(b",") + 1:
        return False
    time, step, value = cells[0], as_step(cells[1]), cells[2]
    if step is None or value is None:
        return False
    builder.add_point("", step, parse_unix_time(time), value)
    return True


def tag_of(path: str) -> str:
    """The tag in a file's name, its group before a slash again; `Value` where it has none."""
    match = _NAME.search(PurePath(path).stem)
    return match[1].replace("_", "/", 1) if match else "Value"


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the header is TensorBoard's."""
    line, end, _ = head.partition(b"\n")
    if not end:
        return None if _HEADER.startswith(line.strip()) else False
    return line.strip() == _HEADER


FORMAT = Format(
    name="tensorboard-csv",
    claims=claims,
    claim_order=55,
    precedence=50,
    parser=TensorBoardCsvParser,
    by_lines=True,
    tag_of_path=tag_of,
)
