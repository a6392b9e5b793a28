"""The common part of stores that are an SQLite database with several runs."""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from pathlib import Path
from typing import Any

from ppo_top.model import Batch, Problem
from ppo_top.parsers.shared.stores.sqlite_snapshot import DatabaseBusy, SqliteRow, SqliteSnapshot

_MAX_ROWS_PER_QUERY = 2000


class DatabaseStore:
    """Follows a database; `_read_rows` puts what is new into `_pending`, a batch for each run."""

    def __init__(self, path: Path) -> None:
        self._snapshot = SqliteSnapshot(path)
        self._last_rowid = 0
        self._pending: deque[Batch] = deque()
        self._names: dict[str, str] = {}
        self._last_problem = ""

    def poll(self, limit: int) -> Batch:
        """The new rows of one run."""
        if not self._pending:
            try:
                self._read_rows(max(1, min(limit, _MAX_ROWS_PER_QUERY)))
                self._last_problem = ""
            except DatabaseBusy:
                pass
            except (sqlite3.Error, OSError) as error:
                return self._report_problem(f"cannot be read: {error}")
        return self._pending.popleft() if self._pending else Batch()

    def side_files_changed(self) -> bool:
        """Everything is in the database and its log; a copy of them may have been put off."""
        return self._snapshot.is_due

    def close(self) -> None:
        """Delete the private copy."""
        self._snapshot.close()

    def _report_problem(self, what: str) -> Batch:
        """Report it once, until the database can be read again."""
        if what == self._last_problem:
            return Batch()
        self._last_problem = what
        return Batch(problems=[Problem(self._last_rowid, what)])

    def _read_rows(self, limit: int) -> None:
        """Read rows until some hold points; raises `sqlite3.Error`, `OSError` or `DatabaseBusy`."""
        raise NotImplementedError

    def _rows_after(self, last: int, query: str, limit: int) -> list[SqliteRow]:
        """The next rows of a query by their rowid, the first column, which is above the last one.

        A damaged table may return the same rows forever.
        """
        rows = self._snapshot.rows(query, last, limit)
        return [row for row in rows if isinstance(row[0], int) and row[0] > last]

    def _run_name(self, run: str, name: str) -> str:
        """A unique name for each run that is valid in a path."""
        if run not in self._names:
            plain = re.sub(r"[/\x00-\x1f]", "_", name or run)[:100] or "run"
            used = set(self._names.values())
            name = plain if plain not in used and plain.strip(".") else f"{plain}_{run[:8]}"
            self._names[run] = name if name not in used else f"{plain}_{len(used)}"
        return self._names[run]

    def _add_pending(self, batch: Batch) -> None:
        """An empty batch would mean that there is nothing more."""
        if batch:
            self._pending.append(batch)


def decode_text(value: Any) -> str:
    """A text of a database, which comes as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
