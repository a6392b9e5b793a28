"""A table without a header, as `csv.writer.writerow([episode, reward, steps])` leaves it.

The first column counts. The second one is what the file's name says, if that is a reward; the
others are named by their place, for a line of `[tags]`. A column of unix seconds is the time. Of
columns between blanks, as many scripts write them in any order, that is said only of two. The index
of a frame of pandas counts its rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ppo_top.model import Batch
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.tables.number_rows import MOST_COLUMNS, NumberRowsParser, Places
from ppo_top.parsers.shared.tables.table_header import find_delimiter
from ppo_top.parsers.shared.tables.table_runs import TableRuns
from ppo_top.parsers.shared.text.number_text import parse_number

_START = re.compile(rb"\s*+(?:[\d,][\s\d.,;+\-einfaEINFA]*+)?")
"""Of a first line of numbers that is not whole yet."""
_FEWEST_LINES = 3
_FEWEST_COLUMNS = 2


class BareTableParser(NumberRowsParser):
    """Reads one file; the tag of the second column is empty: the file's name says it."""

    def __init__(self) -> None:
        super().__init__()
        self._runs = TableRuns()
        self._is_frame = False

    def _columns_of(self, steps: Sequence[int]) -> ColumnBuilder:
        if any(after <= before for before, after in pairwise(steps)):
            raise ValueError("another training may begin within these rows")
        self._runs.begin_where_episodes_do(steps[0])
        run = self._runs.current
        run.note_block(len(steps), steps[-1])
        return run.columns

    def _pop_batch(self) -> Batch:
        return self._runs.pop_all(super()._pop_batch(), counts_rows=self._is_frame)

    def _split(self, line: bytes) -> list[str]:
        if self._places is None:
            self._delimiter = _delimiter_of(line.decode("utf-8", "replace"))
        return super()._split(line)

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        if _are_pandas_names(cells):
            self._is_frame = True
            return self._read_places(["0"] * len(cells))[0], True
        times = (parse_unix_time(parse_number(cell)) for cell in cells)
        time = next((place for place, each in enumerate(times) if each == each), None)
        is_named = self._delimiter is not None or len(cells) == _FEWEST_COLUMNS
        if any(map(_is_negative, cells[2:])) and cells[1].strip().isdigit():
            is_named = False
        values = {
            "" if place == 1 and is_named else _name(place + 1): place
            for place in range(1, len(cells))
        }
        return Places(len(cells), values, step=0, time=time), False


def _name(place: int) -> str:
    return f"column {place}"


def _is_negative(cell: str) -> bool:
    """Whether it is a reward rather than the length before it: `0,870,-20.0`."""
    return cell.lstrip().startswith("-")


def _are_pandas_names(cells: Sequence[str]) -> bool:
    """`,0,1`: a frame without names of its own."""
    numbered = [str(place) for place in range(len(cells) - 1)]
    return (
        len(cells) > 1 and not cells[0].strip() and [each.strip() for each in cells[1:]] == numbered
    )


def _delimiter_of(line: str) -> str | None:
    """What stands between the numbers; None: blanks."""
    found = find_delimiter(line)
    return found if found in line else None


def _numbers_of(line: bytes) -> Sequence[float]:
    """The numbers of a line; none if a cell is anything else."""
    text = line.decode("ascii", "replace").strip()
    found = [parse_number(cell.strip()) for cell in text.split(_delimiter_of(text))]
    return [each for each in found if each is not None] if None not in found else ()


def tag_of(path: str) -> str:
    """The file's name without its end, if that is the name of a reward; else the column's."""
    return metric_names.reward_of_file(path) or _name(_FEWEST_COLUMNS)


def claims(name: str, head: bytes) -> bool | None:
    """Whether the first lines are as many numbers each, the first of which counts from 0 or 1.

    A file that is named after a reward may count steps, from any one on. Runs may follow
    each other.
    """
    lines = [line for line in head.split(b"\n")[:-1] if line.strip()]
    if not lines and not _START.fullmatch(head):
        return False
    if lines and _are_pandas_names(lines[0].decode("ascii", "replace").split(",")):
        lines = lines[1:]
    rows = [_numbers_of(line) for line in lines]
    if not all(_FEWEST_COLUMNS <= len(row) == len(rows[0]) <= MOST_COLUMNS for row in rows):
        return False
    counts = [row[0] for row in rows]
    rises = all(
        0 < after - before == after // 1 - before or before > after == counts[0]
        for before, after in pairwise(counts)
    )
    if not rises or (
        counts and counts[0] not in (0.0, 1.0) and not metric_names.reward_of_file(name)
    ):
        return False
    return True if len(rows) >= _FEWEST_LINES else None if len(head) < HEAD_BYTES else False


FORMAT = Format(
    name="bare-table",
    claims=claims,
    claim_order=75,
    precedence=45,
    parser=BareTableParser,
    by_lines=True,
    rewritten=True,
    tag_of_path=tag_of,
)
