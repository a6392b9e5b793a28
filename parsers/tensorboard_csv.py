"""What TensorBoard's "download as CSV" gives: `run-<run>-tag-<tag>.csv` with a line a point.

A file does not hold its tag; its name does, with the slashes as underscores.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.tables.point_lines import LinePoint, PointLinesParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_HEADER = b"Wall time,Step,Value"
_NAME = re.compile(r"(?:^|-)tag-(.+)$")


class TensorBoardCsvParser(PointLinesParser):
    """Reads one file."""

    _unreadable = "not a time, a step and a value"

    def _is_heading(self, segment: Segment) -> bool:
        return segment.data.strip() == _HEADER

    def _read_point(self, text: str) -> LinePoint | None:
        cells = [parse_number(cell) for cell in text.split(",")]
        if len(cells) != _HEADER.count(b",") + 1:
            return None
        time, step, value = cells[0], as_step(cells[1]), cells[2]
        return (
            None if step is None or value is None else LinePoint(step, parse_unix_time(time), value)
        )


def tag_of(path: str) -> str:
    """The tag in a file's name, its group before a slash again.

    A file that was renamed may still say what it holds, between other words: `ppo_rewards_2.csv`;
    else `Value`.
    """
    stem = PurePath(path).stem
    if match := _NAME.search(stem):
        return match[1].replace("_", "/", 1)
    words = metric_names.split_words(stem)
    telling = [at for at, word in enumerate(words) if word in metric_names.METRIC_WORDS]
    return "_".join(words[telling[0] : telling[-1] + 1]) if telling else "Value"


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
