"""Whether anybody still writes a log: who has it open, as far as this machine can tell.

Many trainers leave no word of their end: Stable-Baselines3 just closes its files. Silence alone
cannot tell a run that is over from one that hangs; the table of open files can.
"""

# ruff: noqa: PTH115, PTH116, PTH119, PTH120, PTH208
# Paths stay text here: a node has tens of thousands of open files.

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ppo_top.files.watcher import NETWORK_FILE_SYSTEMS, file_system_type

SCAN_VALID_S = 20.0
"""So long one look at all open files serves for all runs,"""
SCAN_PAUSE_FACTOR = 200
"""and one that took a second for so many seconds."""
MAX_OPEN_FILES = 20_000
"""Where more files are open than this, nobody waits for a look at them: it takes some 60 ms."""
INITIAL_PID_NAMESPACE = "pid:[4026531836]"
"""The first namespace of processes; from inside another one (a container) not all are seen."""


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
        """Whether none of these logs is open for writing; False where this machine cannot tell.

        It cannot where there is no `/proc` (macOS), inside a container, where very many files are
        open, of file systems on which other machines write, and of files that belong to somebody
        whose processes cannot be seen.
        """
        every = list(logs)
        if not every:
            return False
        begun = self._clock()
        if begun >= self._next_scan:
            self._open = self._scan_handles() if self._sees_all_processes() else {}
            self._unwritten.clear()
            self._next_scan = begun + max(SCAN_VALID_S, SCAN_PAUSE_FACTOR * (self._clock() - begun))
        return bool(self._open) and all(map(self._has_no_writer, every))

    @property
    def can_see_writers(self) -> bool:
        """Whether this machine shows which processes have a file open."""
        return self._sees_all_processes()

    def _has_no_writer(self, log: Path) -> bool:
        if log not in self._unwritten:
            self._unwritten[log] = self._check_log(os.path.realpath(log))
        return self._unwritten[log]

    def _check_log(self, log: str) -> bool:
        """Whether only processes that we can see write there, and none has it open to write.

        It is the file that counts: a container knows it by another path.
        """
        try:
            found = os.stat(log)
        except OSError:
            return False
        kind = self._file_system_type(os.path.dirname(log))
        if (
            os.geteuid() not in (0, found.st_uid)
            or not kind
            or NETWORK_FILE_SYSTEMS.fullmatch(kind)
        ):
            return False
        handles = self._open.get(os.path.basename(log), ())
        return not any(self._is_write_handle(handle, found) for handle in handles)

    def _is_write_handle(self, handle: tuple[str, str], log: os.stat_result) -> bool:
        """Whether a handle is of this file and for more than reading; one that is closed is not."""
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

    def _sees_all_processes(self) -> bool:
        try:
            return os.readlink(f"{self._proc}/self/ns/pid") == INITIAL_PID_NAMESPACE
        except OSError:
            return False

    def _scan_handles(self) -> dict[str, list[tuple[str, str]]]:
        """A file's name -> process and handle of each that has one of this name open.

        Empty where too many files are open.
        """
        found: dict[str, list[tuple[str, str]]] = {}
        left = MAX_OPEN_FILES
        for process in filter(str.isdigit, os.listdir(self._proc)):
            try:
                handles = os.listdir(f"{self._proc}/{process}/fd")
            except OSError:  # it ended just now, or is somebody else's
                continue
            left -= len(handles)
            if left < 0:
                return {}
            for handle in handles:
                target = _target(f"{self._proc}/{process}/fd/{handle}")
                if target.startswith("/"):
                    found.setdefault(os.path.basename(target), []).append((process, handle))
        return found


def _target(handle: str) -> str:
    try:
        return os.readlink(handle)
    except OSError:
        return ""
