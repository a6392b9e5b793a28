"""Tables in which a column is of one training among several, and the first one says the step."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, Points, Problem
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names.run_names import plain_run_name
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_NOTE = "training {} in this table: the column of {}"


class RunColumn(NamedTuple):
    """What a column holds: a metric of a training."""

    run: str
    tag: str


def split_cells(line: str) -> list[str]:
    """The cells of a line, at least one."""
    try:
        return next(csv.reader([line]), []) or [""]
    except csv.Error:  # a field that is too long
        return [""]


class RunColumnsParser(RowParser):
    """Reads one file; the first training is the file's own."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: Sequence[RunColumn | None] = ()
        self._runs: Sequence[str] = ()
        self._noted: set[str] = set()

    def _column_of(self, name: str) -> RunColumn | None:
        """What the column with this name holds; None if it is left out."""
        raise NotImplementedError

    def _add_line(self, segment: Segment) -> None:
        first, *cells = split_cells(segment.data.decode("utf-8", "replace").strip())
        if not self._columns:
            self._columns = [self._column_of(cell.strip().strip('"')) for cell in cells]
            self._runs = [*dict.fromkeys(each.run for each in self._columns if each)]
            return
        step, values = as_step(parse_number(first)), [parse_number(cell) for cell in cells]
        are_numbers = len(cells) == len(self._columns) and all(
            value is not None or not cell.strip() for value, cell in zip(values, cells, strict=True)
        )
        if step is None or not are_numbers:
            self._problems.append(Problem(segment.offset, "not a row of numbers"))
            return
        for place, (column, value) in enumerate(zip(self._columns, values, strict=True)):
            if column is not None and value is not None:
                self._builder.add_point(str(place), step, UNKNOWN_TIME, value)

    def _pop_batch(self) -> Batch:
        batch = super()._pop_batch()
        found: dict[str, list[Points]] = {run: [] for run in self._runs}
        for each in batch.points:
            column = self._columns[int(each.tag)]
            if column is not None:
                points = Points(column.tag, each.steps, each.times, each.values)
                found[column.run].append(points)
        first, *others = self._runs or ("",)
        batch.points = found.get(first, [])
        batch.interleaved = True
        for number, run in enumerate(others, 2):
            if found[run]:
                batch.rest.append(self._batch_of(run, number, found[run]))
        return batch

    def _batch_of(self, run: str, number: int, points: list[Points]) -> Batch:
        notes = [] if run in self._noted else [_NOTE.format(number, run)]
        self._noted.add(run)
        batch = Batch(points, stored_run=self._stored_name(run, number), notes=notes)
        batch.interleaved = True
        return batch

    def _stored_name(self, run: str, number: int) -> str:
        """A name for a path, of this training alone."""
        plain = [plain_run_name(each) for each in self._runs]
        own = plain[self._runs.index(run)]
        return own if plain.count(own) == 1 else f"{own}-{number}"
