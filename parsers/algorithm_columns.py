"""A table with the rewards of several algorithms side by side, a column each: `rewards.csv`.

    Episode,DQN,PER-DDQN
    0,-965.1,-6230.0
    1,-1026.2,-5908.0

Each column is a training of its own; an algorithm that has fewer episodes leaves its cells empty.
"""

from __future__ import annotations

from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.run_columns import RunColumn, RunColumnsParser
from ppo_top.parsers.shared.tables.table_header import are_names, column_names, is_stepped

_TAG = "rewards"
"""Of each of them: what is called alike and differs is not of one run."""
_FEWEST_ALGORITHMS = 2
_STATISTICS = frozenset(
    {"mean", "avg", "average", "median", "std", "var", "min", "max", "lower", "upper", "loss"}
)
"""Of an algorithm's rewards, or of something else: such a column is no training."""


class AlgorithmColumnsParser(RunColumnsParser):
    """Reads the rewards of each algorithm."""

    def _column_of(self, name: str) -> RunColumn:
        return RunColumn(name, _TAG)


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
