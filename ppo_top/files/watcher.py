"""Wakes the reader when something happens in directories that hold logs; only ever a hint.

watchdog is asked for single directories, never for trees, and only for the events that matter:
version 7.1.0 with its defaults on some thousand directories never comes to rest. Each watched
directory is a thread there, so only the most lively ones are watched; the reader's own sweep sees
everything anyway.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

MAX_WATCHES = 64
"""So many directories at once; before watchdog 7 each takes one of a user's 128 instances."""
MAX_EVENTS_PER_SECOND = 2_000
"""A directory with more events in one second wakes nobody any more: the sweep is cheaper."""
NETWORK_FILE_SYSTEMS = re.compile(
    r"nfs\d?|lustre|cifs|smb\d?|smbfs|9p|ceph|gpfs|beegfs|glusterfs|afs|orangefs|wekafs|virtiofs|vboxsf"
    r"|prl_fs|drvfs|overlay|aufs|fuse.*"
)
"""File systems on which other machines (or layers) write without an event here."""
MOUNT_INFO = Path("/proc/self/mountinfo")


class Hints(NamedTuple):
    """Directories in which a file grew, and those in which names came or went."""

    written: set[str]
    renamed: set[str]


class Watcher:
    """Watches a changing set of directories and calls `wake` from its own threads."""

    def __init__(
        self, wake: Callable[[], None], max_watches: int = MAX_WATCHES, mounts: Path = MOUNT_INFO
    ) -> None:
        self._wake = wake
        self._max_watches = max_watches
        self._mounts = mounts
        self._lock = threading.Lock()
        self._written: set[str] = set()
        self._renamed: set[str] = set()
        self._counts: dict[str, int] = {}
        self._second = 0.0
        self._busy: set[str] = set()
        self._observer: BaseObserver | None = None
        self._watches: dict[str, ObservedWatch] = {}
        self._network: dict[str, str] = {}
        self._file_system_types: dict[str, str] = {}
        self.problem = ""
        """Why watching is not complete, in words; empty when it is."""

    @property
    def summary(self) -> str:
        """What wakes the reader, for the screen."""
        kinds = ", ".join(sorted(set(self._network.copy().values())))  # other threads ask, too
        sweeping = f"sweeping ({kinds})" if kinds else "sweeping"
        count = len(self._watches)
        if not count:
            return sweeping
        system = type(self._observer).__name__.removesuffix("Observer").lower()
        watching = f"{system} on {count} director{'y' if count == 1 else 'ies'}"
        return f"{watching}, {sweeping}" if kinds else watching

    def set_directories(self, directories: Iterable[str]) -> None:
        """Watch these directories, the most wanted first, and no other ones."""
        wanted = self._choose(directories)
        for path in [path for path in self._watches if path not in wanted]:
            self._unwatch(path)
        self.problem = ""
        for path in wanted:
            if path not in self._watches and not self._watch(path):
                return

    def _choose(self, directories: Iterable[str]) -> dict[str, None]:
        """The first ones that can be watched; on network file systems events tell half of it."""
        chosen: dict[str, None] = {}
        self._network.clear()
        with self._lock:
            busy = set(self._busy)
        for path in directories:
            kind = self._file_system_type(path)
            if NETWORK_FILE_SYSTEMS.fullmatch(kind):
                self._network[path] = kind
            elif path not in busy and len(chosen) < self._max_watches:
                chosen[path] = None
        return chosen

    def _file_system_type(self, path: str) -> str:
        if path not in self._file_system_types:
            if len(self._file_system_types) > 10_000:
                self._file_system_types.clear()
            self._file_system_types[path] = file_system_type(path, self._mounts)
        return self._file_system_types[path]

    def _watch(self, path: str) -> bool:
        """Add one directory; False when the machine allows no more."""
        from watchdog.events import (
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
            FileCreatedEvent,
            FileDeletedEvent,
            FileModifiedEvent,
            FileMovedEvent,
        )

        kinds: list[type[FileSystemEvent]] = [
            FileModifiedEvent, FileCreatedEvent, FileMovedEvent, FileDeletedEvent,
            DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
        ]  # fmt: skip
        try:
            observer = self._start_observer()
            handler = _Handler(self, path)
            # A link would be watched itself, not what it leads to.
            real = os.path.realpath(path)
            self._watches[path] = observer.schedule(handler, real, event_filter=kinds)  # type: ignore[arg-type]
        except FileNotFoundError:
            return True  # gone meanwhile
        except (OSError, RuntimeError, ImportError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            self.problem = f"no more directories can be watched ({reason}): sweeping the others"
            return False
        return True

    def _start_observer(self) -> BaseObserver:
        if self._observer is None:
            import logging

            from watchdog.observers import Observer

            # It would print to the terminal that events were lost, which costs us nothing.
            logging.getLogger("watchdog").addHandler(logging.NullHandler())
            observer = Observer()
            observer.start()
            self._observer = observer
        return self._observer

    def _unwatch(self, path: str) -> None:
        watch = self._watches.pop(path)
        if self._observer is not None:
            try:
                self._observer.unschedule(watch)
            except (OSError, KeyError):  # its directory is gone
                return

    def record_event(self, path: str, is_rename: bool) -> None:
        """Something happened in a watched directory (called by watchdog's threads)."""
        with self._lock:
            now = time.monotonic()
            if now - self._second >= 1.0:
                self._second = now
                self._counts.clear()
                self._busy.clear()
            self._counts[path] = self._counts.get(path, 0) + 1
            if self._counts[path] > MAX_EVENTS_PER_SECOND:
                self._busy.add(path)
            known = path in (self._renamed if is_rename else self._written)
            self._written.add(path)
            if is_rename:
                self._renamed.add(path)
        if not known:
            self._wake()

    def pop_hints(self) -> Hints:
        """What happened since the last call."""
        with self._lock:
            hints = Hints(self._written, self._renamed)
            self._written, self._renamed = set(), set()
        return hints

    def unwatch_busy(self) -> None:
        """Stop watching directories with a flood of events until the next `set_directories`."""
        with self._lock:
            busy = [path for path in self._busy if path in self._watches]
        for path in busy:
            self._unwatch(path)

    def close(self) -> None:
        """End all threads."""
        observer, self._observer = self._observer, None
        self._watches.clear()
        if observer is not None:
            observer.stop()
            observer.join()


class _Handler:
    """What watchdog calls: only says where something happened."""

    def __init__(self, watcher: Watcher, path: str) -> None:
        self._watcher = watcher
        self._path = path

    def dispatch(self, event: FileSystemEvent) -> None:
        """Pass an event on."""
        self._watcher.record_event(self._path, event.event_type != "modified")


def file_system_type(path: str, mounts: Path = MOUNT_INFO) -> str:
    """The type of the file system that holds a path, such as `ext4`; empty where it is unknown."""
    try:
        table = mounts.read_text(errors="surrogateescape")
    except OSError:
        return ""
    home = os.path.realpath(path)
    best, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if "-" not in fields[6:]:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        inside = home == point or home.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:  # a later mount on the same place hides the earlier one
            best, kind = len(point), fields[fields.index("-", 6) + 1]
    return kind
