"""The trainings of one table: columns hold the seed, agent or name of each row's training.

Without such columns, another one begins where episodes do, after a round number of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model import Batch, ConfigValue
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.names.metric_names import normalise, numbers_training
from ppo_top.parsers.shared.names.run_names import plain_run_name
from ppo_top.parsers.shared.tables.outer_columns import OuterColumns, text_of
from ppo_top.parsers.shared.text.number_text import is_round, is_start, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_WORD_COLUMNS = frozenset({"agent", "algo", "algorithm", "method", "policy"})
"""Columns of names; a number in them, but for an id, is something else, as a policy's loss."""
_SUFFIX = lazy_pattern(r"(id|name|number|no)$")
_COUNTERS = frozenset({"episode", "episodes", "iteration", "update", "epoch"})
"""Columns beside the step that may count on where the seed changes."""
_MAX_RUNS = 1000
_ANEW = "training {} in this table: the one before has a round {} episodes, and they begin anew"
_NOTE = "training {} in this table: another {} ({})"


def _without_suffix(name: str) -> str:
    """`run` of `runid`, but `pid` as it is."""
    return name if numbers_training(name) else _SUFFIX.sub("", name)


class TableRun:
    """Points of one training; `count` and `step` are those of its last row."""

    def __init__(self, name: str, settings: dict[str, ConfigValue], note: str = "") -> None:
        self.name = name
        self.notes = [note] if note else []
        self.columns = ColumnBuilder()
        self.count = 0
        self.step = 0
        self.first: int | None = None
        """The first episode, where rows are episodes."""
        self.settings = settings

    def note_row(self, step: int | None, *, is_counted: bool) -> None:
        """Note the step of a row, which may be its number."""
        self.count += 1
        if is_counted:
            step = self.count
        self.step = (self.step or self.count) if step is None else step

    def note_block(self, rows: int, last: int) -> None:
        """Note the step of the last of several rows."""
        self.count += rows
        self.step = last

    def pop_batch(self) -> Batch:
        """Everything since the last call."""
        settings, self.settings = self.settings, {}
        notes, self.notes = self.notes, []
        return Batch(self.columns.pop_points(), settings, notes=notes, stored_run=self.name)


RunCells = tuple[float | str, ...]
"""What stands in the columns that name trainings."""


