"""Finds the files below the watched paths whose names may be those of logs.

Each directory is listed once, and again only when its own time stamp moved. Directories that
changed lately are asked every round, the others in turn, so that a tree of any size costs little.
"""

# ruff: noqa: PTH116, PTH119
# Paths stay text here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ppo_top.files.directory_tree import Folder, Tree
from ppo_top.files.directory_tree import Found as Found
from ppo_top.paths import without_nested

LATELY_S = 600.0
"""A directory that changed within this time is asked every round."""
AWAY = frozenset((errno.ESTALE, errno.EIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN))
"""Errors of a file system that is away for the moment: what it holds is not gone."""


class Look(NamedTuple):
    """What a look brought; `more` says that time was up before everything new was seen."""

    found: list[Found]
    lost: list[Found]
    more: bool


class Discovery:
    """All directories below some paths, and the files in them whose names `wanted` matches."""

    def __init__(
        self,
        paths: Sequence[Path],
        wanted: re.Pattern[str],
        max_depth: int = 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._roots = without_nested([os.fspath(path) for path in paths])
        self._named: dict[str, Found] = {}
        self._tree = Tree(wanted, max_depth, clock)
        self._turn: deque[Folder] = deque()

    @property
    def problems(self) -> dict[str, str]:
        """What could not be looked at, by path."""
        return self._tree.problems

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
            folder = self._tree.folders.get(path)
            if folder is not None and self._clock() >= folder.rests:
                self._tree.list_(folder)
        if round_:
            for root in self._roots:
                self._look_at_root(root)
            self._look_again(until)
        more = self._look_at_new(until)
        look = Look(self._tree.found, self._tree.lost, more)
        self._tree.found, self._tree.lost = [], []
        return look

    # --- the given paths ---------------------------------------------------------------------

    def _look_at_root(self, root: str) -> None:
        """A path may be a file or a directory, may come later, go, and return as the other."""
        try:
            mode = os.stat(root).st_mode
        except OSError as error:
            if error.errno in AWAY:
                self._tree.complain(root, error)
                return
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._tree.complain(root, error)
            self._leave(root)
            return
        if stat.S_ISDIR(mode):
            if root in self._named:
                self._leave(root)
            if root not in self._tree.folders:
                self.problems.pop(root, None)
                self._tree.add(Folder(root, "", root, 0, home=os.path.realpath(root)))
        else:
            self._look_at_file(root, mode)

    def _look_at_file(self, root: str, mode: int) -> None:
        if root in self._tree.folders:
            self._leave(root)
        if not stat.S_ISREG(mode):
            self.problems[root] = "is not a regular file"
        elif root not in self._named:
            self.problems.pop(root, None)
            found = Found(root, os.path.basename(root), root, True)
            self._named[root] = found
            self._tree.found.append(found)

    def _leave(self, root: str) -> None:
        """A given path is not there (any more)."""
        if root in self._named:
            self._tree.lost.append(self._named.pop(root))
        if root in self._tree.folders:
            self._tree.drop(self._tree.folders[root])

    # --- what is new -------------------------------------------------------------------------

    def _look_at_new(self, until: float) -> bool:
        """List new directories, then links: what is reached without a link keeps its own name."""
        while self._tree.fresh or self._tree.links:
            if self._tree.fresh:
                folder = self._tree.fresh.popleft()
                if not folder.gone:
                    self._tree.list_(folder)
                    self._turn.append(folder)
            else:
                self._tree.follow(*self._tree.links.popleft())
            if self._clock() >= until:
                return bool(self._tree.fresh or self._tree.links)
        return False

    # --- what is known -----------------------------------------------------------------------

    def _look_again(self, until: float) -> None:
        """Ask what changed lately, and a share of the others, for their time stamps."""
        lately = self._clock() - LATELY_S
        for folder in list(self._tree.hot.values()):
            self._check(folder)
            if folder.moved < lately and folder.depth:
                self._tree.hot.pop(folder.path, None)
        for count in range(max(256, len(self._turn) // 4)):
            if count >= len(self._turn) or (count % 64 == 63 and self._clock() >= until):
                return
            folder = self._turn.popleft()
            if folder.gone:
                continue
            self._turn.append(folder)
            if folder.path not in self._tree.hot:
                self._check(folder)

    def _check(self, folder: Folder) -> None:
        """List a directory again if its time stamp moved."""
        if folder.gone:
            return
        try:
            found = os.stat(folder.path)
        except OSError as error:
            self._tree.fail(folder, error)
            return
        new = folder.stamp != (found.st_dev, found.st_ino, found.st_mtime_ns)
        if new and self._clock() >= folder.rests:
            self._tree.list_(folder)
