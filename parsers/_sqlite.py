"""Reads an SQLite database that another process writes, from a private copy.

Opening it in place leaves files beside it and takes locks; a copy of the database without its
write-ahead log lacks the last commits. So both are copied, and the copy counts only if the database
stayed the same meanwhile: a checkpoint in between would have torn it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

MAGIC = b"SQLite format 3\x00"

_BESIDE = ("-wal", "-journal")
_ATTEMPTS = 4
_LONGEST = 16 << 20
"""Bytes of one value."""
_SCHEMA = 1 << 20
_STEPS = 10_000
_MOST_CALLS = 20_000
"""Together: instructions of SQLite that a query may take. A damaged file may lead it in circles."""

Row = tuple[Any, ...]


class Busy(Exception):
    """The database changed while it was copied; another try may do better."""


class Snapshot:
    """A private copy of a database, made anew whenever it is asked for and the original changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stamp: tuple[object, ...] = ()

    @property
    def copy(self) -> Path:
        """Where the copy lies."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="ppo-top-")
        return Path(self._folder.name) / "copy.db"

    def refresh(self) -> None:
        """Bring the copy up to date; raises `Busy` or `OSError`."""
        for _ in range(_ATTEMPTS):
            stamp = self._stamps()
            if stamp == self._stamp:
                return
            self._take()
            if self._same(stamp, self._stamps()):
                self._stamp = stamp
                return
        self._stamp = ()
        raise Busy

    def rows(self, query: str, *values: object) -> list[Row]:
        """The rows of a query on the copy, text as bytes; raises `sqlite3.Error`."""
        with closing(sqlite3.connect(self.copy, isolation_level=None)) as base:
            base.text_factory = bytes
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            calls = iter(range(_MOST_CALLS))
            base.set_progress_handler(lambda: next(calls, None) is None, _STEPS)
            base.execute("PRAGMA trusted_schema = OFF")
            try:
                return base.execute(query, values).fetchall()
            except (ValueError, OverflowError, MemoryError) as error:  # of a damaged file only
                raise sqlite3.DatabaseError(f"database is damaged: {error}") from error

    def mentions(self, word: bytes) -> bool:
        """Whether a word stands in the first bytes of the original, where the schema is.

        Says whether a large database is worth a copy; its log is searched too, it may be all new.
        """
        for suffix in ("", "-wal"):
            with suppress(OSError), open(f"{self._path}{suffix}", "rb") as file:
                if word in file.read(_SCHEMA):
                    return True
        return False

    def close(self) -> None:
        """Delete the copy."""
        folder, self._folder, self._stamp = self._folder, None, ()
        if folder is not None:
            folder.cleanup()

    def _parts(self) -> Iterator[tuple[str, str]]:
        for suffix in ("", *_BESIDE):
            yield f"{self._path}{suffix}", f"{self.copy}{suffix}"

    def _stamps(self) -> tuple[object, ...]:
        """Of each part: its file, size, time and first bytes (the log's hold its generation)."""
        stamps: list[object] = []
        for source, _ in self._parts():
            try:
                with open(source, "rb") as file:
                    found = os.fstat(file.fileno())
                    head = file.read(32)
            except FileNotFoundError:
                stamps.append(None)
            else:
                stamps.append((found.st_ino, found.st_size, found.st_mtime_ns, head))
        return tuple(stamps)

    @staticmethod
    def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
        """Whether the copy is whole: the database untouched, the log of one generation."""
        log, later = before[1], after[1]
        grown = log is not None and later is not None and log[3] == later[3]
        return bool(before[0] == after[0] and before[2] == after[2] and (grown or log == later))

    def _take(self) -> None:
        for stale in Path(self.copy).parent.iterdir():
            stale.unlink()
        for source, target in self._parts():
            with suppress(FileNotFoundError):
                shutil.copyfile(source, target)
        if not self.copy.exists():
            raise FileNotFoundError(str(self._path))


def columns(snapshot: Snapshot, table: str) -> set[str]:
    """The names of a table's columns; empty when there is no such table. Raises `sqlite3.Error`."""
    return {
        row[0].decode() for row in snapshot.rows("SELECT name FROM pragma_table_info(?)", table)
    }
