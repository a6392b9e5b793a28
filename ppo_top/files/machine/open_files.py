"""Whether a process still has a log open for writing, as far as this machine can tell.

Many trainers write no end marker: Stable-Baselines3 just closes its files. Silence alone does not
distinguish a run that ended from one that hangs; the table of open files does.
"""

# ruff: noqa: PTH115, PTH116, PTH119, PTH120, PTH208
# Paths stay strings here: a node has tens of thousands of open files.

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from ppo_top.files.machine.mounts import NETWORK_FILE_SYSTEMS, file_system_type
from ppo_top.files.mirrors import mirrored_host

SCAN_VALID_S = 20.0
"""How long one scan of all open files serves for all runs."""
SCAN_PAUSE_FACTOR = 200
"""A scan also serves this many times as long as it took."""
MAX_OPEN_FILES = 20_000
"""With more open files than this they are not scanned; these take some 60 ms."""
INITIAL_PID_NAMESPACE = "pid:[4026531836]"
"""The host's own process namespace; from any other (a container) not all processes are seen."""


class OpenFiles:
    """The files that processes of this machine have open."""

    def __init__(self, proc: str = "/proc", clock: Callable[[], float] = time.monotonic) -> None:
        self._proc = proc
        self._clock = clock
        self._next_scan = float("-inf")
        self._open: dict[str, list[tuple[str, str]]] = {}
        self._unwritten: dict[Path, bool] = {}
        self._file_system_types: dict[str, str] = {}

    def has_no_writers(self, logs: Iterable[Path]) -> bool:
        """Whether none of these logs is open for writing; False where that is unknown.

        It is unknown without `/proc` (macOS), inside a container, where very many files are open,
        on file systems that other machines write to, for copies of another machine's logs, and for
        files of users whose processes cannot be seen.
        """
        paths = list(logs)
        if not paths:
            return False
        if not self.can_see_writers:
            return False
        self._scan_if_due()
        return bool(self._open) and all(map(self._has_no_writer, paths))

    def writers(self, logs: Iterable[Path]) -> set[int]:
        """The processes (ids) seen here that have one of these logs open for writing."""
        self._scan_if_due()
        found = set()
        for log in map(os.path.realpath, logs):
            for handle in self._open.get(os.path.basename(log), ()):
                with suppress(OSError):
                    if self._is_write_handle(handle, os.stat(log)):
                        found.add(int(handle[0]))
        return found - {os.getpid()}

    def owner(self, log: Path) -> int | None:
        """The user (id) who owns a log, if every possible writer is visible."""
        found = self._seen_whole(os.path.realpath(log)) if self.can_see_writers else None
        return found.st_uid if found is not None else None

    def _scan_if_due(self) -> None:
        start = self._clock()
        if start >= self._next_scan:
            self._open = self._scan_handles()
            self._unwritten.clear()
            self._next_scan = start + max(SCAN_VALID_S, SCAN_PAUSE_FACTOR * (self._clock() - start))

    @property
    def can_see_writers(self) -> bool:
        """Whether this machine shows which processes have a file open."""
        try:
            return os.readlink(f"{self._proc}/self/ns/pid") == INITIAL_PID_NAMESPACE
        except OSError:
            return False

    def _has_no_writer(self, log: Path) -> bool:
        if log not in self._unwritten:
            self._unwritten[log] = self._check_log(os.path.realpath(log))
        return self._unwritten[log]

    def _check_log(self, log: str) -> bool:
        """Whether every possible writer is visible, and none has the file open for writing.

        Files are compared, not paths: a container sees the same file under another one.
        """
        found = self._seen_whole(log)
        handles = self._open.get(os.path.basename(log), ())
        return found is not None and not any(self._is_write_handle(each, found) for each in handles)

    def _seen_whole(self, log: str) -> os.stat_result | None:
        """A log of which every possible writer is visible; else None."""
        try:
            found = os.stat(log)
        except OSError:
            return None
        kind = self._file_system_type(os.path.dirname(log))
        is_ours = os.geteuid() in (0, found.st_uid) and not mirrored_host(log)
        return found if is_ours and kind and not NETWORK_FILE_SYSTEMS.fullmatch(kind) else None

    def _is_write_handle(self, handle: tuple[str, str], log: os.stat_result) -> bool:
        """Whether a handle is open on this file, and for more than reading."""
        process, number = handle
        try:
            if not os.path.samestat(os.stat(f"{self._proc}/{process}/fd/{number}"), log):
                return False
            with open(f"{self._proc}/{process}/fdinfo/{number}", encoding="ascii") as file:
                words = dict(line.split(":", 1) for line in file if ":" in line)
            return int(words["flags"], 8) & os.O_ACCMODE != os.O_RDONLY
        except (OSError, KeyError, ValueError):
            return False

    def _file_system_type(self, folder: str) -> str:
        if folder not in self._file_system_types:
            self._file_system_types[folder] = file_system_type(folder)
        return self._file_system_types[folder]

    def _scan_handles(self) -> dict[str, list[tuple[str, str]]]:
        """File name -> process and handle of each open file of that name; empty if too many are."""
        found: dict[str, list[tuple[str, str]]] = {}
        left = MAX_OPEN_FILES
        for process in processes_below(self._proc):
            try:
                handles = os.listdir(f"{self._proc}/{process}/fd")
            except OSError:  # it just ended, or belongs to another user
                continue
            left -= len(handles)
            if left < 0:
                return {}
            for handle in handles:
                target = link_target(f"{self._proc}/{process}/fd/{handle}")
                if target.startswith("/"):
                    found.setdefault(os.path.basename(target), []).append((process, handle))
        return found


def processes_below(proc: str) -> list[str]:
    """The ids of all processes that can be seen; none without /proc."""
    try:
        return list(filter(str.isdigit, os.listdir(proc)))
    except OSError:
        return []


def link_target(handle: str) -> str:
    """What a handle below /proc is open on; empty if it cannot be seen."""
    try:
        return os.readlink(handle)
    except OSError:
        return ""
