"""Who is read next: what is in focus, then everyone in turn, the newest first, piece by piece."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ppo_top.feed import Feed

SMALL, LARGE = 1 << 16, 4 << 20
"""Bounds of the piece that is read at once; between them it follows the speed of the reader."""
SLOW_S, FAST_S = 0.03, 0.01
"""A piece that took longer was too large for a screen that waits, one that took less too small."""


class Turns:
    """The logs that have something to read, in the order in which they are read.

    A log that has had a piece stands behind those that have not, so that a large one keeps no
    small one waiting; one that was idle joins where the others are.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, int, Feed]] = []
        self._inside: set[int] = set()
        self._count = 0
        self._turn = 0
        self._preferred: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, feed: Feed, again: bool = False) -> None:
        """Line up, unless in line already; `again`: behind all who wait now."""
        if id(feed) in self._inside:
            return
        self._inside.add(id(feed))
        self._count += 1
        feed.turn = max(feed.turn, self._turn + again)
        turn = -1 if feed.key in self._preferred else feed.turn
        heapq.heappush(self._heap, (turn, -feed.mtime, self._count, feed))

    def pop(self) -> Feed:
        """Who is next."""
        turn, _, _, feed = heapq.heappop(self._heap)
        self._inside.discard(id(feed))
        self._turn = max(turn, self._turn)
        return feed

    def prefer(self, keys: Iterable[str]) -> None:
        """From now on the logs with these keys come before all others."""
        self._preferred = frozenset(keys)
        waiting, self._heap = self._heap, []
        self._inside.clear()
        for _, _, _, feed in waiting:
            self.push(feed)


def fit(feed: Feed, size: int, seconds: float) -> None:
    """After a piece of `size` bytes: keep the next one near twenty milliseconds."""
    if size >= feed.piece and seconds < FAST_S:
        feed.piece = min(LARGE, feed.piece * 2)
    elif seconds > SLOW_S:
        feed.piece = max(SMALL, feed.piece // 2)
