"""DVCLive: a file for each metric, `<dir>/plots/metrics/<tag>.tsv`, with a header line.

Columns are `step` and the metric's last name, after a `timestamp` in milliseconds where it was
asked for (always, before version 1). The tag is the file's path, which may have folders.
"""

from __future__ import annotations

from ppo_top.model import UNKNOWN_TIME, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_METRICS_FOLDER = "/plots/metrics/"


class DvcLiveParser(RowParser):
    """Reads one file; its points have no tag yet."""

    _width = 0

    def _add_line(self, segment: Segment) -> None:
        cells = segment.data.decode("utf-8", "replace").split("\t")
        if not self._width:
            self._width = len(cells)
            return
        numbers = [parse_number(cell) for cell in cells]
        step = as_step(numbers[-2]) if len(numbers) == self._width >= 2 else None
        if step is None or numbers[-1] is None:
            self._problems.append(Problem(segment.offset, "not a step and a value"))
            return
        time = parse_unix_time(numbers[0]) if self._width > 2 else UNKNOWN_TIME
        self._builder.add_point("", step, time, numbers[-1])


def tag_of(path: str) -> str:
    """The tag of a file: its path below `plots/metrics`; "" when it lies elsewhere."""
    _, folder, tag = path.rpartition(_METRICS_FOLDER)
    return tag.removesuffix(".tsv") if folder else ""


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the header is that of a metric's file; `tag_of` asks where it lies."""
    line, end, _ = head.partition(b"\n")
    if not end and len(head) < HEAD_BYTES:
        return None
    *first, metric = line.split(b"\t")
    return bool(metric.strip()) and first in ([b"step"], [b"timestamp", b"step"])


FORMAT = Format(
    name="dvclive",
    claims=claims,
    claim_order=55,
    precedence=55,
    parser=DvcLiveParser,
    tag_of_path=tag_of,
)
