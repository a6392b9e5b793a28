"""Which log is read next: those in focus, then all that are read quickly, then long ones."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ppo_top.files.update import SourceReader

MIN_CHUNK_BYTES, MAX_CHUNK_BYTES = 1 << 16, 4 << 20
"""Bounds of a single read; in between, its size follows the reader's speed."""
SLOW_CHUNK_S, FAST_CHUNK_S = 0.03, 0.01
"""A read that takes longer is too large for a waiting screen; one that takes less is too small."""
BYTES_PER_TURN = 64 << 20
"""Bytes read from one long log before the next one gets its turn."""


class ReadQueue:
    """The logs with something to read, in reading order.

    The first chunk of every log comes first, together with short additions, newest log first: all
    runs show up soon and news never waits. Long logs are then read one after another, so that one
    can be judged and released before the next needs memory. With `whole_logs` nobody waits, and
    each is read to its end before the next.
    """

    def __init__(self, whole_logs: bool = False) -> None:
        self._whole_logs = whole_logs
        self._heap: list[tuple[int, float, str, int, SourceReader]] = []
        self._queued: set[int] = set()
        self._prioritised: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, reader: SourceReader) -> None:
        """Add a reader unless it is queued already."""
        if id(reader) not in self._queued:
            self._queued.add(id(reader))
            entry = (self._priority(reader), -reader.mtime, reader.key, id(reader), reader)
            heapq.heappush(self._heap, entry)

    def _priority(self, reader: SourceReader) -> int:
        if reader.key in self._prioritised:
            return -1
        if (
            self._whole_logs
            or not reader.more
            or 0 < reader.size - reader.offset <= MIN_CHUNK_BYTES
        ):
            return 0
        return 1 + reader.offset // BYTES_PER_TURN

    def pop(self) -> SourceReader:
        """Remove and return the next reader."""
        reader = heapq.heappop(self._heap)[-1]
        self._queued.discard(id(reader))
        return reader

    def prioritise(self, keys: Iterable[str]) -> None:
        """From now on read the logs with these keys before all others."""
        self._prioritised = frozenset(keys)
        waiting, self._heap = self._heap, []
        self._queued.clear()
        for *_, reader in waiting:
            self.push(reader)


class ChunkSizes:
    """How many bytes are read at once: as many as take about twenty milliseconds.

    It is learned for each format, so that not every one of many logs begins with small chunks.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def adapt(self, reader: SourceReader, size: int, seconds: float) -> None:
        """Choose the size of a reader's next chunk, after one of `size` bytes took some seconds."""
        name = reader.source.format.name if reader.source is not None else ""
        chosen = max(reader.chunk_size, self._known.get(name, 0))
        if seconds > SLOW_CHUNK_S:
            chosen = max(MIN_CHUNK_BYTES, reader.chunk_size // 2)
        elif seconds < FAST_CHUNK_S and size >= reader.chunk_size:
            chosen = max(chosen, min(MAX_CHUNK_BYTES, reader.chunk_size * 2))
        reader.chunk_size = self._known[name] = chosen
