"""d3rlpy's FileAdapter: one file a metric, `<name>.csv`, with lines `epoch,step,value`.

A file does not name its metric: its own name does. `str` of Python wrote the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.text.lazy_pattern import lazy_pattern

_LINE = lazy_pattern(rb"(\d{1,9}),(\d{1,15}),(?:-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan)")
_LINE_START = lazy_pattern(rb"\d{0,9}(?:,\d{0,15}(?:,[-+\d.einfa]*)?)?")


class D3rlpyCsvParser(NumberRowsParser):
    """Reads one file."""

    _unreadable = "not an epoch, a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(3, {"": 2}, step=1), False


def tag_of(path: str) -> str:
    """The metric that a file is named after."""
    return PurePath(path).stem


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the first line is an epoch, a step no smaller than that, and a value."""
    line, end, _ = head.partition(b"\n")
    if not end:
        return None if _LINE_START.fullmatch(line) else False
    found = _LINE.fullmatch(line.rstrip(b"\r"))
    return found is not None and int(found[1]) <= int(found[2])


FORMAT = Format(
    name="d3rlpy-csv",
    claims=claims,
    claim_order=48,
    precedence=55,
    parser=D3rlpyCsvParser,
    by_lines=True,
    chained=True,
    tag_of_path=tag_of,
)
