"""Who is read next: what is in focus, then all that is quickly read, then long logs one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ppo_top.files.update import Feed

SMALL, LARGE = 1 << 16, 4 << 20
"""Bounds of the piece that is read at once; between them it follows the speed of the reader."""
SLOW_S, FAST_S = 0.03, 0.01
"""A piece that took longer was too large for a screen that waits, one that took less too small."""
ROUND = 64 << 20
"""So many bytes of a long log are read before the next one has its turn."""


class Turns:
    """The logs that have something to read, in the order in which they are read.

    A first piece of every log comes first, and what little was written since, the newest before the
    others: so all runs are known soon and news are never kept waiting. Then the long ones are read
    one by one: what is complete can be judged, and let go, before the next one takes memory.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, str, int, Feed]] = []
        self._inside: set[int] = set()
        self._preferred: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, feed: Feed) -> None:
        """Line up, unless in line already."""
        if id(feed) not in self._inside:
            self._inside.add(id(feed))
            entry = (self._turn(feed), -feed.mtime, feed.key, id(feed), feed)
            heapq.heappush(self._heap, entry)

    def _turn(self, feed: Feed) -> int:
        if feed.key in self._preferred:
            return -1
        if not feed.more or 0 < feed.size - feed.offset <= SMALL:
            return 0
        return 1 + feed.offset // ROUND

    def pop(self) -> Feed:
        """Who is next."""
        feed = heapq.heappop(self._heap)[-1]
        self._inside.discard(id(feed))
        return feed

    def prefer(self, keys: Iterable[str]) -> None:
        """From now on the logs with these keys come before all others."""
        self._preferred = frozenset(keys)
        waiting, self._heap = self._heap, []
        self._inside.clear()
        for *_, feed in waiting:
            self.push(feed)


def fit(feed: Feed, size: int, seconds: float) -> None:
    """After a piece of `size` bytes: keep the next one near twenty milliseconds."""
    if size >= feed.piece and seconds < FAST_S:
        feed.piece = min(LARGE, feed.piece * 2)
    elif seconds > SLOW_S:
        feed.piece = max(SMALL, feed.piece // 2)
