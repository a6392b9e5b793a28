"""The common part of parsers of files that hold rows of numbers only, each at its place.

What a row does not say stands in the file's path or name: the tag of its value is empty then.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from ppo_top.model import UNKNOWN_TIME, Problem
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.columns import ColumnBuilder, RowAxes
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.tables.plain_rows import (
    Cell,
    parse_steps,
    parse_times,
    split_columns,
)
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

MOST_COLUMNS = 30
"""Of a table without a header; a longer row is a list."""


class Places(NamedTuple):
    """Where in a row of `width` cells the step, the time and the values are (tag -> place).

    Without a step the rows are counted from 1.
    """

    width: int
    values: Mapping[str, int]
    step: int | None = None
    time: int | None = None


class NumberRowsParser(RowParser):
    """Reads one file; `_places` is known once `_read_places` has seen its first line."""

    _delimiter: str | None = ","
    """None: blanks."""
    _unreadable = "not a row of numbers"
    """What is said of a line that is none."""

    def __init__(self) -> None:
        super().__init__()
        self._places: Places | None = None
        self._count = 0

    @property
    def _counts_rows(self) -> bool:
        return self._places is not None and self._places.step is None

    @property
    def _expects_row(self) -> bool:
        return self._places is not None

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        """Where numbers are, by the first line, and whether that is a heading."""
        raise NotImplementedError

    def _split(self, line: bytes) -> list[str]:
        """The cells of a line."""
        return line.decode("utf-8", "replace").strip("\r\n").split(self._delimiter)

    def _add_line(self, segment: Segment) -> None:
        cells = self._split(segment.data)
        if self._places is None:
            if not segment.data.strip():
                return
            self._places, is_heading = self._read_places(cells)
            if is_heading:
                return
        places = self._places
        numbers = [parse_number(cell) for cell in cells]
        found = {tag: numbers[at] for tag, at in places.values.items() if at < len(numbers)}
        step = self._step_of(numbers)
        if len(numbers) != places.width or step is None or None in found.values():
            self._problems.append(Problem(segment.offset, self._unreadable))
            return
        self._count += 1
        time = UNKNOWN_TIME if places.time is None else parse_unix_time(numbers[places.time])
        columns = self._columns_of([step])
        for tag, value in found.items():
            if value is not None:
                columns.add_point(tag, step, time, value)

    def _columns_of(self, steps: Sequence[int]) -> ColumnBuilder:
        """What the points of the next rows are added to; raises `ValueError` if not all to one."""
        return self._builder

    def _step_of(self, numbers: Sequence[float | None]) -> int | None:
        assert self._places is not None
        if self._places.step is None:
            return self._count + 1
        value = numbers[self._places.step] if self._places.step < len(numbers) else None
        return None if value is None else as_step(value)

    def _add_block(self, block: bytes) -> bool:
        """Add many rows at once; False if one of them is not plain."""
        places = self._places
        if places is None or self._delimiter is None:
            return False
        columns = split_columns(block, self._delimiter.encode(), places.width)
        if not columns:
            return False
        rows = len(columns[0])
        try:
            if places.step is None:
                steps = array("q", range(self._count + 1, self._count + rows + 1))
            else:
                steps = parse_steps(columns[places.step])
            times = parse_times(columns[places.time] if places.time is not None else (), rows)
            values = {tag: _floats(columns[at]) for tag, at in places.values.items()}
            builder = self._columns_of(steps)
        except (ValueError, TypeError, OverflowError):
            return False
        axes = RowAxes(steps, times)
        for tag, column in values.items():
            builder.add_cells(tag, axes, column)
        self._count += rows
        return True


def _floats(cells: Sequence[Cell]) -> list[float]:
    """The numbers of a column; raises `TypeError` or `ValueError` for anything else."""
    return list(map(float, cells))  # type: ignore[arg-type]
