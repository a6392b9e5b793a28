"""Trackio's database (`<project>.db`), which holds all runs of a project, and its inbox.

The inbox is JSON lines, for file systems that cannot lock. A row of either is one call of
`trackio.log`; its step is `train/global_step` where it has one (Hugging Face trainers), else
Trackio's own counter. Rows are sent in bundles that share one time. System metrics have rows of
their own, without a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ppo_top.model import Batch, ConfigValue, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import ColumnBuilder, MachineColumns
from ppo_top.parsers.shared.documents.json_values import (
    as_float,
    numbers_of,
    parse_json,
    settings_of,
)
from ppo_top.parsers.shared.stores.database_store import DatabaseStore, decode_text
from ppo_top.parsers.shared.stores.magic import claims_by_magic
from ppo_top.parsers.shared.stores.sqlite_snapshot import (
    SQLITE_MAGIC,
    SqliteRow,
    table_columns,
)
from ppo_top.parsers.shared.stores.timestamps import parse_iso_time
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import as_step

_GLOBAL_STEPS = ("train/global_step", "global_step")
_ROW_COLUMNS = "rowid, timestamp, run_name, {run_id}, step, metrics"


class TrackioStore(DatabaseStore):
    """Follows one project's database, which may hold several runs."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._configs: dict[str, bytes] = {}
        self._last_system_rowid = 0

    def _read_rows(self, limit: int) -> None:
        """Read rows until some hold points; other programs' databases are ignored."""
        if not self._snapshot.mentions(b"run_name"):
            return
        self._snapshot.refresh()
        known = table_columns(self._snapshot, "metrics")
        if not {"timestamp", "run_name", "step", "metrics"} <= known:
            return
        run_id = "run_id" if "run_id" in known else "run_name"
        if self._read_system_metrics(run_id, limit):
            return  # there may be more of them, which belong before the next rows
        query = f"SELECT {_ROW_COLUMNS.format(run_id=run_id)} FROM metrics WHERE rowid > ? ORDER BY rowid LIMIT ?"  # fmt: skip # noqa: E501
        while True:
            rows = self._rows_after(self._last_rowid, query, limit)
            for run, group in groupby(rows, key=lambda row: decode_text(row[3])):
                self._add_pending(self._batch(run, list(group)))
            self._last_rowid = max((row[0] for row in rows), default=self._last_rowid)
            if len(rows) < limit or any(batch.points for batch in self._pending):
                break
        self._read_settings(run_id)

    def _read_system_metrics(self, run_id: str, limit: int) -> bool:
        """Read rows about the machine; True if there may be more of them."""
        if not {"timestamp", run_id, "metrics"} <= table_columns(self._snapshot, "system_metrics"):
            return False
        query = f"SELECT rowid, timestamp, run_name, {run_id}, metrics FROM system_metrics WHERE rowid > ? ORDER BY rowid LIMIT ?"  # fmt: skip # noqa: E501
        rows = self._rows_after(self._last_system_rowid, query, limit)
        for run, group in groupby(rows, key=lambda row: decode_text(row[3])):
            machine = MachineColumns()
            for _, stamp, name, _, metrics in group:
                part = self._run_name(run, decode_text(name))
                add_system_metrics(machine, metrics, parse_iso_time(decode_text(stamp)))
            self._add_pending(Batch(machine=machine.pop_points(), stored_run=part))
        self._last_system_rowid = max((row[0] for row in rows), default=self._last_system_rowid)
        return len(rows) == limit and bool(self._pending)

    def _batch(self, run: str, rows: list[SqliteRow]) -> Batch:
        found = ColumnBuilder()
        problems = []
        for rowid, stamp, name, _, step, metrics in rows:
            part = self._run_name(run, decode_text(name))
            try:
                row = parse_json(metrics if isinstance(metrics, (bytes, str)) else b"")
            except ValueError as error:
                problems.append(Problem(rowid, f"row {rowid} is unreadable: {error}"))
                continue
            add_row_points(found, row, step, parse_iso_time(decode_text(stamp)))
        return Batch(points=found.pop_points(), problems=problems, stored_run=part)

    def _read_settings(self, run_id: str) -> None:
        """The configuration of each run, when it is new."""
        if not {"config", run_id} <= table_columns(self._snapshot, "configs"):
            return
        rows = self._snapshot.rows(f"SELECT {run_id}, config FROM configs")
        newest = {decode_text(run): config for run, config in rows}  # one per run
        for run, config in newest.items():
            config = config if isinstance(config, bytes) else b""
            if run not in self._names or self._configs.get(run) == config:
                continue
            self._configs[run] = config
            self._add_pending(Batch(config=stored_settings(config), stored_run=self._names[run]))


