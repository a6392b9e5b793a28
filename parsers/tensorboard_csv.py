"""What TensorBoard's "download as CSV" gives: `run-<run>-tag-<tag>.csv` with a line a point.

A file does not hold its tag; its name does, with the slashes as underscores.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.text.lazy_pattern import lazy_pattern

_HEADER = b"Wall time,Step,Value"
_NAME = lazy_pattern(r"(?:^|-)tag-(.+)$")


class TensorBoardCsvParser(NumberRowsParser):
    """Reads one file."""

    _unreadable = "not a time, a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(3, {"": 2}, step=1, time=0), ",".join(cells).strip() == _HEADER.decode()


def tag_of(path: str) -> str:
    """The tag in a file's name, its group before a slash again.

    A file that was renamed may still say what it holds, between other words: `ppo_rewards_2.csv`.
    Newer downloads are named by the run alone: what such a file holds nothing says.
    """
    stem = PurePath(path).stem
    if match := _NAME.search(stem):
        return match[1].replace("_", "/", 1)
    words = metric_names.split_words(stem)
    telling = [at for at, word in enumerate(words) if word in metric_names.METRIC_WORDS]
    return "_".join(words[telling[0] : telling[-1] + 1]) if telling else f"{stem} (Value)"


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
