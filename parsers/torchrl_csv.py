"""TorchRL's CSVLogger: one file a tag, `<experiment>/scalars/<tag>.csv`, with lines `step,value`.

A file does not name its tag: its path does. `str` of Python wrote the numbers, so nan is `nan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ppo_top.parsers.base import Format
from ppo_top.parsers.file_names import FILE_NAMES
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.text.lazy_pattern import lazy_pattern

_LINE = lazy_pattern(rb"-?\d{1,19},(?:-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan)")
_LINE_START = lazy_pattern(rb"-?\d{0,19}(?:,[-+\d.einfa]*)?")
_SCALARS_FOLDER = "/scalars/"
_LOG_NAME = lazy_pattern(FILE_NAMES["bare_table"]["bare-table"])
"""Names of tables without a header, of which this is one with two columns."""


class TorchRlCsvParser(NumberRowsParser):
    """Reads one file."""

    _unreadable = "not a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(2, {"": 1}, step=0), False


def tag_of(path: str) -> str:
    """The tag of a file: its path below `scalars`, without its end.

    Elsewhere a script's own file is named after a reward, or is one of a training; else "".
    """
    _, folder, tag = path.rpartition(_SCALARS_FOLDER)
    if folder:
        return tag.removesuffix(".csv")
    is_log = _LOG_NAME.search(PurePath(path).name)
    return metric_names.reward_of_file(path) or ("column 2" if is_log else "")


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
