"""What TensorBoard's "download as CSV" gives: `run-<run>-tag-<tag>.csv` with a line a point.

A file does not hold its tag; its name does, with the slashes as underscores.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.names.download_names import tag_of
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places

_HEADERS = (b"Wall time,Step,Value", b"Walltime,Step,Value")
"""TensorBoard's own, and that of scripts that write the same."""


class TensorBoardCsvParser(NumberRowsParser):
    """Reads one file."""

    _unreadable = "not a time, a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        is_heading = ",".join(cells).strip().encode() in _HEADERS
        return Places(3, {"": 2}, step=1, time=0), is_heading


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the header is TensorBoard's."""
    line, end, _ = head.partition(b"\n")
    if not end:
        return None if any(each.startswith(line.strip()) for each in _HEADERS) else False
    return line.strip() in _HEADERS


FORMAT = Format(
    name="tensorboard-csv",
    claims=claims,
    claim_order=55,
    precedence=50,
    parser=TensorBoardCsvParser,
    by_lines=True,
    tag_of_path=tag_of,
)
