"""Wakes the reader when something happens in directories with logs; never more than a hint.

watchdog is given single directories, never trees, and only the events that matter: version 7.1.0
with its defaults never comes to rest on some thousand directories. Each watched directory costs a
thread there, so only the liveliest ones are watched; the reader's own polling finds everything
anyway.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.files.machine.mounts import MOUNT_INFO, NETWORK_FILE_SYSTEMS, file_system_type
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import plural

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

MAX_WATCHES = 64
"""How many are watched at once; before watchdog 7 each takes one of 128 inotify instances."""
MAX_EVENTS_PER_SECOND = 2_000
"""A directory with more events in one second is no longer watched: polling it is cheaper."""
MAX_KNOWN_TYPES = 10_000


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
        """Why not every chosen directory is watched; empty if all are."""

    @property
    def network_types(self) -> list[str]:
        """Types of the network file systems that are polled because they send no events."""
        return sorted(set(self._network.copy().values()))  # called from other threads, too

    @property
    def summary(self) -> str:
        """What wakes the reader, for the screen: `Watching 64 directories (inotify)`."""
        kinds = ", ".join(self.network_types)
        count = len(self._watches)
        if not count:
            return f"Polling for changes ({kinds})" if kinds else "Polling for changes"
        system = type(self._observer).__name__.removesuffix("Observer").lower()
        watching = f"Watching {plural(count, 'directory', 'directories')} ({system})"
        return f"{watching}, polling {kinds}" if kinds else watching

    def set_directories(self, directories: Iterable[str]) -> None:
        """Watch these directories, the most important first, and no others."""
        wanted = self._choose(directories)
        for path in [path for path in self._watches if path not in wanted]:
            self._unwatch(path)
        self.problem = ""
        for path in wanted:
            if path not in self._watches and not self._watch(path):
                return

    def _choose(self, directories: Iterable[str]) -> dict[str, None]:
        """The first ones that can be watched; network file systems report only local writes."""
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
            if len(self._file_system_types) > MAX_KNOWN_TYPES:
                self._file_system_types.clear()
            self._file_system_types[path] = file_system_type(path, self._mounts)
        return self._file_system_types[path]

    def _watch(self, path: str) -> bool:
        """Add one directory; False when the system allows no more."""
        try:
            kinds = _event_kinds()
            observer = self._start_observer()
            handler = _Handler(self, path)
            # For a link watchdog would watch the link itself, not its target.
            real = os.path.realpath(path)
            self._watches[path] = observer.schedule(handler, real, event_filter=kinds)  # type: ignore[arg-type]
        except FileNotFoundError:
            return True  # deleted in the meantime
        except (OSError, RuntimeError, ImportError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            self.problem = f"cannot watch every directory ({reason}), polling instead"
            return False
        return True

    def _start_observer(self) -> BaseObserver:
        if self._observer is None:
            import logging

            from watchdog.observers import Observer

            # It would print lost events to the terminal; losing some costs us nothing.
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
            except (OSError, KeyError):  # the directory was deleted
                return

    def record_event(self, path: str, is_rename: bool) -> None:
        """Note an event in a watched directory (called by watchdog's threads)."""
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
        """Stop watching directories flooded with events until the next `set_directories`."""
        with self._lock:
            busy = [path for path in self._busy if path in self._watches]
        for path in busy:
            self._unwatch(path)

    def close(self) -> None:
        """Stop all threads."""
        observer, self._observer = self._observer, None
        self._watches.clear()
        if observer is not None:
            observer.stop()
            observer.join()


def _event_kinds() -> list[type[FileSystemEvent]]:
    """The events that tell of a change; ImportError without watchdog."""
    from watchdog.events import (
        DirCreatedEvent,
        DirDeletedEvent,
        DirMovedEvent,
        FileCreatedEvent,
        FileDeletedEvent,
        FileModifiedEvent,
        FileMovedEvent,
    )

    return [
        FileModifiedEvent, FileCreatedEvent, FileMovedEvent, FileDeletedEvent,
        DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
    ]  # fmt: skip


class _Handler:
    """watchdog's callback: passes on where something happened."""

    def __init__(self, watcher: Watcher, path: str) -> None:
        self._watcher = watcher
        self._path = path

    def dispatch(self, event: FileSystemEvent) -> None:
        """Pass an event on."""
        self._watcher.record_event(self._path, event.event_type != "modified")
