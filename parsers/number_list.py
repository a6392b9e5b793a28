"""A file of one number a line, as `numpy.savetxt` writes it: `rewards.txt`, `episode_returns.csv`.

What the numbers are is the file's name; the place in the file is the step.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.point_lines import LinePoint, PointLinesParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import parse_number

_HEADING = re.compile(rb"\W*[A-Za-z][\w ./-]{0,80}\W*")
_FEWEST_LINES = 3


class NumberListParser(PointLinesParser):
    """Reads one file."""

    _unreadable = "not a number"
    _counts_rows = True

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def _is_heading(self, segment: Segment) -> bool:
        return segment.offset == 0 and _number_of(segment.data) is None

    def _read_point(self, text: str) -> LinePoint | None:
        value = _number_of(text.encode("ascii", "replace"))
        if value is None:
            return None
        self._count += 1
        return LinePoint(self._count, UNKNOWN_TIME, value)


def _number_of(line: bytes) -> float | None:
    return parse_number(line.decode("ascii", "replace").strip(" \t\r,;[]"))


def tag_of(path: str) -> str:
    """The file's name without its end, if that is the name of a reward; else ""."""
    stem = PurePath(path).stem
    return stem if metric_names.is_reward(stem) else ""


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the first lines are a number each, but for a heading."""
    lines = head.split(b"\n")[:-1]
    if lines and _HEADING.fullmatch(lines[0]):
        lines = lines[1:]
    if any(line.strip() and _number_of(line) is None for line in lines):
        return False
    return True if len(lines) >= _FEWEST_LINES else None if len(head) < HEAD_BYTES else False


FORMAT = Format(
    name="number-list",
    claims=claims,
    claim_order=70,
    precedence=45,
    parser=NumberListParser,
    by_lines=True,
    rewritten=True,
    tag_of_path=tag_of,
)
