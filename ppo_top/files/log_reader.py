"""One log file with its reader: what it gained becomes a batch, whatever happens to the file."""

# ruff: noqa: PTH116, PTH119
# Paths stay text here: an object for each would cost more than the system call.

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.tail import MAX_READ_BYTES, Tail
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch, Problem
from ppo_top.parsers import FormatDetector
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser, Store
from ppo_top.support import internal_errors

MAX_HEAD_BYTES = 16 * HEAD_BYTES
"""A log may begin with pages of warnings: so much is kept of a file that no format claims yet."""

FIRST_PIECE_BYTES = 1 << 15
"""The first piece: enough to tell what a log is, and little where there are thousands."""


LONG_LOG_BYTES = 4 << 20
"""While more bytes than these are to be read, the newest values are taken from a log's end,"""
EDGE_BYTES = 1 << 16
"""from so many bytes of it."""


MAX_EMPTY_POLLS = 1_000
"""A store that has answered so often without a point is asked again when it changes, not before."""


class LogReader:
    """A file in a directory: a stream of bytes, or a store that is asked for what is new."""

    def __init__(
        self, path: str, key: str, root: str, detector: FormatDetector, is_explicit: bool = False
    ) -> None:
        self.key = key
        self.source: Source | None = None
        self.rejected = False
        self.more = False
        self.changed_at = 0.0
        self.piece_size = FIRST_PIECE_BYTES
        self.tail = Tail(path, rewritten=True)  # until its format says that it is not
        self._root = root
        self._detector = detector
        self._is_explicit = is_explicit
        self._head = b""
        self._parser: Parser | None = None
        self._store: Store | None = None
        self._stamp: tuple[float, ...] = ()
        self._failed = False
        self._empty_polls = 0
        self._finished = False
        self._stored_sources: dict[str, Source] = {}
        self._stored_mtimes: dict[str, float] = {}
        self._sources_to_reset: set[str] = set()
        self.has_reappeared = False
        """Whether an earlier file of this key is gone: the first gain voids what that one gave."""

    @property
    def found_file(self) -> FoundFile:
        """The file as it was found."""
        return FoundFile(self.tail.path, self.key, self._root, self._is_explicit)

    @property
    def sources(self) -> list[Source]:
        """What the file gave so far: one source, or one for each run in a store."""
        return list(self._stored_sources.values()) or ([self.source] if self.source else [])

    @property
    def size(self) -> int:
        """Bytes of the file, as last seen."""
        return self.tail.size

    @property
    def offset(self) -> int:
        """Bytes that need not be read again."""
        if self._failed or self._store is not None:
            return self.tail.size
        return self.tail.offset

    @property
    def mtime(self) -> float:
        """When the file was last written, in unix seconds."""
        return self.tail.mtime

    def has_changed(self) -> bool:
        """Whether the file (or the write-ahead log of a store) is another than when it was read."""
        if self._finished:
            return False
        if self._store is None:
            return self.tail.has_changed()
        self.tail.has_changed()
        return self._stamps() != self._stamp or self._store.side_files_changed()

    def _stamps(self) -> tuple[float, ...]:
        stamps: list[float] = []
        for path in (self.tail.path, self.tail.path + "-wal"):
            try:
                found = os.stat(path)
            except OSError:
                stamps.append(0)
            else:
                stamps += (found.st_ino, found.st_size, found.st_mtime_ns)
        return tuple(stamps)

    def read_update(self, size: int = MAX_READ_BYTES, limit: int = 100_000) -> SourceUpdate | None:
        """Read on; None when that gave nothing to tell (not even a new source)."""
        if self._store is not None:
            return self._poll_store(limit)
        piece = self.tail.read_new_bytes(size if self.source else MAX_HEAD_BYTES)
        ends = self.more and not piece.more
        self.more = piece.more
        if piece.reset:
            self._restart_parser()
        if self._failed:
            return None
        if self._parser is None:
            return self._detect_format(piece.data, limit)
        batch = self._feed_parser(piece.data) if piece.data else Batch()
        return self._make_update(batch, piece.reset) if batch or piece.reset or ends else None

    def _restart_parser(self) -> None:
        """The file is a new one under the old name, perhaps in another format."""
        self._head = b""
        self._failed = False
        if self.source is not None and self.source.format.parser is not None:
            self._parser = self.source.format.parser()

    def _detect_format(self, data: bytes, limit: int) -> SourceUpdate | None:
        """Ask the formats, with as many first bytes as there are."""
        self._head += data
        name = os.path.basename(self.tail.path)
        found = self._detector(name, self._head[:HEAD_BYTES])
        if found is None and len(self._head) > HEAD_BYTES:
            found = self._detector(name, self._head)
        if found is False and self._is_explicit:
            found = self._detector("named.log", self._head)  # the user says that it is a log
        if (
            isinstance(found, Format)
            and found.tag_of_path is not None
            and not found.tag_of_path(self.tail.path)
        ):
            found = False
        if isinstance(found, Format):
            return self._open_format(found, limit)
        self.rejected = found is False or len(self._head) >= MAX_HEAD_BYTES
        self.more = self.more and not self.rejected
        if self.rejected:
            self._head = b""
        return None

    def _open_format(self, format_: Format, limit: int) -> SourceUpdate | None:
        path = Path(self.tail.path)
        self.source = Source(self.key, path, Path(self._root), format_)
        self.tail.rewritten = format_.rewritten
        if format_.store is not None:
            return self._open_store(format_.store, limit)
        assert format_.parser is not None
        self._parser = format_.parser()
        head, self._head = self._head, b""
        return self._make_update(self._feed_parser(head), False)

    def _open_store(self, store: Callable[[Path], Store], limit: int) -> SourceUpdate:
        try:
            self._store = store(Path(self.tail.path))
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            return self._make_update(self._fail(error), False)
        return self._poll_store(limit) or self._make_update(Batch(), False)

    def _poll_store(self, limit: int) -> SourceUpdate | None:
        """The next points of a store; a new file under its name is a new store."""
        stamps = self._stamps()
        reset = bool(self._stamp) and stamps[0] != self._stamp[0] and stamps[0] != 0
        self._stamp = stamps
        if reset:
            return self._reopen_store(limit)
        assert self._store is not None
        try:
            batch = self._store.poll(limit)
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            batch = self._fail(error)
        ends = self.more and not batch
        self._empty_polls = 0 if batch.points else self._empty_polls + 1
        self.more = bool(batch) and self._empty_polls < MAX_EMPTY_POLLS
        return self._make_update(batch, False) if batch or ends else None

    def read_last_points(self) -> SourceUpdate | None:
        """What stands at the end of a long log of which most is not read yet."""
        if self._parser is None or self.source is None or self.size - self.offset < LONG_LOG_BYTES:
            return None
        find = self.source.format.read_last_points
        try:
            points = find(*self.tail.read_edges(EDGE_BYTES)) if find is not None else []
        except Exception as error:  # noqa: BLE001 (its own fault: the values come later)
            internal_errors.report_internal_error("its reader", error)
            return None
        if not points:
            return None
        return SourceUpdate(
            self.source, Batch(points), False, self.mtime, self.size, True, last_points_only=True
        )

    def reread(self) -> None:
        """Read from the beginning once more."""
        self._finished = False
        self.tail.reread()
        if self._store is not None:
            self._stamp = (-1.0,)  # no file has this inode: the store is taken for a new one

    def _reopen_store(self, limit: int) -> SourceUpdate:
        assert self.source is not None and self.source.format.store is not None
        self.close()
        self._sources_to_reset = set(self._stored_sources)
        gain = self._open_store(self.source.format.store, limit)
        return replace(gain, reset=True)

    def _feed_parser(self, data: bytes) -> Batch:
        assert self._parser is not None
        try:
            batch = self._parser.feed(data)
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            return self._fail(error)
        tag = self.source.format.tag_of_path if self.source is not None else None
        if tag is not None:
            name = tag(self.tail.path)
            batch.points = [replace(points, tag=name) for points in batch.points]
        return batch

    def _fail(self, error: Exception) -> Batch:
        self.close()
        self._parser, self._failed, self.more = None, True, False
        return Batch(
            problems=[
                Problem(
                    self.tail.offset, internal_errors.report_internal_error("its reader", error)
                )
            ]
        )

    def _make_update(self, batch: Batch, reset: bool) -> SourceUpdate:
        assert self.source is not None
        source = self._stored_source(batch.stored_run) if batch.stored_run else self.source
        reset = reset or self.has_reappeared or batch.stored_run in self._sources_to_reset
        self.has_reappeared = False
        self._sources_to_reset.discard(batch.stored_run)
        written = self._last_written(batch) if batch.stored_run else self.mtime
        return SourceUpdate(source, batch, reset, written, self.size, self.more)

    def _last_written(self, batch: Batch) -> float:
        """When a run of a store was last written to: its points tell, the file is that of many."""
        times = [max(points.times) for points in batch.points if points.times]
        newest = max((at for at in times if at <= time.time()), default=0.0)
        known = self._stored_mtimes.get(batch.stored_run, 0.0)
        self._stored_mtimes[batch.stored_run] = max(known, newest)
        return self._stored_mtimes[batch.stored_run] or self.mtime

    def _stored_source(self, name: str) -> Source:
        """One run of a store, as if its log lay in a folder of its own beside the store."""
        source = self._stored_sources.get(name)
        if source is None:
            assert self.source is not None
            folder, _, file = self.key.rpartition("/")
            key = f"{folder}/{name}/{file}".lstrip("/")
            path = self.source.path.parent / name / file
            source = Source(key, path, self.source.root, self.source.format)
            self._stored_sources[name] = source
        return source

    def finish(self) -> SourceUpdate | None:
        """What is certain of the unfinished end, and a word about an end that was never written."""
        if self._parser is None or self._finished:
            return None
        self._finished = True
        try:
            batch = self._parser.finish()
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            batch = self._fail(error)
        if self.tail.trailing_zeros:
            what = f"{self.tail.trailing_zeros:,} zero bytes at the end: never written"
            batch.problems.append(Problem(self.tail.offset, what))
        return self._make_update(batch, False) if batch else None

    def close(self) -> None:
        """Let go of a store's private copy."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
