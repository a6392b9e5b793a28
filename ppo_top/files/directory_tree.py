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

from ppo_top.paths import NEVER, NO_LOGS, SYSTEM, below, is_inside

MOST_FOLDERS = 300_000
"""More directories than this are not remembered: a PATH like / is a mistake."""
SHARE = 50
"""A directory whose listing took a second is not listed again before this many seconds."""
YOUNG_NS = 2_000_000_000
"""A time stamp as young as this may hide a second change (coarse clocks, NFS): list again."""


class Found(NamedTuple):
    """A file that may be a log: where it is, its path below its PATH, and that PATH.

    `named` is set when the user gave this very file.
    """

    path: str
    key: str
    root: str
    named: bool = False


@dataclass(slots=True, eq=False)
class Folder:
    path: str
    key: str
    root: str
    depth: int
    stamp: tuple[int, int, int] | None = None
    moved: float = 0.0
    files: dict[str, Found] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)
    home: str = ""
    """For a given path and a followed link: what it leads to."""
    rests: float = 0.0
    """Not listed again before: a crowded directory in which files come and go costs little."""
    gone: bool = False


class Tree:
    """All directories that are known, and the files in them whose names `wanted` matches.

    `fresh` and `links` wait for a look, `hot` changed lately, `found` and `lost` are told once.
    """

    def __init__(self, wanted: re.Pattern[str], max_depth: int, clock: Callable[[], float]) -> None:
        self.problems: dict[str, str] = {}
        self.folders: dict[str, Folder] = {}
        self.fresh: deque[Folder] = deque()
        self.links: deque[tuple[Folder, str]] = deque()
        self.hot: dict[str, Folder] = {}
        self.found: list[Found] = []
        self.lost: list[Found] = []
        self._pattern = wanted.search
        self._max_depth = max_depth
        self._clock = clock
        self._heads: dict[str, Folder] = {}  # from which everything below is reached

    def wanted(self, name: str) -> bool:
        """Whether the name may be that of a log; asked of every file that there is."""
        stem, _, suffix = name.rpartition(".")
        if suffix in NEVER and "." not in stem:
            return False
        return self._pattern(name) is not None

    # --- what is new -------------------------------------------------------------------------

    def add(self, folder: Folder) -> None:
        """Know a directory; it waits to be listed."""
        if len(self.folders) >= MOST_FOLDERS:
            every = os.path.join(folder.root, "*")
            self.problems[every] = f"more than {MOST_FOLDERS:,} directories: not all are seen"
            return
        self.folders[folder.path] = folder
        if folder.home:
            self._heads[folder.path] = folder
        self.fresh.append(folder)

    def follow(self, folder: Folder, name: str) -> None:
        """A link counts when it leads to a log or a directory that is not seen anyway."""
        path = os.path.join(folder.path, name)
        try:
            mode = os.stat(path).st_mode
        except OSError:  # leads nowhere
            return
        is_folder = stat.S_ISDIR(mode)
        if folder.gone or not (is_folder or (stat.S_ISREG(mode) and self.wanted(name))):
            return
        home = os.path.realpath(path)
        if self._is_seen(home, is_folder):
            return
        if is_folder:
            self._add_folder(folder, name, home)
        else:
            self._add_file(folder, name)

    def _is_seen(self, home: str, is_folder: bool) -> bool:
        for folder in self._heads.values():
            if is_inside(home, folder.home) or (is_folder and is_inside(folder.home, home)):
                return True
        return False

    # --- what is known -----------------------------------------------------------------------

    def list_(self, folder: Folder) -> None:
        """Compare a directory with what was known of it."""
        start = time.thread_time()
        try:
            found = os.stat(folder.path)
            with os.scandir(folder.path) as entries:
                seen = self._entries(folder, entries)
        except OSError as error:
            self.fail(folder, error)
            return
        self.problems.pop(folder.path, None)
        folder.rests = self._clock() + SHARE * (time.thread_time() - start)
        age_ns = time.time_ns() - found.st_mtime_ns
        young = abs(age_ns) < YOUNG_NS
        folder.stamp = None if young else (found.st_dev, found.st_ino, found.st_mtime_ns)
        if young or not folder.depth or folder.moved:
            folder.moved = self._clock()
            self.hot[folder.path] = folder
        for name in [name for name in chain(folder.files, folder.folders) if name not in seen]:
            self._lose(folder, name)

    def _entries(self, folder: Folder, entries: Iterable[os.DirEntry[str]]) -> set[str]:
        """Names of all directories, links and wanted files; what is new among them is added."""
        seen = set()
        wanted, files, folders = self.wanted, folder.files, folder.folders
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
                    self._add_folder(folder, name)
            elif entry.is_symlink() and self._see_link(folder, name):
                seen.add(name)
        return seen

    def _see_link(self, folder: Folder, name: str) -> bool:
        """Whether a known link still leads where it led; a new one is followed later."""
        known = folder.folders.get(name)
        if known is not None and known.home == os.path.realpath(known.path):
            return True
        if known is None and name in folder.files:
            return os.path.exists(os.path.join(folder.path, name))
        self.links.append((folder, name))
        return False

    def _add_folder(self, folder: Folder, name: str, home: str = "") -> None:
        path = os.path.join(folder.path, name)
        if name in NO_LOGS or path in SYSTEM or folder.depth >= self._max_depth:
            return
        child = Folder(path, below(folder.key, name), folder.root, folder.depth + 1, home=home)
        folder.folders[name] = child
        self.add(child)

    def _add_file(self, folder: Folder, name: str) -> None:
        path = os.path.join(folder.path, name)
        found = Found(path, below(folder.key, name), folder.root)
        folder.files[name] = found
        self.found.append(found)

    # --- what is gone ------------------------------------------------------------------------

    def fail(self, folder: Folder, error: OSError) -> None:
        """A directory that is not there is dropped; one that cannot be read is tried again."""
        folder.stamp = None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self.drop(folder)
        else:
            self.complain(folder.path, error)

    def complain(self, path: str, error: OSError) -> None:
        """Say that a directory cannot be read, until it can."""
        self.problems[path] = f"cannot be read: {(error.strerror or str(error)).lower()}"

    def _lose(self, folder: Folder, name: str) -> None:
        if name in folder.files:
            self.lost.append(folder.files.pop(name))
        if name in folder.folders:
            self.drop(folder.folders.pop(name))

    def drop(self, folder: Folder) -> None:
        """Forget a directory and all below it."""
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            each.gone = True
            self.folders.pop(each.path, None)
            self._heads.pop(each.path, None)
            self.hot.pop(each.path, None)
            self.problems.pop(each.path, None)
            self.lost.extend(each.files.values())
            waiting.extend(each.folders.values())
        parent = self.folders.get(os.path.dirname(folder.path))
        if parent is not None:
            parent.folders.pop(os.path.basename(folder.path), None)
            parent.stamp = None
