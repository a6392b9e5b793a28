"""A table with the rewards of several algorithms side by side, a column each: `rewards.csv`.

    Episode,DQN,PER-DDQN
    0,-965.1,-6230.0
    1,-1026.2,-5908.0

Each column is a training of its own; an algorithm that has fewer episodes leaves its cells empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, Points, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.run_names import plain_run_name
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.tables.table_header import are_names, column_names, is_stepped
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_TAG = "rewards"
"""Of each of them: what is called alike and differs is not of one run."""
_FEWEST_ALGORITHMS = 2
_STATISTICS = frozenset(
    {"mean", "avg", "average", "median", "std", "var", "min", "max", "lower", "upper", "loss"}
)
"""Of an algorithm's rewards, or of something else: such a column is no training."""
_NOTE = "training {} in this table: the column of {}"


class AlgorithmColumnsParser(RowParser):
    """Reads one file; the first algorithm is the file's own training."""

    def __init__(self) -> None:
        super().__init__()
        self._algorithms: Sequence[str] = ()
        self._noted: set[str] = set()

    def _add_line(self, segment: Segment) -> None:
        first, *cells = segment.data.decode("utf-8", "replace").strip().split(",")
        if not self._algorithms:
            self._algorithms = [cell.strip().strip('"') for cell in cells]
            return
        step, values = as_step(parse_number(first)), [parse_number(cell) for cell in cells]
        are_numbers = len(cells) == len(self._algorithms) and all(
            value is not None or not cell.strip() for value, cell in zip(values, cells, strict=True)
        )
        if step is None or not are_numbers:
            self._problems.append(Problem(segment.offset, "not a row of numbers"))
            return
        for name, value in zip(self._algorithms, values, strict=True):
            if value is not None:
                self._builder.add_point(name, step, UNKNOWN_TIME, value)

    def _pop_batch(self) -> Batch:
        batch = super()._pop_batch()
        columns = {
            each.tag: Points(_TAG, each.steps, each.times, each.values) for each in batch.points
        }
        first, *others = self._algorithms or ("",)
        batch.points = [columns[first]] if first in columns else []
        batch.interleaved = True
        for number, name in enumerate(others, 2):
            if (points := columns.get(name)) is not None:
                batch.rest.append(self._batch_of(name, number, points))
        return batch

    def _batch_of(self, name: str, number: int, points: Points) -> Batch:
        notes = [] if name in self._noted else [_NOTE.format(number, name)]
        self._noted.add(name)
        batch = Batch([points], stored_run=self._run_of(name, number), notes=notes)
        batch.interleaved = True
        return batch

    def _run_of(self, name: str, number: int) -> str:
        """A name for a path, of this column alone."""
        plain = [plain_run_name(each) for each in self._algorithms]
        own = plain[self._algorithms.index(name)]
        return own if plain.count(own) == 1 else f"{own}-{number}"


def _is_algorithm(column: str) -> bool:
    names_it = metric_names.names_algorithm(column) and not metric_names.is_reward(column)
    return names_it and _STATISTICS.isdisjoint(metric_names.split_words(column))


def claims(name: str, head: bytes) -> bool | None:
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


FORMAT = Format(
    name="algorithm-columns",
    claims=claims,
    claim_order=55,
    precedence=50,
    parser=AlgorithmColumnsParser,
    by_lines=True,
    rewritten=True,
)
