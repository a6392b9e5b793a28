"""The trainings of one table: a column holds the seed, or the name, of each row's training."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.model import Batch, ConfigValue
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.names.metric_names import normalise
from ppo_top.parsers.shared.text.number_text import parse_number

_RUN_COLUMNS = frozenset({"seed", "run", "trial", "fold", "experiment"})
"""Normalised names of columns, without `id`, `name` or `number` at their end."""
_SUFFIX = re.compile(r"(id|name|number|no)$")
_COUNTERS = frozenset({"episode", "episodes", "iteration", "update", "epoch"})
"""Columns beside the step that may count on where the seed changes."""
_UNFIT = re.compile(r"[^\w.+-]+")
_MAX_NAME_CHARS = 60
_MAX_RUNS = 1000
_NOTE = "training {} in this table: another {} ({}), and steps begin anew"
_START_SHARE = 20
"""A training begins at the first step of the first one, or within this part of the last step."""


class TableRun:
    """Points of one training; `count` and `step` are those of its last row."""

    def __init__(self, name: str, settings: dict[str, ConfigValue], note: str = "") -> None:
        self.name = name
        self.notes = [note] if note else []
        self.columns = ColumnBuilder()
        self.count = 0
        self.step = 0
        self.settings = settings

    def pop_batch(self) -> Batch:
        """Everything since the last call."""
        settings, self.settings = self.settings, {}
        notes, self.notes = self.notes, []
        return Batch(self.columns.pop_points(), settings, notes=notes, stored_run=self.name)


class TableRuns:
    """Knows to which training a row belongs (`current`).

    Another one takes evidence of two kinds: the cell differs, and the steps begin anew. A new seed
    in each episode of one training, or a `run` that counts episodes, is none.
    """

    def __init__(self) -> None:
        self.current = TableRun("", {})
        self.column: int | None = None
        self.counter: int | None = None
        self.last_count: float | None = None
        """The value in the column `counter` of the row before, also of one read in a block."""
        self._name = ""
        self._cell: float | str = ""
        self._first_step: int | None = None
        self._by_cell: dict[float | str, TableRun] = {}
        self._touched = [self.current]
        self._is_interleaved = False

    def read_header(self, names: Sequence[str], step: int | None) -> None:
        """Look for the column that names trainings; without steps nothing begins anew."""
        if step is None:
            return
        for index, name in enumerate(names):
            plain = _SUFFIX.sub("", normalise(name))
            if plain in _RUN_COLUMNS and index != step:
                self.column, self._name = index, plain
                break
        for index, name in enumerate(names):
            if index != step and normalise(name) in _COUNTERS:
                self.counter = index
                return

    def turn_to(self, text: str, step: int | None, count: float | None = None) -> None:
        """Turn to the training of a row, by its cell in the column and its step.

        `count`: the row's value in the column `counter`.
        """
        last, self.last_count = self.last_count, count
        if self._by_cell and last is not None and count == last + 1:
            return
        number = parse_number(text)
        cell = text.strip() if number is None else number
        if step is None or cell == self._cell or cell == "":
            return
        known = self._by_cell.get(cell)
        if known is None and (not self._by_cell or self._begins(step)):
            known = self._begin(cell, text, step)
        if known is None or (known is not self.current and step < known.step):
            return
        self._cell = cell
        if known is not self.current:
            self._is_interleaved = self._is_interleaved or known.count > 0
            self.current = known
            self._touched = [*(run for run in self._touched if run is not known), known]

    def goes_on(self, cells: Sequence[object]) -> bool:
        """Whether all rows of a block belong to the training of the row before it."""
        first = cells[0]
        text = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
        number = parse_number(text)
        same = self._cell == (text.strip() if number is None else number)
        return same and cells.count(first) == len(cells)

    def pop_batches(self) -> list[Batch]:
        """A batch for each training that was read since the last call, the current one last."""
        batches = [run.pop_batch() for run in self._touched]
        for batch in batches:
            batch.interleaved = self._is_interleaved
        self._touched = [self.current]
        return batches

    def pop_all(self, file: Batch, *, counts_rows: bool) -> Batch:
        """What was read of each training; problems and settings of the file are the first one's."""
        first, *rest = self.pop_batches()
        first.problems, first.config = file.problems, {**file.config, **first.config}
        first.counts_updates = bool(first.points) and counts_rows
        first.rest = rest
        (first, *rest)[-1].ended = file.ended
        return first

    def _begins(self, step: int) -> bool:
        """Whether a step is a first one."""
        first = self._first_step if self._first_step is not None else step
        last = self.current.step
        return step <= last and (step <= first or step * _START_SHARE <= last)

    def _begin(self, cell: float | str, text: str, step: int) -> TableRun:
        settings: dict[str, ConfigValue] = {"seed": cell} if self._name == "seed" else {}
        if not self._by_cell:
            run, self._first_step = self.current, step
            run.settings = settings
        elif len(self._by_cell) >= _MAX_RUNS:
            return self.current
        else:
            note = _NOTE.format(len(self._by_cell) + 1, self._name, text.strip())
            run = TableRun(self._free_name(text), settings, note)
        self._by_cell[cell] = run
        return run

    def _free_name(self, text: str) -> str:
        """`seed-7`; with a number where another cell has the same name in a path."""
        name = f"{self._name}-{_UNFIT.sub('_', text.strip())}"[:_MAX_NAME_CHARS]
        taken = {run.name for run in self._by_cell.values()}
        return name if name not in taken else f"{name}-{len(taken) + 1}"
