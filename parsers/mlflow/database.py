"""MLflow's database: tables of runs, metrics and params (mlflow/store/tracking/dbmodels)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ppo_top.model import Batch, ConfigValue, Problem, RunEnd
from ppo_top.parsers.mlflow.values import (
    SYSTEM_TAG_PREFIX,
    MetricSteps,
    restored_infinity,
    run_end,
    setting_of,
)
from ppo_top.parsers.shared.columns import ColumnBuilder, MachineColumns
from ppo_top.parsers.shared.stores.database_store import DatabaseStore, decode_text
from ppo_top.parsers.shared.stores.sqlite_snapshot import SqliteRow, table_columns

_METRICS = (
    "SELECT rowid, run_uuid, key, value, timestamp, step, is_nan FROM metrics "
    "WHERE rowid > ? ORDER BY rowid LIMIT ?"
)
_NEEDED_COLUMNS = {
    "metrics": {"run_uuid", "key", "value", "timestamp", "step", "is_nan"},
    "runs": {"run_uuid", "name", "status", "lifecycle_stage"},
    "params": {"run_uuid", "key", "value"},
}


class MlflowDatabase(DatabaseStore):
    """Follows the runs of all experiments in one database; deleted runs are left out."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._steps: dict[tuple[str, str], MetricSteps] = defaultdict(MetricSteps)
        self._statuses: dict[str, RunEnd | None] = {}
        self._settings: dict[str, dict[str, ConfigValue]] = {}

    def _read_rows(self, limit: int) -> None:
        """Read points, and once there are no more of them what else is said of the runs."""
        if not self._snapshot.mentions(b"run_uuid"):
            return
        self._snapshot.refresh()
        for table, columns in _NEEDED_COLUMNS.items():
            if not columns <= table_columns(self._snapshot, table):
                return
        runs = self._read_runs()
        rows = self._rows_after(self._last_rowid, _METRICS, limit)
        by_run: dict[str, list[SqliteRow]] = defaultdict(list)
        for row in rows:
            by_run[decode_text(row[1])].append(row)
        for run, those in by_run.items():
            if run in runs:
                name = self._run_name(run, runs[run][0])
                self._add_pending(self._batch(run, name, those))
        self._last_rowid = max((row[0] for row in rows), default=self._last_rowid)
        if not self._pending:
            self._read_settings()
            self._read_ends(runs)

    def _read_runs(self) -> dict[str, tuple[str, str]]:
        """Name and status of every run that is not deleted, by id."""
        rows = self._snapshot.rows("SELECT run_uuid, name, status, lifecycle_stage FROM runs")
        return {
            decode_text(run): (decode_text(name or ""), decode_text(status))
            for run, name, status, stage in rows
            if decode_text(stage) != "deleted"
        }

    def _batch(self, run: str, name: str, rows: Iterable[SqliteRow]) -> Batch:
        builder, machine, problems = ColumnBuilder(), MachineColumns(), []
        for rowid, _, key, value, time, step, is_nan in rows:
            if not (isinstance(value, float | int) and (time is None or isinstance(time, int))):
                problems.append(Problem(rowid, f"row {rowid} is unreadable"))
                continue
            tag = decode_text(key)
            if tag.startswith(SYSTEM_TAG_PREFIX):
                machine.add_sample(tag, (time or 0) / 1000, float(value))
                continue
            at = self._steps[run, tag].step_of(step if isinstance(step, int) else 0)
            number = math.nan if is_nan else restored_infinity(float(value))
            builder.add_point(tag, at, math.nan if time is None else time / 1000, number)
        points = builder.pop_points()
        counts = bool(points) and all(self._steps[run, each.tag].are_counted for each in points)
        found = Batch(points, problems=problems, stored_run=name, counts_updates=counts)
        found.machine = machine.pop_points()
        return found

    def _read_settings(self) -> None:
        """The parameters of each run, where there are new ones."""
        found: dict[str, dict[str, ConfigValue]] = defaultdict(dict)
        for run, key, value in self._snapshot.rows("SELECT run_uuid, key, value FROM params"):
            found[decode_text(run)][decode_text(key)] = setting_of(decode_text(value))
        for run, settings in found.items():
            if run in self._names and settings != self._settings.get(run):
                self._settings[run] = settings
                self._add_pending(Batch(config=dict(settings), stored_run=self._names[run]))

    def _read_ends(self, runs: dict[str, tuple[str, str]]) -> None:
        for run, (_, status) in runs.items():
            end = run_end(status)
            if run in self._names and end != self._statuses.get(run):
                self._statuses[run] = end
                self._add_pending(Batch(ended=end, stored_run=self._names[run]))
