"""DVCLive: a file for each metric, `<dir>/plots/metrics/<tag>.tsv`, with a header line.

Columns are `step` and the metric's last name, after a `timestamp` in milliseconds where it was
asked for (always, before version 1). The tag is the file's path, which may have folders.
Before version 2 the folder was `scalars`, at first `<dir>` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.text.lazy_pattern import lazy_pattern

_PATH_BELOW_METRICS = lazy_pattern(r".*/(?:plots/metrics|scalars)/(.+)\.tsv")


class DvcLiveParser(NumberRowsParser):
    """Reads one file; its points have no tag yet."""

    _delimiter = "\t"
    _unreadable = "not a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        width = len(cells)
        return Places(width, {"": width - 1}, step=width - 2, time=0 if width > 2 else None), True


def tag_of(path: str) -> str:
    """The tag of a file: its path below the metrics' folder; its name when it lies elsewhere."""
    below = _PATH_BELOW_METRICS.fullmatch(path)
    return below[1] if below else PurePath(path).stem


def claims(name: str, head: bytes) -> bool | None:
    """Whether the header is that of a metric's file, which has the metric's name."""
    line, end, _ = head.partition(b"\n")
    if not end and len(head) < HEAD_BYTES:
        return None
    *first, metric = line.strip().split(b"\t")
    is_named = metric.decode("utf-8", "replace") == PurePath(name).stem
    return is_named and first in ([b"step"], [b"timestamp", b"step"])


FORMAT = Format(
    name="dvclive",
    claims=claims,
    claim_order=55,
    precedence=55,
    parser=DvcLiveParser,
    tag_of_path=tag_of,
)
