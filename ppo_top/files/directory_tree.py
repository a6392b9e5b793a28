"""The directories that were listed, what lies in them, and what appeared and went since.

Each directory is listed when its turn comes (`discover` decides when), and compared with what was
known of it. A link to a directory is followed unless what it leads to is seen anyway (or contains
the link).
"""

# ruff: noqa: PTH110, PTH116, PTH118, PTH119, PTH120
# Paths stay text here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from ppo_top.paths import NON_LOG_SUFFIXES, SKIPPED_FOLDERS, SYSTEM_FOLDERS, is_inside, join_key

MAX_DIRECTORIES = 300_000
"""More directories than this are not remembered: a PATH like / is a mistake."""
LISTING_PAUSE_FACTOR = 50
"""A directory whose listing took a second is not listed again before this many seconds."""
RECENT_MTIME_NS = 2_000_000_000
"""A time stamp as young as this may hide a second change (coarse clocks, NFS): list again."""


class FoundFile(NamedTuple):
    """A file that may be a log: where it is, its path below its PATH, and that PATH.

    `is_explicit` is set when the user gave this very file.
    """

    path: str
    key: str
    root: str
    is_explicit: bool = False


@dataclass(slots=True, eq=False)
class Folder:
    path: str
    key: str
    root: str
    depth: int
    listed_stamp: tuple[int, int, int] | None = None
    changed_at: float = 0.0
    files: dict[str, FoundFile] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)
    real_path: str = ""
    """For a given path and a followed link: what it leads to."""
    next_listing: float = 0.0
    """Not listed again before: a crowded directory in which files come and go costs little."""
    removed: bool = False


