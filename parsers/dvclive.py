"""DVCLive: a file for each metric, `<dir>/plots/metrics/<tag>.tsv`, with a header line.

Columns are `step` and the metric's last name, after a `timestamp` in milliseconds where it was
asked for (always, before version 1). The tag is the file's path, which may have folders.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places

_METRICS_FOLDER = "/plots/metrics/"


class DvcLiveParser(NumberRowsParser):
    """Reads one file; its points have no tag yet."""

    _delimiter = "\t"
    _unreadable = "not a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        width = len(cells)
        return Places(width, {"": width - 1}, step=width - 2, time=0 if width > 2 else None), True


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
