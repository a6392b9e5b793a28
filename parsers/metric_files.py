"""Files without a header that hold one metric each, whose tag is in their path.

TorchRL's CSVLogger writes `<experiment>/scalars/<tag>.csv` with lines `step,value`; d3rlpy's
FileAdapter `<metric>.csv` with lines `epoch,step,value`. `str` of Python wrote the numbers, so nan
is `nan`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ppo_top.parsers.base import Format
from ppo_top.parsers.file_names import FILE_NAMES
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.text.lazy_pattern import lazy_pattern

_VALUE = rb"(?:-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan)"
_TORCHRL_LINE = lazy_pattern(rb"-?\d{1,19}," + _VALUE)
_TORCHRL_START = lazy_pattern(rb"-?\d{0,19}(?:,[-+\d.einfa]*)?")
_D3RLPY_LINE = lazy_pattern(rb"(\d{1,9}),(\d{1,15})," + _VALUE + rb"\r?")
_D3RLPY_START = lazy_pattern(rb"\d{0,9}(?:,\d{0,15}(?:,[-+\d.einfa]*)?)?\r?")
_SCALARS_FOLDER = "/scalars/"
_LOG_NAME = lazy_pattern(FILE_NAMES["bare_table"]["bare-table"])
"""Names of tables without a header, of which this is one with two columns."""


def _first_line(
    head: bytes, line: re.Pattern[bytes], start: re.Pattern[bytes]
) -> re.Match[bytes] | bool | None:
    """The first line as `line` matches it, else False; None while more of it may come."""
    text, end, _ = head.partition(b"\n")
    if not end:
        return None if start.fullmatch(text) else False
    return line.fullmatch(text) or False


# --- TorchRL --------------------------------------------------------------------------------------


class TorchRlCsvParser(NumberRowsParser):
    """Reads steps and values."""

    _unreadable = "not a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(2, {"": 1}, step=0), False


def torchrl_tag(path: str) -> str:
    """The tag of a file: its path below `scalars`, without its end.

    Elsewhere a script's own file is named after a reward, or is one of a training; else "".
    """
    _, folder, tag = path.rpartition(_SCALARS_FOLDER)
    if folder:
        return tag.removesuffix(".csv")
    is_log = _LOG_NAME.search(PurePath(path).name)
    return metric_names.reward_of_file(path) or ("column 2" if is_log else "")


def claims_torchrl(_name: str, head: bytes) -> bool | None:
    """Whether the first line is a step and a value."""
    found = _first_line(head, _TORCHRL_LINE, _TORCHRL_START)
    return found if found is None else bool(found)


# --- d3rlpy ---------------------------------------------------------------------------------------


class D3rlpyCsvParser(NumberRowsParser):
    """Reads epochs, which it leaves out, steps and values."""

    _unreadable = "not an epoch, a step and a value"

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(3, {"": 2}, step=1), False


def d3rlpy_tag(path: str) -> str:
    """The metric that a file is named after."""
    return PurePath(path).stem


def claims_d3rlpy(_name: str, head: bytes) -> bool | None:
    """Whether the first line is an epoch, a step no smaller than that, and a value."""
    found = _first_line(head, _D3RLPY_LINE, _D3RLPY_START)
    return int(found[1]) <= int(found[2]) if isinstance(found, re.Match) else found


FORMATS = (
    Format(
        name="d3rlpy-csv",
        claims=claims_d3rlpy,
        claim_order=48,
        precedence=55,
        parser=D3rlpyCsvParser,
        by_lines=True,
        chained=True,
        tag_of_path=d3rlpy_tag,
    ),
    Format(
        name="torchrl-csv",
        claims=claims_torchrl,
        claim_order=65,
        precedence=55,
        parser=TorchRlCsvParser,
        by_lines=True,
        chained=True,
        tag_of_path=torchrl_tag,
    ),
)
