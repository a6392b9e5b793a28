"""Reads an SQLite database that another process writes, from a private copy.

Opening it in place would create files next to it and take locks, and a copy without its write-ahead
log lacks the last commits. So both are copied, and the copy is used only if the database did not
change meanwhile: a checkpoint would have torn it. While only the log grows, only it is copied.
Where there is none each commit changes the database, and a large one is not copied at each.
"""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

SQLITE_MAGIC = b"SQLite format 3\x00"

_COPY_NAME = "copy.db"
_SIDE_SUFFIXES = ("-wal", "-journal")
_MAX_ATTEMPTS = 4
_PAUSE_FACTOR = 50.0
_LARGE_BYTES = 8 << 20
"""After a copy of a database of this size there is none for so many times what that took."""
_MAX_VALUE_BYTES = 16 << 20
"""Bytes of one value."""
_SCHEMA_BYTES = 1 << 20
_COPY_BYTES = 1 << 20
_INDEX_HEADER_BYTES = 96
"""Size of the two headers of SQLite's log index; without them the index is rebuilt."""
_INSTRUCTIONS_PER_CALL = 10_000
_MAX_PROGRESS_CALLS = 20_000
"""Together they limit the instructions of a query: a damaged file may send SQLite in circles."""

SqliteRow = tuple[Any, ...]


class DatabaseBusy(Exception):
    """The database changed while it was copied, or was copied just now; try again."""


class SqliteSnapshot:
    """A private copy of a database, refreshed when the original changed.

    Its files are unlinked as soon as they are open, so nothing is left behind after a crash.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._next_copy = -math.inf
        self._is_put_off = False
        self._connection: sqlite3.Connection | None = None
        self._write_ahead_log: _WriteAheadLog | None = None
        self._file_stamps: tuple[Any, ...] = ()

    def refresh(self) -> None:
        """Bring the copy up to date; raises `DatabaseBusy`, `OSError` or `sqlite3.Error`."""
        self._is_put_off = False
        for _ in range(_MAX_ATTEMPTS):
            stamp = self._read_stamps()
            if self._connection is not None and stamp == self._file_stamps:
                return
            if self._write_ahead_log is not None and _only_log_changed(self._file_stamps, stamp):
                with suppress(FileNotFoundError):
                    self._write_ahead_log.replace_from(f"{self._path}-wal")
                if self._is_consistent(stamp, self._read_stamps()):
                    self._file_stamps = stamp
                    return
            begun = self._clock()
            if begun < self._next_copy:
                break
            self.close()
            with tempfile.TemporaryDirectory(prefix="ppo-top-") as folder:
                self._copy_files(Path(folder))
                if self._is_consistent(stamp, self._read_stamps()):
                    self._connection = _open_copy(Path(folder) / _COPY_NAME)
                    self._write_ahead_log = _WriteAheadLog.open(Path(folder) / _COPY_NAME)
                    self._file_stamps = stamp
                    now = self._clock()
                    if stamp[0][1] >= _LARGE_BYTES:
                        self._next_copy = now + _PAUSE_FACTOR * (now - begun)
                    return
        self._is_put_off = True
        raise DatabaseBusy

    @property
    def is_due(self) -> bool:
        """Whether there may be more since `refresh` was put off, though nothing has changed."""
        return self._is_put_off and self._clock() >= self._next_copy

    def rows(self, query: str, *values: object) -> list[SqliteRow]:
        """The rows of a query on the copy, text as bytes; raises `sqlite3.Error`."""
        if self._connection is None:
            raise sqlite3.OperationalError("no snapshot")
        return _query(self._connection, query, *values)

    def mentions(self, word: bytes) -> bool:
        """Whether a word is in the schema, in the first bytes of the database or its log.

        Shows whether a large database is worth copying.
        """
        for suffix in ("", "-wal"):
            with suppress(OSError), open(f"{self._path}{suffix}", "rb") as file:
                if word in file.read(_SCHEMA_BYTES):
                    return True
        return False

    def close(self) -> None:
        """Delete the copy."""
        base, self._connection, self._file_stamps = self._connection, None, ()
        if base is not None:
            base.close()
        log, self._write_ahead_log = self._write_ahead_log, None
        if log is not None:
            log.close()

    def _read_stamps(self) -> tuple[Any, ...]:
        """Inode, size, time and first bytes of each file (those of the log hold its generation)."""
        stamps: list[object] = []
        for suffix in ("", *_SIDE_SUFFIXES):
            try:
                with open(f"{self._path}{suffix}", "rb") as file:
                    found = os.fstat(file.fileno())
                    head = file.read(32)
            except FileNotFoundError:
                stamps.append(None)
            else:
                stamps.append((found.st_ino, found.st_size, found.st_mtime_ns, head))
        return tuple(stamps)

    @staticmethod
    def _is_consistent(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
        """Whether the copy is whole: an unchanged database, a log of one generation."""
        log, later = before[1], after[1]
        grown = log is not None and later is not None and log[3] == later[3]
        return bool(before[0] == after[0] and before[2] == after[2] and (grown or log == later))

    def _copy_files(self, folder: Path) -> None:
        shutil.copyfile(self._path, folder / _COPY_NAME)
        for suffix in _SIDE_SUFFIXES:
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{self._path}{suffix}", folder / f"{_COPY_NAME}{suffix}")


def _only_log_changed(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Whether only the write-ahead log changed."""
    return bool(before[0] == now[0] and before[2] is None is now[2] and now[1] is not None)


