"""A file of one number a line, as `numpy.savetxt` writes it: `rewards.txt`, `episode_returns.csv`.

What the numbers are is the file's name; the place in the file is the step.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from ppo_top.model import UNKNOWN_TIME, Batch, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared import metric_names
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.line_splitter import LineSplitter
from ppo_top.parsers.shared.number_text import parse_number

_HEADING = re.compile(rb"\W*[A-Za-z][\w ./-]{0,80}\W*")
_FEWEST_LINES = 3


class NumberListParser:
    """Reads one file; its points have no tag yet."""

    def __init__(self) -> None:
        self._splitter = LineSplitter()
        self._count = 0

    def feed(self, data: bytes) -> Batch:
        """The points of the lines that the next bytes complete; a heading is none."""
        builder = ColumnBuilder()
        problems: list[Problem] = []
        for segment in self._splitter.complete_segments(data):
            value = _number_of(segment.data)
            if value is not None:
                self._count += 1
                builder.add_point("", self._count, UNKNOWN_TIME, value)
            elif segment.data.strip() and segment.offset:
                problems.append(Problem(segment.offset, "not a number"))
        return Batch(builder.pop_points(), problems=problems + self._splitter.pop_problems())

    def finish(self) -> Batch:
        """Nothing: a line without its end may be cut in the middle of a number."""
        return Batch()


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