class TableRuns:
    """Knows to which training a row belongs (`current`).

    Another one takes evidence of two kinds: a cell differs, and the steps begin anew. A new seed
    in each episode of one training, or a `run` that counts episodes, is none.
    """

    def __init__(self) -> None:
        self.current = TableRun("", {})
        self.columns: Sequence[int] = ()
        self.counter: int | None = None
        self.last_count: float | None = None
        """The value in the column `counter` of the row before, also of one read in a block."""
        self._names: list[str] = []
        self._ids: set[str] = set()
        """Names of columns that hold numbers of trainings, as `agent_id` does."""
        self._cells: RunCells = ()
        self._first_step: int | None = None
        self._by_cells: dict[RunCells, TableRun] = {}
        self._touched = [self.current]
        self._is_interleaved = False
        self._outer = OuterColumns((), None)
        self._steps_before = 0
        """The steps of the laps that are over, of one training."""
        self._number = 1
        self._names_taken: set[str] = set()

    def read_header(self, names: Sequence[str], step: int | None) -> None:
        """Look for the columns that name trainings; without steps nothing begins anew."""
        if step is None:
            return
        plain = [_without_suffix(normalise(name)) for name in names]
        named = [(at, name) for at, name in enumerate(plain) if at != step]
        words = [(at, name) for at, name in named if name in _WORD_COLUMNS]
        found = [*words, *[(at, name) for at, name in named if numbers_training(name)][:1]]
        self.columns, self._names = [at for at, _ in found], [name for _, name in found]
        self._ids = {name for at, name in found if normalise(names[at]) == f"{name}id"}
        self._outer = OuterColumns(names, None if found else step)
        for index, name in enumerate(names):
            if index != step and normalise(name) in _COUNTERS:
                self.counter = index
                return

    @property
    def has_laps(self) -> bool:
        """Whether columns left of the step may tell one lap of it from the next."""
        return bool(self._outer) and not self.columns

    def count_on(self, cells: Sequence[str], step: int) -> int | None:
        """The step of a row in all laps of its training; None where no column tells of laps.

        A column may tell that the row is the first of another training: see `columns`.
        """
        if not self.has_laps:
            return None
        lap = self._outer.read_row(cells, step)
        if lap is None:
            return self._steps_before + step if self._steps_before else None
        if lap.counts_on:
            self._steps_before = self.current.step + (self._outer.first_step == 0)
            return self._steps_before + step
        self.columns, self._names = [lap.column], [self._outer.name_of(lap.column)]
        self._begin(self._cells_of([lap.before]), [lap.before], self._outer.first_step)
        return step

    def stays_in_lap(self, columns: Sequence[Sequence[object]], steps: Sequence[int]) -> bool:
        """Whether a block of rows is of the lap of the row before, and its steps are its own."""
        if not self.has_laps:
            return True
        return not self._steps_before and self._outer.stays(columns, steps)

    def turn_to(self, texts: Sequence[str], step: int | None, count: float | None = None) -> None:
        """Turn to the training of a row, by its cells in the columns and its step.

        `count`: the row's value in the column `counter`.
        """
        last, self.last_count = self.last_count, count
        if self._by_cells and last is not None and count == last + 1:
            return
        cells = self._cells_of(texts)
        if step is None or cells == self._cells or "" in cells:
            return
        known = self._by_cells.get(cells)
        if known not in (None, self.current) and step < known.step and self._begins(step):
            known = None  # the same seed again, with other settings
        is_first = not self._by_cells or self._begins(step)
        if known is None and (is_first or self._names_anew(cells)):
            known = self._begin(cells, texts, step)
        if known is None or (known is not self.current and step < known.step):
            return
        self._cells = cells
        if known is not self.current:
            self._is_interleaved = self._is_interleaved or known.count > 0
            self.current = known
            self._touched = [*(run for run in self._touched if run is not known), known]

    def begin_where_episodes_do(self, episode: int) -> None:
        """Begin another training where the number of a row's episode is the first one again.

        Each episode had a row, and their number is round: a training that crashed, or of which only
        every tenth episode is logged, goes on.
        """
        run = self.current
        if run.first is None:
            run.first = episode
        has_each = run.step - run.first + 1 == run.count
        if episode <= run.first < run.step and has_each and is_round(run.count):
            self._number += 1
            if self._number <= _MAX_RUNS:
                note = _ANEW.format(self._number, run.count)
                self.current = TableRun(str(self._number), {}, note)
                self.current.first = episode
                self._touched.append(self.current)

    def goes_on(self, columns: Sequence[Sequence[object]]) -> bool:
        """Whether all rows of a block belong to the training of the row before it.

        `columns`: the cells of its rows, for each of the columns that name trainings.
        """
        same = self._cells_of([text_of(column[0]) for column in columns]) == self._cells
        return same and all(column.count(column[0]) == len(column) for column in columns)

    def _cells_of(self, texts: Sequence[str]) -> RunCells:
        cells: list[float | str] = []
        for name, text in zip(self._names, texts, strict=True):
            number = parse_number(text)
            is_other = number is not None and name in _WORD_COLUMNS - self._ids
            cells.append(0.0 if is_other else text.strip() if number is None else number)
        return tuple(cells)

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
        for batch in (first, *rest):
            batch.counts_updates = bool(batch.points) and counts_rows
        first.rest = rest
        (first, *rest)[-1].ended = file.ended
        return first

    def _begins(self, step: int) -> bool:
        """Whether a step is a first one."""
        first = self._first_step if self._first_step is not None else step
        last = self.current.step
        return step <= last and is_start(step, first, last)

    def _names_anew(self, cells: RunCells) -> bool:
        """Whether a row has a new name, of an algorithm say, where such names told two apart.

        Rows of baselines at the first step stand before those of an algorithm, which go on there.
        """
        is_new = cells not in self._by_cells and len(self._by_cells) > 1
        return (
            is_new and self._ids.isdisjoint(self._names) and _WORD_COLUMNS.issuperset(self._names)
        )

    def _begin(self, cells: RunCells, texts: Sequence[str], step: int) -> TableRun:
        said = dict(zip(self._names, cells, strict=True))
        settings: dict[str, ConfigValue] = {"seed": said["seed"]} if "seed" in said else {}
        if not self._by_cells:
            run, self._first_step = self.current, step
            run.settings = settings
        elif len(self._names_taken) + 1 >= _MAX_RUNS:
            return self.current
        else:
            what, which = " and ".join(self._names), ", ".join(text.strip() for text in texts)
            note = _NOTE.format(len(self._names_taken) + 2, what, which)
            if self._begins(step):
                note += ", and steps begin anew"
            run = TableRun(self._free_name(texts), settings, note)
        self._by_cells[cells] = run
        return run

    def _free_name(self, texts: Sequence[str]) -> str:
        """`seed-7`; with a number where other cells have the same name in a path."""
        parts = zip(self._names, texts, strict=True)
        name = plain_run_name("-".join(f"{name}-{text.strip()}" for name, text in parts))
        if name in self._names_taken:
            name = f"{name}-{len(self._names_taken) + 2}"
        self._names_taken.add(name)
        return name
