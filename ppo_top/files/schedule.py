"""Who is read next: what is in focus, then all that is quickly read, then long logs one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ppo_top.files.update import SourceReader

MIN_PIECE_BYTES, MAX_PIECE_BYTES = 1 << 16, 4 << 20
"""Bounds of the piece that is read at once; between them it follows the speed of the reader."""
SLOW_PIECE_S, FAST_PIECE_S = 0.03, 0.01
"""A piece that took longer was too large for a screen that waits, one that took less too small."""
BYTES_PER_TURN = 64 << 20
"""So many bytes of a long log are read before the next one has its turn."""


class ReadQueue:
    """The logs that have something to read, in the order in which they are read.

    A first piece of every log comes first, and what little was written since, the newest before the
    others: so all runs are known soon and news are never kept waiting. Then the long ones are read
    one by one: what is complete can be judged, and let go, before the next one takes memory.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, str, int, SourceReader]] = []
        self._queued: set[int] = set()
        self._prioritised: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, feed: SourceReader) -> None:
        """Line up, unless in line already."""
        if id(feed) not in self._queued:
            self._queued.add(id(feed))
            entry = (self._priority(feed), -feed.mtime, feed.key, id(feed), feed)
            heapq.heappush(self._heap, entry)

    def _priority(self, feed: SourceReader) -> int:
        if feed.key in self._prioritised:
            return -1
        if not feed.more or 0 < feed.size - feed.offset <= MIN_PIECE_BYTES:
            return 0
        return 1 + feed.offset // BYTES_PER_TURN

    def pop(self) -> SourceReader:
        """Who is next."""
        feed = heapq.heappop(self._heap)[-1]
        self._queued.discard(id(feed))
        return feed

    def prioritise(self, keys: Iterable[str]) -> None:
        """From now on the logs with these keys come before all others."""
        self._prioritised = frozenset(keys)
        waiting, self._heap = self._heap, []
        self._queued.clear()
        for *_, feed in waiting:
            self.push(feed)


def adapt_piece_size(feed: SourceReader, size: int, seconds: float) -> None:
    """After a piece of `size` bytes: keep the next one near twenty milliseconds."""
    if size >= feed.piece_size and seconds < FAST_PIECE_S:
        feed.piece_size = min(MAX_PIECE_BYTES, feed.piece_size * 2)
    elif seconds > SLOW_PIECE_S:
        feed.piece_size = max(MIN_PIECE_BYTES, feed.piece_size // 2)
