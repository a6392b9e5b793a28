"""The files that are followed, and which of them are checked when.

Recently changed logs are checked in every round, old ones in turn, and so are files that are no
logs, for they may become some. A check costs one system call per file.
"""

# ruff: noqa: PTH120
# Paths stay strings here: an object for each would cost more than the system call.

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from ppo_top.files.discovery import FoundFile
from ppo_top.files.mirrors import shown_path
from ppo_top.files.passed_over import EMPTY, PassedOver
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.files.rejected import RejectedFiles, rechecks_per_round
from ppo_top.files.tail import FileStamp
from ppo_top.files.update import KnownLog, LogMemory, Source
from ppo_top.parsers import FormatDetector

RECENT_LOG_S = 600.0
"""A log that changed within this time is checked in every round."""
MAX_LOGS_OF_A_RUN = 32
"""A folder with more logs than this is not that of one run: each old log stays unopened. In others
all are opened once one is written, for a run that lasts weeks has settings and earlier logs there.
"""
MAX_REMOVED_KEYS = 100_000
"""How many names of deleted logs are remembered, in case they come back."""


class LogSet:
    """The readers of all followed files; iterates over them.

    `progress_is_stale`: sizes or read positions may have changed since `progress` was called.
    A log not written for `active_s` seconds is not opened before it, or another log of its run, is
    written again.
    """

    def __init__(
        self,
        detector: FormatDetector,
        clock: Callable[[], float],
        active_s: float = math.inf,
        memory: LogMemory | None = None,
    ) -> None:
        self._detector = detector
        self._clock = clock
        self._active_s = active_s
        self._memory = memory
        self._known: list[KnownLog] = []
        self._readers: dict[str, LogReader] = {}
        self._keys: set[str] = {"stdin"}
        self._removed_keys: set[str] = set()
        self._folders: dict[str, dict[str, LogReader]] = {}
        self._recent: dict[str, LogReader] = {}
        self._idle: deque[LogReader] = deque()
        self._rejected = RejectedFiles()
        self.progress_is_stale = True
        self._progress = 0, 0
        self.counts = 0, 0
        """How many files are followed, and in how many folders all of them are left unopened."""

    def __iter__(self) -> Iterator[LogReader]:
        return iter(list(self._readers.values()))

    # --- coming and going --------------------------------------------------------------------

    def add_files(self, files: Iterable[FoundFile]) -> list[LogReader]:
        """Follow these files; the readers of those with something to read are returned."""
        readers = [self._add_file(found) for found in files]
        changed = [reader for reader in readers if reader.has_changed()]
        for reader in readers:
            self._schedule(reader)
        return [reader for reader in changed if not self.is_inactive(reader)]

    def _add_file(self, found: FoundFile) -> LogReader:
        key = found.key
        if key in self._keys:
            key = f"{shown_path(found.root)}/{key}"
        reader = LogReader(found._replace(key=key), self._detector)
        reader.has_reappeared = key in self._removed_keys
        known = self._memory.known_log(found) if self._memory is not None else None
        if known is not None and key == found.key and not reader.has_reappeared:
            reader.skip(known)
            self._known.append(known)
        self._keys.add(key)
        self._removed_keys.discard(key)
        self._readers[found.path] = reader
        self._folders.setdefault(os.path.dirname(found.path), {})[found.path] = reader
        self.progress_is_stale = True
        return reader

    def pop_known(self) -> list[KnownLog]:
        """The files that were found since the last call and need not be read."""
        known, self._known = self._known, []
        return known

    def _schedule(self, reader: LogReader) -> None:
        """The age of a log decides how often it is checked."""
        age = max(0.0, time.time() - reader.mtime)
        reader.changed_at = self._clock() - age
        if age < RECENT_LOG_S:
            self._recent[reader.tail.path] = reader
        else:
            self._idle.append(reader)

    def remove_files(self, files: Iterable[FoundFile]) -> list[Source]:
        """Drop deleted files; their sources are returned."""
        removed: list[Source] = []
        for found in files:
            self._rejected.remove(found.path)
            reader = self._readers.get(found.path)
            if reader is None:
                continue
            self._discard(reader)
            removed.extend(reader.sources)
            if reader.source is not None and len(self._removed_keys) < MAX_REMOVED_KEYS:
                self._removed_keys.add(reader.key)
        return removed

    def reject(self, reader: LogReader) -> None:
        """Drop a file that is no log; it is tried again should it ever begin with other bytes."""
        self._discard(reader)
        self._rejected.add(reader.found_file, reader.tail)

    def pop_rejected_changed(self) -> bool:
        """Whether the files that are no logs are others than at the last call."""
        changed, self._rejected.has_changed = self._rejected.has_changed, False
        return changed

    def _discard(self, reader: LogReader) -> None:
        self.progress_is_stale = True
        path = reader.tail.path
        self._readers.pop(path, None)
        self._recent.pop(path, None)
        self._keys.discard(reader.key)
        folder = self._folders.get(os.path.dirname(path), {})
        folder.pop(path, None)
        if not folder:
            self._folders.pop(os.path.dirname(path), None)
        reader.close()

    # --- checking ----------------------------------------------------------------------------

    def find_changed_in(self, folder: str) -> list[LogReader]:
        """The readers of the logs in a folder that may give something."""
        return self._find_changed(self._folders.get(folder, {}).values())

    def sweep(self) -> list[LogReader]:
        """One round; the readers that may give something are returned."""
        now, recent = self._clock(), list(self._recent.values())
        changed = self._find_changed(recent)
        for reader in recent:
            if now - reader.changed_at > RECENT_LOG_S:
                del self._recent[reader.tail.path]
                self._idle.append(reader)
        some = [self._idle.popleft() for _ in range(rechecks_per_round(len(self._idle)))]
        changed += self._find_changed(some)
        idle = (reader for reader in some if reader.tail.path not in self._recent)
        self._idle.extend(each for each in idle if self._readers.get(each.tail.path) is each)
        return changed + self.add_files(self._rejected.pop_changed())

    def _find_changed(self, readers: Iterable[LogReader]) -> list[LogReader]:
        now, changed = self._clock(), [reader for reader in readers if self._has_news(reader)]
        for reader in changed:
            self.progress_is_stale = True
            reader.changed_at = now
            if not reader.rejected:
                self._recent[reader.tail.path] = reader
        return changed

    def _has_news(self, reader: LogReader) -> bool:
        """Whether a log may give something; one call of `stat`."""
        return reader.has_changed() and not self.is_inactive(reader)

    def is_inactive(self, reader: LogReader) -> bool:
        """Whether a log is left unopened because of its age."""
        if self._is_active(reader):
            return False
        beside = self._folders.get(os.path.dirname(reader.tail.path), {})
        return len(beside) > MAX_LOGS_OF_A_RUN or not any(map(self._is_active, beside.values()))

    def _is_active(self, reader: LogReader) -> bool:
        return reader.offset > 0 or time.time() - reader.mtime <= self._active_s

    # --- asking ------------------------------------------------------------------------------

    def progress(self) -> tuple[int, int]:
        """Bytes that were read, and bytes of all known logs."""
        if self.progress_is_stale:
            self.progress_is_stale = False
            wanted = [self._wanted_in(folder) for folder in self._folders.values()]
            sizes = [(reader.size, reader.offset) for each in wanted for reader in each]
            read = sum(min(offset, size) for size, offset in sizes)
            self._progress = read, sum(size for size, _ in sizes)
            self.counts = len(self._readers), sum(not each for each in wanted)
        return self._progress

    def _wanted_in(self, folder: Mapping[str, LogReader]) -> list[LogReader]:
        """The readers of a folder that are not left unopened."""
        active = [reader for reader in folder.values() if self._is_active(reader)]
        is_of_a_run = active and len(folder) <= MAX_LOGS_OF_A_RUN
        return list(folder.values()) if is_of_a_run else active

    def read_stamps(self) -> dict[str, FileStamp]:
        """path -> what each file was like when all of it had been read; empty before."""
        stamps = {reader.tail.path: reader.read_stamp for reader in self}
        return {**stamps, **self._rejected.stamps}

    def unused_stamps(self) -> dict[str, dict[str, FileStamp]]:
        """root -> key -> stamp, for the files that turned out to be no logs or are empty."""
        found: dict[str, dict[str, FileStamp]] = {}
        for root, key, stamp in self._rejected.keyed_stamps():
            found.setdefault(root, {})[key] = stamp
        for reader in self:
            if reader.source is None and reader.read_stamp:
                found.setdefault(reader.found_file.root, {})[reader.key] = reader.read_stamp
        return found

    def passed_over(self) -> list[PassedOver]:
        """The files that turned out to be no logs, or are empty."""
        empty = [each.tail.path for each in self if each.source is None and not each.size]
        return [*self._rejected.passed_over(), *(PassedOver(path, EMPTY) for path in empty)]

    def recent_folders(self) -> dict[str, None]:
        """The folders of recently changed logs, the newest first."""
        readers = sorted(self._recent.values(), key=lambda reader: -reader.changed_at)
        return dict.fromkeys(os.path.dirname(reader.tail.path) for reader in readers)

    def problems(self) -> list[str]:
        """What cannot be read, and named files that are no logs, one line each."""
        return self._rejected.problems + self._unreadable_logs()

    def unreadable(self) -> list[str]:
        """What cannot be read, one line each."""
        return self._rejected.unreadable + self._unreadable_logs()

    def _unreadable_logs(self) -> list[str]:
        tails = [reader.tail for reader in self if reader.tail.problem]
        return [f"{shown_path(tail.path)}: {tail.problem}" for tail in tails]