class TrackioInboxParser(RowParser):
    """Reads one file of the inbox: one record per line."""

    def finish(self) -> Batch:
        """A last line without its end counts if it is a whole record."""
        rest = self._splitter.unfinished()
        if rest.data.strip():
            self._add_line(rest)
        return self._pop_batch()

    def _reset_batch(self) -> None:
        super()._reset_batch()
        self._machine = MachineColumns()

    def _pop_batch(self) -> Batch:
        machine = self._machine.pop_points()
        batch = super()._pop_batch()
        batch.machine = machine
        return batch

    def _add_line(self, segment: Segment) -> None:
        try:
            record = parse_json(segment.data)
        except ValueError as error:
            self._problems.append(Problem(segment.offset, f"unreadable record: {error}"))
            return
        if not isinstance(record, dict):
            self._problems.append(Problem(segment.offset, "record is not a JSON object"))
            return
        self._config.update(_user_settings(record.get("config")))
        if record.get("kind") == "metric":
            time = parse_iso_time(record.get("timestamp"))
            add_row_points(self._builder, record.get("metrics"), record.get("step"), time)
        elif record.get("kind") == "system_metric":
            time = parse_iso_time(record.get("timestamp"))
            add_system_metrics(self._machine, record.get("metrics"), time)


def add_row_points(found: ColumnBuilder, row: Any, counter: Any, time: float) -> None:
    """Add the numbers of one `trackio.log` call, at one step and time."""
    if not isinstance(row, dict):
        return
    counters = (*map(row.get, _GLOBAL_STEPS), counter)
    steps = (as_step(as_float(value)) for value in counters)
    step = next((each for each in steps if each is not None), 0)
    for tag, value in numbers_of(row):
        found.add_point(tag, step, time, value)


def add_system_metrics(found: MachineColumns, row: Any, time: float) -> None:
    """Add the numbers of a row about the machine, an object or its JSON; none of a damaged one."""
    try:
        row = parse_json(row) if isinstance(row, (bytes, str)) else row
    except ValueError:
        return
    for tag, value in numbers_of(row) if isinstance(row, dict) else ():
        found.add_sample(tag, time, value)


def stored_settings(config: bytes) -> dict[str, ConfigValue]:
    """A stored configuration, without what Trackio adds; empty when it cannot be read."""
    try:
        return dict(_user_settings(parse_json(config)))
    except ValueError:
        return {}


def _user_settings(config: Any) -> Iterator[tuple[str, ConfigValue]]:
    if isinstance(config, dict):
        yield from (pair for pair in settings_of(config, ".") if not pair[0].startswith("_"))


def claims_inbox(_name: str, head: bytes) -> bool | None:
    """Whether the first record is one of Trackio's."""
    start = head[:40].lstrip()
    if len(start) < 16 and b'{"v":1,"kind":"'.startswith(start):
        return None
    return start.startswith(b'{"v":') and b'"kind":"' in start


FORMATS = (
    Format(
        name="trackio",
        claims=claims_by_magic(SQLITE_MAGIC),
        claim_order=30,
        precedence=80,
        store=TrackioStore,
    ),
    Format(
        name="trackio-inbox",
        claims=claims_inbox,
        claim_order=30,
        precedence=80,
        parser=TrackioInboxParser,
    ),
)