class DirectoryTree:
    """All directories that are known, and the files in them whose names `is_candidate` matches.

    `unlisted` and `unresolved_links` wait for a look, `recent` changed lately, `found` and
    `removed` are told once.
    """

    def __init__(self, wanted: re.Pattern[str], max_depth: int, clock: Callable[[], float]) -> None:
        self.problems: dict[str, str] = {}
        self.folders: dict[str, Folder] = {}
        self.unlisted: deque[Folder] = deque()
        self.unresolved_links: deque[tuple[Folder, str]] = deque()
        self.recent: dict[str, Folder] = {}
        self.found: list[FoundFile] = []
        self.removed: list[FoundFile] = []
        self._pattern = wanted.search
        self._max_depth = max_depth
        self._clock = clock
        self._entry_points: dict[str, Folder] = {}  # from which everything below is reached

    def is_candidate(self, name: str) -> bool:
        """Whether the name may be that of a log; asked of every file that there is."""
        stem, _, suffix = name.rpartition(".")
        if suffix in NON_LOG_SUFFIXES and "." not in stem:
            return False
        return self._pattern(name) is not None

    # --- what is new -------------------------------------------------------------------------

    def add_folder(self, folder: Folder) -> None:
        """Know a directory; it waits to be listed."""
        if len(self.folders) >= MAX_DIRECTORIES:
            every = os.path.join(folder.root, "*")
            self.problems[every] = f"more than {MAX_DIRECTORIES:,} directories: not all are seen"
            return
        self.folders[folder.path] = folder
        if folder.real_path:
            self._entry_points[folder.path] = folder
        self.unlisted.append(folder)

    def resolve_link(self, folder: Folder, name: str) -> None:
        """A link counts when it leads to a log or a directory that is not seen anyway."""
        path = os.path.join(folder.path, name)
        try:
            mode = os.stat(path).st_mode
        except OSError:  # leads nowhere
            return
        is_folder = stat.S_ISDIR(mode)
        if folder.removed or not (is_folder or (stat.S_ISREG(mode) and self.is_candidate(name))):
            return
        home = os.path.realpath(path)
        if self._is_covered(home, is_folder):
            return
        if is_folder:
            self._add_child_folder(folder, name, home)
        else:
            self._add_file(folder, name)

    def _is_covered(self, home: str, is_folder: bool) -> bool:
        for folder in self._entry_points.values():
            if is_inside(home, folder.real_path) or (
                is_folder and is_inside(folder.real_path, home)
            ):
                return True
        return False

    # --- what is known -----------------------------------------------------------------------

    def list_folder(self, folder: Folder) -> None:
        """Compare a directory with what was known of it."""
        start = time.thread_time()
        try:
            found = os.stat(folder.path)
            with os.scandir(folder.path) as entries:
                seen = self._scan_entries(folder, entries)
        except OSError as error:
            self.handle_listing_error(folder, error)
            return
        self.problems.pop(folder.path, None)
        folder.next_listing = self._clock() + LISTING_PAUSE_FACTOR * (time.thread_time() - start)
        age_ns = time.time_ns() - found.st_mtime_ns
        young = abs(age_ns) < RECENT_MTIME_NS
        folder.listed_stamp = None if young else (found.st_dev, found.st_ino, found.st_mtime_ns)
        if young or not folder.depth or folder.changed_at:
            folder.changed_at = self._clock()
            self.recent[folder.path] = folder
        for name in [name for name in chain(folder.files, folder.folders) if name not in seen]:
            self._remove_entry(folder, name)

    def _scan_entries(self, folder: Folder, entries: Iterable[os.DirEntry[str]]) -> set[str]:
        """Names of all directories, links and wanted files; what is new among them is added."""
        seen = set()
        wanted, files, folders = self.is_candidate, folder.files, folder.folders
        for entry in entries:
            name = entry.name
            if entry.is_file(follow_symlinks=False):  # first: most entries are files
                if wanted(name):
                    seen.add(name)
                    if name not in files:
                        self._add_file(folder, name)
            elif entry.is_dir(follow_symlinks=False):
                seen.add(name)
                if name not in folders:
                    self._add_child_folder(folder, name)
            elif entry.is_symlink() and self._check_link(folder, name):
                seen.add(name)
        return seen

    def _check_link(self, folder: Folder, name: str) -> bool:
        """Whether a known link still leads where it led; a new one is followed later."""
        known = folder.folders.get(name)
        if known is not None and known.real_path == os.path.realpath(known.path):
            return True
        if known is None and name in folder.files:
            return os.path.exists(os.path.join(folder.path, name))
        self.unresolved_links.append((folder, name))
        return False

    def _add_child_folder(self, folder: Folder, name: str, home: str = "") -> None:
        path = os.path.join(folder.path, name)
        if name in SKIPPED_FOLDERS or path in SYSTEM_FOLDERS or folder.depth >= self._max_depth:
            return
        child = Folder(
            path, join_key(folder.key, name), folder.root, folder.depth + 1, real_path=home
        )
        folder.folders[name] = child
        self.add_folder(child)

    def _add_file(self, folder: Folder, name: str) -> None:
        path = os.path.join(folder.path, name)
        found = FoundFile(path, join_key(folder.key, name), folder.root)
        folder.files[name] = found
        self.found.append(found)

    # --- what is gone ------------------------------------------------------------------------

    def handle_listing_error(self, folder: Folder, error: OSError) -> None:
        """A directory that is not there is dropped; one that cannot be read is tried again."""
        folder.listed_stamp = None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self.remove_folder(folder)
        else:
            self.report_unreadable(folder.path, error)

    def report_unreadable(self, path: str, error: OSError) -> None:
        """Say that a directory cannot be read, until it can."""
        self.problems[path] = f"cannot be read: {(error.strerror or str(error)).lower()}"

    def _remove_entry(self, folder: Folder, name: str) -> None:
        if name in folder.files:
            self.removed.append(folder.files.pop(name))
        if name in folder.folders:
            self.remove_folder(folder.folders.pop(name))

    def remove_folder(self, folder: Folder) -> None:
        """Forget a directory and all below it."""
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            each.removed = True
            self.folders.pop(each.path, None)
            self._entry_points.pop(each.path, None)
            self.recent.pop(each.path, None)
            self.problems.pop(each.path, None)
            self.removed.extend(each.files.values())
            waiting.extend(each.folders.values())
        parent = self.folders.get(os.path.dirname(folder.path))
        if parent is not None:
            parent.folders.pop(os.path.basename(folder.path), None)
            parent.listed_stamp = None
