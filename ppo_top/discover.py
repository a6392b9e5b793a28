"""Finds the files below the watched paths whose names may be those of logs.

Each directory is listed once, and again only when its own time stamp moved. Directories that
changed lately are asked every round, the others in turn, so that a tree of any size costs little. A
link to a directory is followed unless what it leads to is seen anyway (or contains the link).
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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ppo_top.places import NEVER, NO_LOGS, SYSTEM, below, is_inside, without_nested

MOST_FOLDERS = 300_000
"""More directories than this are not remembered: a PATH like / is a mistake."""
SHARE = 50
"""A directory whose listing took a second is not listed again before this many seconds."""
LATELY_S = 600.0
"""A directory that changed within this time is asked every round."""
YOUNG_NS = 2_000_000_000
"""A time stamp as young as this may hide a second change (coarse clocks, NFS): list again."""
AWAY = frozenset((errno.ESTALE, errno.EIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN))
"""Errors of a file system that is away for the moment: what it holds is not gone."""


class Found(NamedTuple):
    """A file that may be a log: where it is, its path below its PATH, and that PATH.

    `named` is set when the user gave this very file.
    """

    path: str
    key: str
    root: str
    named: bool = False


class Look(NamedTuple):
    """What a look brought; `more` says that time was up before everything new was seen."""

    found: list[Found]
    lost: list[Found]
    more: bool


@dataclass(slots=True, eq=False)
class _Folder:
    path: str
    key: str
    root: str
    depth: int
    stamp: tuple[int, int, int] | None = None
    moved: float = 0.0
    files: dict[str, Found] = field(default_factory=dict)
    folders: dict[str, _Folder] = field(default_factory=dict)
    home: str = ""
    """For a given path and a followed link: what it leads to."""
    rests: float = 0.0
    """Not listed again before: a crowded directory in which files come and go costs little."""
    gone: bool = False


class Discovery:
    """All directories below some paths, and the files in them whose names `wanted` matches."""

    def __init__(
        self,
        paths: Sequence[Path],
        wanted: re.Pattern[str],
        max_depth: int = 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problems: dict[str, str] = {}
        self._pattern = wanted.search
        self._max_depth = max_depth
        self._clock = clock
        self._roots = without_nested([os.fspath(path) for path in paths])
        self._named: dict[str, Found] = {}
        self._folders: dict[str, _Folder] = {}
        self._heads: dict[str, _Folder] = {}  # from which everything below is reached
        self._fresh: deque[_Folder] = deque()
        self._links: deque[tuple[_Folder, str]] = deque()
        self._turn: deque[_Folder] = deque()
        self._hot: dict[str, _Folder] = {}
        self._found: list[Found] = []
        self._lost: list[Found] = []

    @property
    def roots(self) -> list[str]:
        """The watched paths, without those inside another."""
        return list(self._roots)

    def look(self, seconds: float, round_: bool = True, hints: Iterable[str] = ()) -> Look:
        """Look for at most about `seconds`: at hinted directories, then (in a `round_`) at what is
        known, and at what is new; what was not reached comes first the next time.
        """
        until = self._clock() + seconds
        for path in hints:
            folder = self._folders.get(path)
            if folder is not None and self._clock() >= folder.rests:
                self._list(folder)
        if round_:
            for root in self._roots:
                self._look_at_root(root)
            self._look_again(until)
        more = self._look_at_new(until)
        look = Look(self._found, self._lost, more)
        self._found, self._lost = [], []
        return look

    def _wanted(self, name: str) -> bool:
        """Whether the name may be that of a log; asked of every file that there is."""
        stem, _, suffix = name.rpartition(".")
        if suffix in NEVER and "." not in stem:
            return False
        return self._pattern(name) is not None

    # --- the given paths ---------------------------------------------------------------------

    def _look_at_root(self, root: str) -> None:
        """A path may be a file or a directory, may come later, go, and return as the other."""
        try:
            mode = os.stat(root).st_mode
        except OSError as error:
            if error.errno in AWAY:
                self._complain(root, error)
                return
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._complain(root, error)
            self._leave(root)
            return
        if stat.S_ISDIR(mode):
            if root in self._named:
                self._leave(root)
            if root not in self._folders:
                self.problems.pop(root, None)
                self._add(_Folder(root, "", root, 0, home=os.path.realpath(root)))
        else:
            self._look_at_file(root, mode)

    def _look_at_file(self, root: str, mode: int) -> None:
        if root in self._folders:
            self._leave(root)
        if not stat.S_ISREG(mode):
            self.problems[root] = "is not a regular file"
        elif root not in self._named:
            self.problems.pop(root, None)
            found = Found(root, os.path.basename(root), root, True)
            self._named[root] = found
            self._found.append(found)

    def _leave(self, root: str) -> None:
        """A given path is not there (any more)."""
        if root in self._named:
            self._lost.append(self._named.pop(root))
        if root in self._folders:
            self._drop(self._folders[root])

    # --- what is new -------------------------------------------------------------------------

    def _add(self, folder: _Folder) -> None:
        if len(self._folders) >= MOST_FOLDERS:
            every = os.path.join(folder.root, "*")
            self.problems[every] = f"more than {MOST_FOLDERS:,} directories: not all are seen"
            return
        self._folders[folder.path] = folder
        if folder.home:
            self._heads[folder.path] = folder
        self._fresh.append(folder)

    def _look_at_new(self, until: float) -> bool:
        """List new directories, then links: what is reached without a link keeps its own name."""
        while self._fresh or self._links:
            if self._fresh:
                folder = self._fresh.popleft()
                if not folder.gone:
                    self._list(folder)
                    self._turn.append(folder)
            else:
                self._follow(*self._links.popleft())
            if self._clock() >= until:
                return bool(self._fresh or self._links)
        return False

    def _follow(self, folder: _Folder, name: str) -> None:
        """A link counts when it leads to a log or a directory that is not seen anyway."""
        path = os.path.join(folder.path, name)
        try:
            mode = os.stat(path).st_mode
        except OSError:  # leads nowhere
            return
        is_folder = stat.S_ISDIR(mode)
        if folder.gone or not (is_folder or (stat.S_ISREG(mode) and self._wanted(name))):
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

    def _look_again(self, until: float) -> None:
        """Ask what changed lately, and a share of the others, for their time stamps."""
        lately = self._clock() - LATELY_S
        for folder in list(self._hot.values()):
            self._check(folder)
            if folder.moved < lately and folder.depth:
                self._hot.pop(folder.path, None)
        for count in range(max(256, len(self._turn) // 4)):
            if count >= len(self._turn) or (count % 64 == 63 and self._clock() >= until):
                return
            folder = self._turn.popleft()
            if folder.gone:
                continue
            self._turn.append(folder)
            if folder.path not in self._hot:
                self._check(folder)

    def _check(self, folder: _Folder) -> None:
        """List a directory again if its time stamp moved."""
        if folder.gone:
            return
        try:
            found = os.stat(folder.path)
        except OSError as error:
            self._fail(folder, error)
            return
        new = folder.stamp != (found.st_dev, found.st_ino, found.st_mtime_ns)
        if new and self._clock() >= folder.rests:
            self._list(folder)

    def _list(self, folder: _Folder) -> None:
        """Compare a directory with what was known of it."""
        start = time.thread_time()
        try:
            found = os.stat(folder.path)
            with os.scandir(folder.path) as entries:
                seen = self._entries(folder, entries)
        except OSError as error:
            self._fail(folder, error)
            return
        self.problems.pop(folder.path, None)
        folder.rests = self._clock() + SHARE * (time.thread_time() - start)
        age_ns = time.time_ns() - found.st_mtime_ns
        young = abs(age_ns) < YOUNG_NS
        folder.stamp = None if young else (found.st_dev, found.st_ino, found.st_mtime_ns)
        if young or not folder.depth or folder.moved:
            folder.moved = self._clock()
            self._hot[folder.path] = folder
        for name in [name for name in chain(folder.files, folder.folders) if name not in seen]:
            self._lose(folder, name)

    def _entries(self, folder: _Folder, entries: Iterable[os.DirEntry[str]]) -> set[str]:
        """Names of all directories, links and wanted files; what is new among them is added."""
        seen = set()
        wanted, files, folders = self._wanted, folder.files, folder.folders
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

    def _see_link(self, folder: _Folder, name: str) -> bool:
        """Whether a known link still leads where it led; a new one is followed later."""
        known = folder.folders.get(name)
        if known is not None and known.home == os.path.realpath(known.path):
            return True
        if known is None and name in folder.files:
            return os.path.exists(os.path.join(folder.path, name))
        self._links.append((folder, name))
        return False

    def _add_folder(self, folder: _Folder, name: str, home: str = "") -> None:
        path = os.path.join(folder.path, name)
        if name in NO_LOGS or path in SYSTEM or folder.depth >= self._max_depth:
            return
        child = _Folder(path, below(folder.key, name), folder.root, folder.depth + 1, home=home)
        folder.folders[name] = child
        self._add(child)

    def _add_file(self, folder: _Folder, name: str) -> None:
        path = os.path.join(folder.path, name)
        found = Found(path, below(folder.key, name), folder.root)
        folder.files[name] = found
        self._found.append(found)

    # --- what is gone ------------------------------------------------------------------------

    def _fail(self, folder: _Folder, error: OSError) -> None:
        """A directory that is not there is dropped; one that cannot be read is tried again."""
        folder.stamp = None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self._drop(folder)
        else:
            self._complain(folder.path, error)

    def _complain(self, path: str, error: OSError) -> None:
        self.problems[path] = f"cannot be read: {(error.strerror or str(error)).lower()}"

    def _lose(self, folder: _Folder, name: str) -> None:
        if name in folder.files:
            self._lost.append(folder.files.pop(name))
        if name in folder.folders:
            self._drop(folder.folders.pop(name))

    def _drop(self, folder: _Folder) -> None:
        """Forget a directory and all below it."""
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            each.gone = True
            self._folders.pop(each.path, None)
            self._heads.pop(each.path, None)
            self._hot.pop(each.path, None)
            self.problems.pop(each.path, None)
            self._lost.extend(each.files.values())
            waiting.extend(each.folders.values())
        parent = self._folders.get(os.path.dirname(folder.path))
        if parent is not None:
            parent.folders.pop(os.path.basename(folder.path), None)
            parent.stamp = None