class _WriteAheadLog:
    """The write-ahead log of an open copy, and SQLite's index of it."""

    def __init__(self, log: int, index: int) -> None:
        self._log, self._index = log, index

    @classmethod
    def open(cls, path: Path) -> _WriteAheadLog | None:
        """The log of a copy that is not unlinked yet; None if it has none."""
        try:
            log = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return cls(log, os.open(f"{path}-shm", os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError:
            os.close(log)
            return None

    def replace_from(self, path: str) -> None:
        """Replace the log by the one at `path` and clear the index, which SQLite then rebuilds."""
        with open(path, "rb") as file:
            position = 0
            while data := file.read(_COPY_BYTES):
                os.pwrite(self._log, data, position)
                position += len(data)
        os.ftruncate(self._log, position)
        os.pwrite(self._index, bytes(_INDEX_HEADER_BYTES), 0)

    def close(self) -> None:
        """Close both, after SQLite has: closing them earlier would drop its locks."""
        os.close(self._log)
        os.close(self._index)


def _open_copy(path: Path) -> sqlite3.Connection:
    """Open a copy so that SQLite holds all its files."""
    base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        base.text_factory = bytes
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        _query(base, "PRAGMA trusted_schema = OFF")
        _query(base, "PRAGMA synchronous = OFF")  # nobody needs the copy after a crash
        _query(base, "SELECT count(*) FROM sqlite_master")
    except sqlite3.Error:
        base.close()
        raise
    return base


def _query(base: sqlite3.Connection, query: str, *values: object) -> list[SqliteRow]:
    calls = iter(range(_MAX_PROGRESS_CALLS))
    base.set_progress_handler(lambda: next(calls, None) is None, _INSTRUCTIONS_PER_CALL)
    try:
        return base.execute(query, values).fetchall()
    except (ValueError, OverflowError, MemoryError) as error:  # of a damaged file only
        raise sqlite3.DatabaseError(f"database is damaged: {error}") from error


def table_columns(snapshot: SqliteSnapshot, table: str) -> set[str]:
    """The names of a table's columns; empty when there is no such table. Raises `sqlite3.Error`."""
    rows = snapshot.rows("SELECT name FROM pragma_table_info(?)", table)
    return {row[0].decode(errors="replace") for row in rows}
