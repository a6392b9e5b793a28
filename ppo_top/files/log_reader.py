"""One log file with its reader: what it gained becomes a batch, whatever happens to the file."""

# ruff: noqa: PTH116, PTH119
# Paths stay text here: an object for each would cost more than the system call.

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ppo_top.files.directory_tree import Found
from ppo_top.files.tail import PIECE, Tail
from ppo_top.files.update import Gain, Source
from ppo_top.model import Batch, Problem
from ppo_top.parsers import Claim
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser, Store
from ppo_top.support import internal_errors as mishap

LONG_HEAD = 16 * HEAD_BYTES
"""A log may begin with pages of warnings: so much is kept of a file that no format claims yet."""

FIRST_PIECE = 1 << 15
"""The first piece: enough to tell what a log is, and little where there are thousands."""


LONG = 4 << 20
"""While more bytes than these are to be read, the newest values are taken from a log's end,"""
EDGE = 1 << 16
"""from so many bytes of it."""


MOST_POINTLESS = 1_000
"""A store that has answered so often without a point is asked again when it changes, not before."""


class FileFeed:
    """A file in a directory: a stream of bytes, or a store that is asked for what is new."""

    def __init__(self, path: str, key: str, root: str, claim: Claim, named: bool = False) -> None:
        self.key = key
        self.source: Source | None = None
        self.refused = False
        self.more = False
        self.moved = 0.0
        self.piece = FIRST_PIECE
        self.tail = Tail(path, rewritten=True)  # until its format says that it is not
        self._root = root
        self._claim = claim
        self._named = named
        self._head = b""
        self._parser: Parser | None = None
        self._store: Store | None = None
        self._stamp: tuple[float, ...] = ()
        self._broken = False
        self._pointless = 0
        self._finished = False
        self._parts: dict[str, Source] = {}
        self._wrote: dict[str, float] = {}
        self._void: set[str] = set()
        self.returns = False
        """Whether an earlier file of this key is gone: the first gain voids what that one gave."""

    @property
    def found(self) -> Found:
        """The file as it was found."""
        return Found(self.tail.path, self.key, self._root, self._named)

    @property
    def sources(self) -> list[Source]:
        """What the file gave so far: one source, or one for each run in a store."""
        return list(self._parts.values()) or ([self.source] if self.source else [])

    @property
    def size(self) -> int:
        """Bytes of the file, as last seen."""
        return self.tail.size

    @property
    def offset(self) -> int:
        """Bytes that need not be read again."""
        if self._broken or self._store is not None:
            return self.tail.size
        return self.tail.offset

    @property
    def mtime(self) -> float:
        """When the file was last written, in unix seconds."""
        return self.tail.mtime

    def changed(self) -> bool:
        """Whether the file (or the write-ahead log of a store) is another than when it was read."""
        if self._finished:
            return False
        if self._store is None:
            return self.tail.changed()
        self.tail.changed()
        return self._stamps() != self._stamp or self._store.changed()

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

    def take(self, size: int = PIECE, limit: int = 100_000) -> Gain | None:
        """Read on; None when that gave nothing to tell (not even a new source)."""
        if self._store is not None:
            return self._ask(limit)
        piece = self.tail.read(size if self.source else LONG_HEAD)
        ends = self.more and not piece.more
        self.more = piece.more
        if piece.reset:
            self._begin_again()
        if self._broken:
            return None
        if self._parser is None:
            return self._recognise(piece.data, limit)
        batch = self._feed(piece.data) if piece.data else Batch()
        return self._gain(batch, piece.reset) if batch or piece.reset or ends else None

    def _begin_again(self) -> None:
        """The file is a new one under the old name, perhaps in another format."""
        self._head = b""
        self._broken = False
        if self.source is not None and self.source.format.parser is not None:
            self._parser = self.source.format.parser()

    def _recognise(self, data: bytes, limit: int) -> Gain | None:
        """Ask the formats, with as many first bytes as there are."""
        self._head += data
        name = os.path.basename(self.tail.path)
        found = self._claim(name, self._head[:HEAD_BYTES])
        if found is None and len(self._head) > HEAD_BYTES:
            found = self._claim(name, self._head)
        if found is False and self._named:
            found = self._claim("named.log", self._head)  # the user says that it is a log
        if isinstance(found, Format) and found.tag is not None and not found.tag(self.tail.path):
            found = False
        if isinstance(found, Format):
            return self._open(found, limit)
        self.refused = found is False or len(self._head) >= LONG_HEAD
        self.more = self.more and not self.refused
        if self.refused:
            self._head = b""
        return None

    def _open(self, format_: Format, limit: int) -> Gain | None:
        path = Path(self.tail.path)
        self.source = Source(self.key, path, Path(self._root), format_)
        self.tail.rewritten = format_.rewritten
        if format_.store is not None:
            return self._open_store(format_.store, limit)
        assert format_.parser is not None
        self._parser = format_.parser()
        head, self._head = self._head, b""
        return self._gain(self._feed(head), False)

    def _open_store(self, store: Callable[[Path], Store], limit: int) -> Gain:
        try:
            self._store = store(Path(self.tail.path))
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            return self._gain(self._fault(error), False)
        return self._ask(limit) or self._gain(Batch(), False)

    def _ask(self, limit: int) -> Gain | None:
        """The next points of a store; a new file under its name is a new store."""
        stamps = self._stamps()
        reset = bool(self._stamp) and stamps[0] != self._stamp[0] and stamps[0] != 0
        self._stamp = stamps
        if reset:
            return self._reopen(limit)
        assert self._store is not None
        try:
            batch = self._store.poll(limit)
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            batch = self._fault(error)
        ends = self.more and not batch
        self._pointless = 0 if batch.points else self._pointless + 1
        self.more = bool(batch) and self._pointless < MOST_POINTLESS
        return self._gain(batch, False) if batch or ends else None

    def newest(self) -> Gain | None:
        """What stands at the end of a long log of which most is not read yet."""
        if self._parser is None or self.source is None or self.size - self.offset < LONG:
            return None
        find = self.source.format.newest
        try:
            points = find(*self.tail.edges(EDGE)) if find is not None else []
        except Exception as error:  # noqa: BLE001 (its own fault: the values come later)
            mishap.note("its reader", error)
            return None
        if not points:
            return None
        return Gain(self.source, Batch(points), False, self.mtime, self.size, True, ahead=True)

    def again(self) -> None:
        """Read from the beginning once more."""
        self._finished = False
        self.tail.again()
        if self._store is not None:
            self._stamp = (-1.0,)  # no file has this inode: the store is taken for a new one

    def _reopen(self, limit: int) -> Gain:
        assert self.source is not None and self.source.format.store is not None
        self.close()
        self._void = set(self._parts)
        gain = self._open_store(self.source.format.store, limit)
        return replace(gain, reset=True)

    def _feed(self, data: bytes) -> Batch:
        assert self._parser is not None
        try:
            batch = self._parser.feed(data)
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            return self._fault(error)
        tag = self.source.format.tag if self.source is not None else None
        if tag is not None:
            name = tag(self.tail.path)
            batch.points = [replace(points, tag=name) for points in batch.points]
        return batch

    def _fault(self, error: Exception) -> Batch:
        self.close()
        self._parser, self._broken, self.more = None, True, False
        return Batch(problems=[Problem(self.tail.offset, mishap.note("its reader", error))])

    def _gain(self, batch: Batch, reset: bool) -> Gain:
        assert self.source is not None
        source = self._part(batch.part) if batch.part else self.source
        reset = reset or self.returns or batch.part in self._void
        self.returns = False
        self._void.discard(batch.part)
        written = self._written(batch) if batch.part else self.mtime
        return Gain(source, batch, reset, written, self.size, self.more)

    def _written(self, batch: Batch) -> float:
        """When a run of a store was last written to: its points tell, the file is that of many."""
        times = [max(points.times) for points in batch.points if points.times]
        newest = max((at for at in times if at <= time.time()), default=0.0)
        known = self._wrote.get(batch.part, 0.0)
        self._wrote[batch.part] = max(known, newest)
        return self._wrote[batch.part] or self.mtime

    def _part(self, name: str) -> Source:
        """One run of a store, as if its log lay in a folder of its own beside the store."""
        source = self._parts.get(name)
        if source is None:
            assert self.source is not None
            folder, _, file = self.key.rpartition("/")
            key = f"{folder}/{name}/{file}".lstrip("/")
            path = self.source.path.parent / name / file
            source = Source(key, path, self.source.root, self.source.format)
            self._parts[name] = source
        return source

    def finish(self) -> Gain | None:
        """What is certain of the unfinished end, and a word about an end that was never written."""
        if self._parser is None or self._finished:
            return None
        self._finished = True
        try:
            batch = self._parser.finish()
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            batch = self._fault(error)
        if self.tail.zeros:
            what = f"{self.tail.zeros:,} zero bytes at the end: never written"
            batch.problems.append(Problem(self.tail.offset, what))
        return self._gain(batch, False) if batch else None

    def close(self) -> None:
        """Let go of a store's private copy."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
