"""The files that are followed, and which of them are looked at when.

Logs that changed lately are looked at in every round, old ones in turn, files that are no logs in
turn, too: these may become some. Looking costs one system call a file.
"""

# ruff: noqa: PTH120
# Paths stay text here: an object for each would cost more than the system call.

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from ppo_top.files.discovery import Found
from ppo_top.files.log_reader import FileFeed
from ppo_top.files.rejected import Refused, in_turn
from ppo_top.files.update import Source
from ppo_top.parsers import Claim

LATELY_S = 600.0
"""A log that changed within this time is looked at in every round."""
MOST_LEFT = 100_000
"""So many names of deleted logs are remembered, in case they return."""


class Logs:
    """What is followed, by path; iterates over the feeds.

    `moved`: whether sizes or what was read of them may have changed since `progress` was asked.
    """

    def __init__(self, claim: Claim, clock: Callable[[], float]) -> None:
        self._claim = claim
        self._clock = clock
        self._feeds: dict[str, FileFeed] = {}
        self._keys: set[str] = {"stdin"}
        self._left: set[str] = set()  # keys of sources that are gone
        self._folders: dict[str, dict[str, FileFeed]] = {}
        self._live: dict[str, FileFeed] = {}
        self._old: deque[FileFeed] = deque()
        self._refused = Refused()
        self.moved = True
        self._sums = 0, 0

    def __iter__(self) -> Iterator[FileFeed]:
        return iter(list(self._feeds.values()))

    # --- coming and going --------------------------------------------------------------------

    def begin(self, files: Iterable[Found]) -> list[FileFeed]:
        """Follow files that were found; those that have something to read are returned."""
        ready = []
        for found in files:
            feed = self._add(found)
            if feed.changed():
                ready.append(feed)
            self._place(feed)
        return ready

    def _add(self, found: Found) -> FileFeed:
        key = found.key if found.key not in self._keys else f"{found.root}/{found.key}"
        feed = FileFeed(found.path, key, found.root, self._claim, found.named)
        feed.returns = key in self._left
        self._keys.add(key)
        self._left.discard(key)
        self._feeds[found.path] = feed
        self._folders.setdefault(os.path.dirname(found.path), {})[found.path] = feed
        self.moved = True
        return feed

    def _place(self, feed: FileFeed) -> None:
        """Its age tells how often a log will be looked at."""
        age = max(0.0, time.time() - feed.mtime)
        feed.moved = self._clock() - age
        if age < LATELY_S:
            self._live[feed.tail.path] = feed
        else:
            self._old.append(feed)

    def lose(self, files: Iterable[Found]) -> list[Source]:
        """Files that are gone; the sources that they were are returned."""
        gone: list[Source] = []
        for found in files:
            self._refused.drop(found.path)
            feed = self._feeds.get(found.path)
            if feed is None:
                continue
            self._forget(feed)
            gone.extend(feed.sources)
            if feed.source is not None and len(self._left) < MOST_LEFT:
                self._left.add(feed.key)
        return gone

    def refuse(self, feed: FileFeed) -> None:
        """No log: it is not read again unless it begins anew, and told if the user gave it."""
        self._forget(feed)
        self._refused.add(feed.found, feed.tail)

    def _forget(self, feed: FileFeed) -> None:
        self.moved = True
        path = feed.tail.path
        self._feeds.pop(path, None)
        self._live.pop(path, None)
        self._keys.discard(feed.key)
        folder = self._folders.get(os.path.dirname(path), {})
        folder.pop(path, None)
        if not folder:
            self._folders.pop(os.path.dirname(path), None)
        feed.close()

    # --- looking -----------------------------------------------------------------------------

    def grew(self, folder: str) -> list[FileFeed]:
        """Something was written in a folder: its logs that may give something."""
        return self._changed(self._folders.get(folder, {}).values())

    def sweep(self) -> list[FileFeed]:
        """One round: the logs that may give something."""
        now, live = self._clock(), list(self._live.values())
        changed = self._changed(live)
        for feed in live:
            if now - feed.moved > LATELY_S:
                del self._live[feed.tail.path]
                self._old.append(feed)
        some = [self._old.popleft() for _ in range(in_turn(len(self._old)))]
        changed += self._changed(some)
        self._old.extend(
            feed
            for feed in some
            if feed.tail.path not in self._live and self._feeds.get(feed.tail.path) is feed
        )
        return changed + self.begin(self._refused.renewed())

    def _changed(self, feeds: Iterable[FileFeed]) -> list[FileFeed]:
        now, changed = self._clock(), [feed for feed in feeds if feed.changed()]
        for feed in changed:
            self.moved = True
            feed.moved = now
            if not feed.refused:
                self._live[feed.tail.path] = feed
        return changed

    # --- asking ------------------------------------------------------------------------------

    def progress(self) -> tuple[int, int]:
        """Bytes that were read, of how many that are known."""
        if self.moved:
            self.moved = False
            sizes = [(feed.size, feed.offset) for feed in self._feeds.values()]
            read = sum(min(offset, size) for size, offset in sizes)
            self._sums = read, sum(size for size, _ in sizes)
        return self._sums

    def folders(self) -> dict[str, None]:
        """The folders of logs that changed lately, the newest first."""
        feeds = sorted(self._live.values(), key=lambda feed: -feed.moved)
        return dict.fromkeys(os.path.dirname(feed.tail.path) for feed in feeds)

    def problems(self) -> list[str]:
        """What cannot be read, in words."""
        told = [f"{feed.tail.path} {feed.tail.trouble}" for feed in self if feed.tail.trouble]
        return self._refused.problems + told
