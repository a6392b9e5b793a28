"""Trackio's database (`<project>.db`), which holds all runs of a project, and its inbox.

The inbox is JSON lines, for file systems that cannot lock. A row of either is one call of
`trackio.log`; its step is `train/global_step` where it has one (Hugging Face trainers), else
Trackio's own counter. Rows are sent in bundles that share one time.
"""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ppo_top.model import Batch, Columns, ConfigValue, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.json_values import as_float, load, numbers, settings
from ppo_top.parsers.shared.line_splitter import Segments
from ppo_top.parsers.shared.magic import begins
from ppo_top.parsers.shared.number_text import whole
from ppo_top.parsers.shared.sqlite_snapshot import MAGIC, Busy, Row, Snapshot, columns
from ppo_top.parsers.shared.timestamps import iso

_GLOBAL_STEPS = ("train/global_step", "global_step")
_ROWS = 2000
_ROW = "rowid, timestamp, run_name, {run_id}, step, metrics"


class Trackio:
    """Follows one project's database; each of its runs is a part."""

    def __init__(self, path: Path) -> None:
        self._snapshot = Snapshot(path)
        self._last = 0
        self._waiting: deque[Batch] = deque()
        self._names: dict[str, str] = {}
        self._configs: dict[str, bytes] = {}
        self._complained = ""

    def poll(self, limit: int) -> Batch:
        """New rows of one run."""
        if not self._waiting:
            try:
                self._look(max(1, min(limit, _ROWS)))
                self._complained = ""
            except Busy:
                pass
            except (sqlite3.Error, OSError) as error:
                return self._problem(f"cannot be read: {error}")
        return self._waiting.popleft() if self._waiting else Batch()

    def changed(self) -> bool:
        """Everything is in the database and its log."""
        return False

    def close(self) -> None:
        """Delete the private copy."""
        self._snapshot.close()

    def _problem(self, what: str) -> Batch:
        """Say it once, until the database can be read again."""
        if what == self._complained:
            return Batch()
        self._complained = what
        return Batch(problems=[Problem(self._last, what)])

    def _look(self, limit: int) -> None:
        """Read rows until some of them hold points; another program's database gives nothing."""
        if not self._snapshot.mentions(b"run_name"):
            return
        self._snapshot.refresh()
        known = columns(self._snapshot, "metrics")
        if not {"timestamp", "run_name", "step", "metrics"} <= known:
            return
        run_id = "run_id" if "run_id" in known else "run_name"
        query = f"SELECT {_ROW.format(run_id=run_id)} FROM metrics WHERE rowid > ? ORDER BY rowid LIMIT ?"  # fmt: skip # noqa: E501
        while True:
            found = self._snapshot.rows(query, self._last, limit)
            # A damaged table gives rows that were not asked for, and would give them for ever.
            rows = [row for row in found if isinstance(row[0], int) and row[0] > self._last]
            for run, group in groupby(rows, key=lambda row: _word(row[3])):
                self._wait(self._batch(run, list(group)))
            self._last = max((row[0] for row in rows), default=self._last)
            if not rows or len(found) < limit or any(batch.points for batch in self._waiting):
                break
        self._settings(run_id)

    def _batch(self, run: str, rows: list[Row]) -> Batch:
        found = Columns()
        problems = []
        for rowid, stamp, name, _, step, metrics in rows:
            part = self._name(run, _word(name))
            try:
                row = load(metrics if isinstance(metrics, (bytes, str)) else b"")
            except ValueError as error:
                problems.append(Problem(rowid, f"row {rowid} cannot be read: {error}"))
                continue
            add(found, row, step, iso(_word(stamp)))
        return Batch(points=found.take(), problems=problems, part=part)

    def _name(self, run: str, name: str) -> str:
        """A name for each run that no other has and that can stand in a path."""
        if run not in self._names:
            plain = re.sub(r"[/\x00-\x1f]", "_", name or run)[:100] or "run"
            taken = set(self._names.values())
            ours = plain if plain not in taken and plain.strip(".") else f"{plain}_{run[:8]}"
            self._names[run] = ours if ours not in taken else f"{plain}_{len(taken)}"
        return self._names[run]

    def _settings(self, run_id: str) -> None:
        """The configuration of each run, when it is new."""
        if not {"config", run_id} <= columns(self._snapshot, "configs"):
            return
        rows = self._snapshot.rows(f"SELECT {run_id}, config FROM configs")
        newest = {_word(run): config for run, config in rows}  # one a run, or there is no end
        for run, config in newest.items():
            config = config if isinstance(config, bytes) else b""
            if run not in self._names or self._configs.get(run) == config:
                continue
            self._configs[run] = config
            self._wait(Batch(config=plain_settings(config), part=self._names[run]))

    def _wait(self, batch: Batch) -> None:
        """An empty batch would say that there is nothing more."""
        if batch:
            self._waiting.append(batch)


class Inbox:
    """Reads one file of the inbox: one record a line."""

    def __init__(self) -> None:
        self._segments = Segments()

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes; give the records of complete lines."""
        batch = Batch()
        found = Columns()
        for segment in self._segments.each(data):
            self._line(segment.data, segment.offset, found, batch)
        batch.problems.extend(self._segments.take_problems())
        batch.points = found.take()
        return batch

    def finish(self) -> Batch:
        """A last line without its end counts if it is a whole record."""
        rest = self._segments.rest()
        batch = Batch()
        found = Columns()
        self._line(rest.data, rest.offset, found, batch)
        batch.points = found.take()
        return batch

    def _line(self, line: bytes, offset: int, found: Columns, batch: Batch) -> None:
        if not line.strip():
            return
        try:
            record = load(line)
        except ValueError as error:
            batch.problems.append(Problem(offset, f"a record cannot be read: {error}"))
            return
        if not isinstance(record, dict):
            batch.problems.append(Problem(offset, "a record is no object"))
            return
        batch.config.update(_own(record.get("config")))
        if record.get("kind") == "metric":
            add(found, record.get("metrics"), record.get("step"), iso(record.get("timestamp")))


def add(found: Columns, row: Any, counter: Any, time: float) -> None:
    """The numbers of one call, at one step and time."""
    if not isinstance(row, dict):
        return
    steps = (as_float(value) for value in (*(row.get(name) for name in _GLOBAL_STEPS), counter))
    step = next((at for number in steps if number is not None and (at := whole(number)) is not None), 0)  # fmt: skip # noqa: E501
    for tag, value in numbers("", row):
        found.add(tag, step, time, value)


def plain_settings(config: bytes) -> dict[str, ConfigValue]:
    """A stored configuration, without what Trackio adds; empty when it cannot be read."""
    try:
        return dict(_own(load(config)))
    except ValueError:
        return {}


def _own(config: Any) -> Iterator[tuple[str, ConfigValue]]:
    if isinstance(config, dict):
        yield from (pair for pair in settings("", config) if not pair[0].startswith("_"))


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def claims_inbox(_name: str, head: bytes) -> bool | None:
    """Whether the first record is one of Trackio's."""
    start = head[:40].lstrip()
    if len(start) < 16 and b'{"v":1,"kind":"'.startswith(start):
        return None
    return start.startswith(b'{"v":') and b'"kind":"' in start


FORMATS = (
    Format(
        name="trackio",
        names=re.compile(r"\.db$"),
        claims=begins(MAGIC),
        order=30,
        rank=80,
        store=Trackio,
    ),
    Format(
        name="trackio-inbox",
        names=re.compile(r"^\d{8}\.jsonl$"),
        claims=claims_inbox,
        order=30,
        rank=80,
        parser=Inbox,
    ),
)
