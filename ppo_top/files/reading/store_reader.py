"""Reads a store (a database, a directory of logs) that may hold several runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ppo_top.files.reading.parser_guard import guarded
from ppo_top.files.tail import FileStamp, Tail, file_stamp
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch
from ppo_top.parsers.base import Store

MAX_EMPTY_POLLS = 1_000
"""After this many polls without a point a store is polled again only when it has changed."""

StoreStamp = tuple[FileStamp, ...]
"""The stamps of the file and of its write-ahead log."""


class StoreReader:
    """Polls the store at `source`; opens it again when its file was replaced.

    `tail` is used only for the size and the modification time of the file.
    """

    def __init__(self, source: Source, tail: Tail, open_store: Callable[[Path], Store]) -> None:
        self.source = source
        self.tail = tail
        self.open_store = open_store
        self.more = False
        self.run_sources: dict[str, Source] = {}
        self.read_stamp: FileStamp = ()
        """What a store of a single file was like when all of it had been read; else empty."""
        self._store: Store | None = None
        self._stamp: StoreStamp = ()
        self._reread_requested = False
        self._failed = self._is_unreadable = False
        self._empty_polls = 0
        self._run_mtimes: dict[str, float] = {}
        self._runs_to_reset: set[str] = set()

    def has_changed(self) -> bool:
        """Whether the file, its write-ahead log or a side file changed since the last read."""
        stamp = self._stamp_now()
        if self._failed or self._is_replaced(stamp):
            return self._is_replaced(stamp)
        store = self._store
        return stamp != self._stamp or (store is not None and store.side_files_changed())

    def _stamp_now(self) -> StoreStamp:
        return file_stamp(self.tail.path), file_stamp(self.tail.path + "-wal")

    def _is_replaced(self, stamp: StoreStamp) -> bool:
        if not self._stamp or not stamp[0]:
            return False
        moved = stamp[0][2:] != self._stamp[0][2:]
        repaired = self._is_unreadable and stamp != self._stamp
        anew = (moved or repaired) and not self.source.format.rewritten
        return self._reread_requested or anew

    def reread(self) -> None:
        """Read from the beginning again."""
        self._reread_requested = True

    def read_update(self, limit: int) -> SourceUpdate | None:
        """The next points of one of the runs, about `limit` at most; None if there are none."""
        stamp = self._stamp_now()
        replaced = self._is_replaced(stamp)
        self._stamp = stamp
        if replaced:
            self._reread_requested = self._failed = False
            self._runs_to_reset = set(self.run_sources)
            self.close()
        if self._failed:
            return None
        opened, had_more = self._store is None, self.more
        now = file_stamp(self.tail.path) if self.source.format.one_file else ()
        batch = guarded(partial(self._poll, limit), self.tail.offset, self._fail)
        self.read_stamp = () if self.more else now
        if not (batch or opened or had_more):
            return None
        return self._make_update(batch, replaced)

    def _poll(self, limit: int) -> Batch:
        if self._store is None:
            self._store = self.open_store(self.source.path)
        batch = self._store.poll(limit)
        self._empty_polls = 0 if batch.points or batch.machine else self._empty_polls + 1
        self.more = bool(batch) and self._empty_polls < MAX_EMPTY_POLLS
        return batch

    def _fail(self) -> None:
        self.close()
        self._failed, self.more = True, False

    def _make_update(self, batch: Batch, reset: bool) -> SourceUpdate:
        tail = self.tail
        is_general = bool(batch.problems) and not (batch.points or batch.stored_run)
        self._is_unreadable = is_general and bool(self.run_sources) and not self._failed
        if self._is_unreadable:  # said of the first run; what was read of any stays
            first = next(iter(self.run_sources.values()))
            return SourceUpdate(first, batch, False, tail.mtime, tail.size, self.more)
        run = batch.stored_run
        reset = reset or batch.restarted or run in self._runs_to_reset
        self._runs_to_reset.discard(run)
        if not run:
            read = self.read_stamp
            return SourceUpdate(self.source, batch, reset, tail.mtime, tail.size, self.more, read)
        mtime = self._last_written(batch)
        return SourceUpdate(self._run_source(run), batch, reset, mtime, tail.size, self.more)

    def _last_written(self, batch: Batch) -> float:
        """When this run was last written, by its points: all runs share the file's own time."""
        times = [max(points.times) for points in batch.points if points.times]
        newest = max((at for at in times if at <= time.time()), default=0.0)
        known = self._run_mtimes.get(batch.stored_run, 0.0)
        self._run_mtimes[batch.stored_run] = max(known, newest)
        return self._run_mtimes[batch.stored_run] or self.tail.mtime

    def _run_source(self, run: str) -> Source:
        """The source of one run, as if its log lay in a directory of its own beside the store."""
        if run not in self.run_sources:
            folder, _, file = self.source.key.rpartition("/")
            key = f"{folder}/{run}/{file}".lstrip("/")
            path = self.source.path.parent / run / file
            of = self.source
            self.run_sources[run] = Source(key, path, of.root, of.format, of.path)
        return self.run_sources[run]

    def close(self) -> None:
        """Close the store, with its private copy."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
