"""Tables in which a column is of one training among several, and the first one says the step.

The rewards of several algorithms side by side; one that has fewer episodes leaves cells empty:

    Episode,DQN,PER-DDQN
    0,-965.1,-6230.0

What W&B's panels are exported as: a metric of several runs, each with its range; a column of a
group of runs is named `Group: sac - eval/return`:

    "Step","sac-1 - eval/return","sac-1 - eval/return__MIN","sac-1 - eval/return__MAX"
    "1000","21.5","21.5","21.5"
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, Points, Problem
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.counter_names import may_count
from ppo_top.parsers.shared.names.run_names import plain_run_name
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.tables.table_header import are_names, column_names, is_stepped
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_NOTE = "training {} in this table: the column of {}"
_TAG = "rewards"
"""Of each of them: what is called alike and differs is not of one run."""
_FEWEST_ALGORITHMS = 2
_STATISTICS = frozenset(
    {"mean", "avg", "average", "median", "std", "var", "min", "max", "lower", "upper", "loss"}
)
"""Of an algorithm's rewards, or of something else: such a column is no training."""
_BETWEEN = " - "
_RANGE_ENDS = ("__MIN", "__MAX")


class RunColumn(NamedTuple):
    """What a column holds: a metric of a training."""

    run: str
    tag: str


def _split_cells(line: str) -> list[str]:
    """The cells of a line, at least one."""
    try:
        return next(csv.reader([line]), []) or [""]
    except csv.Error:  # a field that is too long
        return [""]


class RunColumnsParser(RowParser):
    """Reads one file; the first training is the file's own.

    `column_of` says what the column with a name holds; None if it is left out.
    """

    def __init__(self, column_of: Callable[[str], RunColumn | None]) -> None:
        super().__init__()
        self._column_of = column_of
        self._columns: Sequence[RunColumn | None] = ()
        self._step_name = ""
        self._runs: Sequence[str] = ()
        self._noted: set[str] = set()

    def _add_line(self, segment: Segment) -> None:
        first, *cells = _split_cells(segment.data.decode("utf-8", "replace").strip())
        if not self._columns:
            self._step_name = first.strip().strip('"')
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
                if not found[column.run] and metric_names.numbers_steps(self._step_name):
                    numbers = array("d", each.steps)
                    found[column.run].append(
                        Points(self._step_name, each.steps, each.times, numbers)
                    )
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


# --- algorithms -----------------------------------------------------------------------------------


def algorithms_parser() -> RunColumnsParser:
    """Reads the rewards of each algorithm."""
    return RunColumnsParser(lambda algorithm: RunColumn(algorithm, _TAG))


def _is_algorithm(column: str) -> bool:
    names_it = metric_names.names_algorithm(column) and not metric_names.is_reward(column)
    return names_it and _STATISTICS.isdisjoint(metric_names.split_words(column))


def claims_algorithms(name: str, head: bytes) -> bool | None:
    """Whether a file of rewards has a column for the step, and one for each algorithm."""
    if not metric_names.reward_of_file(name):
        return False
    columns = column_names(head)
    if columns is None:
        return None
    step, *algorithms = columns
    return (
        b"," in head.partition(b"\n")[0]
        and are_names(columns)
        and is_stepped([step])
        and len({*algorithms}) == len(algorithms) >= _FEWEST_ALGORITHMS
        and all(map(_is_algorithm, algorithms))
    )


# --- panels ---------------------------------------------------------------------------------------


def panel_parser() -> RunColumnsParser:
    """Reads the metrics of each run."""
    return RunColumnsParser(_panel_column)


def _panel_column(name: str) -> RunColumn | None:
    """The metric of a run; no end of its range, and none of W&B's own counts."""
    run, between, metric = name.rpartition(_BETWEEN)
    if not between or metric.startswith("_") or metric.endswith(_RANGE_ENDS):
        return None
    return RunColumn(run, metric)


def claims_panel(_name: str, head: bytes) -> bool | None:
    """Whether the header has a step, and columns of runs with a range each."""
    line, end, _ = head.decode("utf-8", "replace").partition("\n")
    if not end and len(head) < HEAD_BYTES:
        return None if line.startswith('"') or not line else False
    step, *names = _split_cells(line if end else line.rpartition(",")[0])
    columns = [name.removesuffix("__MIN").removesuffix("__MAX") for name in names]
    are_runs = bool(columns) and all(_BETWEEN in each for each in columns)
    if not (are_runs and columns != names and (is_stepped([step]) or may_count(step))):
        return False
    return any(_is_of_training(each.rpartition(_BETWEEN)[2]) for each in columns)


def _is_of_training(metric: str) -> bool:
    """Whether a name is that of a metric, or says something of episodes: `train/episode_len`."""
    return metric_names.is_metric(metric) or "episode" in metric_names.split_words(metric)


FORMATS = (
    Format(
        name="algorithm-columns",
        claims=claims_algorithms,
        claim_order=55,
        precedence=50,
        parser=algorithms_parser,
        by_lines=True,
        rewritten=True,
    ),
    Format(
        name="panel-export",
        claims=claims_panel,
        claim_order=50,
        precedence=50,
        parser=panel_parser,
        by_lines=True,
        rewritten=True,
    ),
)
