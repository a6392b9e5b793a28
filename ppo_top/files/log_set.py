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

from ppo_top.files.discovery import FoundFile
from ppo_top.files.log_reader import LogReader
from ppo_top.files.rejected import RejectedFiles, rechecks_per_round
from ppo_top.files.update import Source
from ppo_top.parsers import FormatDetector

RECENT_LOG_S = 600.0
"""A log that changed within this time is looked at in every round."""
MAX_REMOVED_KEYS = 100_000
"""So many names of deleted logs are remembered, in case they return."""


class LogSet:
    """What is followed, by path; iterates over the feeds.

    `progress_is_stale`: whether sizes or what was read of them may have changed since `progress`
    was asked.
    """

    def __init__(self, detector: FormatDetector, clock: Callable[[], float]) -> None:
        self._detector = detector
        self._clock = clock
        self._readers: dict[str, LogReader] = {}
        self._keys: set[str] = {"stdin"}
        self._removed_keys: set[str] = set()  # keys of sources that are gone
        self._folders: dict[str, dict[str, LogReader]] = {}
        self._recent: dict[str, LogReader] = {}
        self._idle: deque[LogReader] = deque()
        self._rejected = RejectedFiles()
        self.progress_is_stale = True
        self._progress = 0, 0

    def __iter__(self) -> Iterator[LogReader]:
        return iter(list(self._readers.values()))

    # --- coming and going --------------------------------------------------------------------

    def add_files(self, files: Iterable[FoundFile]) -> list[LogReader]:
        """Follow files that were found; those that have something to read are returned."""
        ready = []
        for found in files:
            feed = self._add_file(found)
            if feed.has_changed():
                ready.append(feed)
            self._schedule(feed)
        return ready

    def _add_file(self, found: FoundFile) -> LogReader:
        key = found.key if found.key not in self._keys else f"{found.root}/{found.key}"
        feed = LogReader(found.path, key, found.root, self._detector, found.is_explicit)
        feed.has_reappeared = key in self._removed_keys
        self._keys.add(key)
        self._removed_keys.discard(key)
        self._readers[found.path] = feed
        self._folders.setdefault(os.path.dirname(found.path), {})[found.path] = feed
        self.progress_is_stale = True
        return feed

    def _schedule(self, feed: LogReader) -> None:
        """Its age tells how often a log will be looked at."""
        age = max(0.0, time.time() - feed.mtime)
        feed.changed_at = self._clock() - age
        if age < RECENT_LOG_S:
            self._recent[feed.tail.path] = feed
        else:
            self._idle.append(feed)

    def remove_files(self, files: Iterable[FoundFile]) -> list[Source]:
        """Files that are gone; the sources that they were are returned."""
        gone: list[Source] = []
        for found in files:
            self._rejected.remove(found.path)
            feed = self._readers.get(found.path)
            if feed is None:
                continue
            self._discard(feed)
            gone.extend(feed.sources)
            if feed.source is not None and len(self._removed_keys) < MAX_REMOVED_KEYS:
                self._removed_keys.add(feed.key)
        return gone

    def reject(self, feed: LogReader) -> None:
        """No log: it is not read again unless it begins anew, and told if the user gave it."""
        self._discard(feed)
        self._rejected.add(feed.found_file, feed.tail)

    def _discard(self, feed: LogReader) -> None:
        self.progress_is_stale = True
        path = feed.tail.path
        self._readers.pop(path, None)
        self._recent.pop(path, None)
        self._keys.discard(feed.key)
        folder = self._folders.get(os.path.dirname(path), {})
        folder.pop(path, None)
        if not folder:
            self._folders.pop(os.path.dirname(path), None)
        feed.close()

    # --- looking -----------------------------------------------------------------------------

    def find_changed_in(self, folder: str) -> list[LogReader]:
        """Something was written in a folder: its logs that may give something."""
        return self._find_changed(self._folders.get(folder, {}).values())

    def sweep(self) -> list[LogReader]:
        """One round: the logs that may give something."""
        now, live = self._clock(), list(self._recent.values())
        changed = self._find_changed(live)
        for feed in live:
            if now - feed.changed_at > RECENT_LOG_S:
                del self._recent[feed.tail.path]
                self._idle.append(feed)
        some = [self._idle.popleft() for _ in range(rechecks_per_round(len(self._idle)))]
        changed += self._find_changed(some)
        self._idle.extend(
            feed
            for feed in some
            if feed.tail.path not in self._recent and self._readers.get(feed.tail.path) is feed
        )
        return changed + self.add_files(self._rejected.pop_changed())

    def _find_changed(self, feeds: Iterable[LogReader]) -> list[LogReader]:
        now, changed = self._clock(), [feed for feed in feeds if feed.has_changed()]
        for feed in changed:
            self.progress_is_stale = True
            feed.changed_at = now
            if not feed.rejected:
                self._recent[feed.tail.path] = feed
        return changed

    # --- asking ------------------------------------------------------------------------------

    def progress(self) -> tuple[int, int]:
        """Bytes that were read, of how many that are known."""
        if self.progress_is_stale:
            self.progress_is_stale = False
            sizes = [(feed.size, feed.offset) for feed in self._readers.values()]
            read = sum(min(offset, size) for size, offset in sizes)
            self._progress = read, sum(size for size, _ in sizes)
        return self._progress

    def recent_folders(self) -> dict[str, None]:
        """The folders of logs that changed lately, the newest first."""
        feeds = sorted(self._recent.values(), key=lambda feed: -feed.changed_at)
        return dict.fromkeys(os.path.dirname(feed.tail.path) for feed in feeds)

    def problems(self) -> list[str]:
        """What cannot be read, in words."""
        told = [f"{feed.tail.path} {feed.tail.problem}" for feed in self if feed.tail.problem]
        return self._rejected.problems + told
