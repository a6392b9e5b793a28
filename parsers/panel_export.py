"""What W&B's panels are exported as: a metric of several runs, a column each, and its range.

    "Step","sac-1 - eval/return","sac-1 - eval/return__MIN","sac-1 - eval/return__MAX"
    "1000","21.5","21.5","21.5"

A column of a group of runs is named `Group: sac - eval/return`.
"""

from __future__ import annotations

from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.counter_names import may_count
from ppo_top.parsers.shared.tables.run_columns import RunColumn, RunColumnsParser, split_cells
from ppo_top.parsers.shared.tables.table_header import is_stepped

_BETWEEN = " - "
_RANGE_ENDS = ("__MIN", "__MAX")


class PanelExportParser(RunColumnsParser):
    """Reads the metrics of each run, without their ranges and W&B's own counts."""

    def _column_of(self, name: str) -> RunColumn | None:
        run, between, metric = name.rpartition(_BETWEEN)
        if not between or metric.startswith("_") or metric.endswith(_RANGE_ENDS):
            return None
        return RunColumn(run, metric)


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the header has a step, and columns of runs with a range each."""
    line, end, _ = head.decode("utf-8", "replace").partition("\n")
    if not end and len(head) < HEAD_BYTES:
        return None if line.startswith('"') or not line else False
    step, *names = split_cells(line if end else line.rpartition(",")[0])
    columns = [name.removesuffix("__MIN").removesuffix("__MAX") for name in names]
    are_runs = bool(columns) and all(_BETWEEN in each for each in columns)
    if not (are_runs and columns != names and (is_stepped([step]) or may_count(step))):
        return False
    return any(metric_names.is_metric(each.rpartition(_BETWEEN)[2]) for each in columns)


FORMAT = Format(
    name="panel-export",
    claims=claims,
    claim_order=50,
    precedence=50,
    parser=PanelExportParser,
    by_lines=True,
    rewritten=True,
)
