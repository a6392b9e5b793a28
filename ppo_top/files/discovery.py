"""Finds the files below the watched paths whose names may be those of logs.

A directory is listed once, and again only when its own modification time changed. Recently changed
directories are checked every round, the others in turn, so that a tree of any size costs little.
"""

# ruff: noqa: PTH116, PTH118, PTH119, PTH122, PTH208
# Paths stay strings here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ppo_top.files.directory_tree import DirectoryTree, Folder, FolderStamp, folder_stamp, stamp_of
from ppo_top.files.directory_tree import FoundFile as FoundFile
from ppo_top.files.passed_over import UNASKED_NOTEBOOK, UNKNOWN_NAME, PassedOver
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.file_names import without_compression
from ppo_top.paths import is_notebook, without_nested

RECENT_FOLDER_S = 600.0
"""A directory that changed within this time is checked every round."""
UNAVAILABLE_ERRNOS = frozenset(
    (errno.ESTALE, errno.EIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN)
)
"""Errors of a file system that is temporarily unavailable: its files are not deleted."""


class DiscoveryResult(NamedTuple):
    """What a scan found; `more`: time was up before everything new was seen."""

    found: list[FoundFile]
    removed: list[FoundFile]
    more: bool


class Discovery:
    """All directories below some paths, and the files in them whose names match a pattern."""

    def __init__(
        self,
        paths: Sequence[Path],
        wanted: Callable[[str], object],
        max_depth: int = 32,
        clock: Callable[[], float] = time.monotonic,
        notebooks: bool = False,
    ) -> None:
        self._clock = clock
        self.roots = without_nested([os.fspath(path) for path in paths])
        """The watched paths, without those inside another."""
        self._explicit_files: dict[str, FoundFile] = {}
        self._tree = DirectoryTree(wanted, max_depth, clock, notebooks)
        self.problems = self._tree.problems
        """Why a path could not be listed or read, by path."""
        self._recheck_queue: deque[Folder] = deque()

    def scan(
        self, seconds: float, recheck_known: bool = True, hints: Iterable[str] = ()
    ) -> DiscoveryResult:
        """Scan for about `seconds`: hinted directories, then (with `recheck_known`) the known ones,
        then new ones; what was not reached comes first the next time.
        """
        until = self._clock() + seconds
        for path in hints:
            folder = self._tree.folders.get(path)
            if folder is not None and self._clock() >= folder.next_listing:
                self._tree.list_folder(folder)
        if recheck_known:
            for root in self.roots:
                self._check_root(root)
            self._recheck_known(until)
        more = self._list_new(until)
        result = DiscoveryResult(self._tree.found, self._tree.removed, more)
        self._tree.found, self._tree.removed = [], []
        return result

    def folder_stamps(self) -> dict[str, FolderStamp | None]:
        """path -> stamp of each directory when it was listed; None: it has to be listed again.

        So are the folders of files that were given by themselves, for `has_siblings`.
        """
        beside = {str(Path(file).absolute().parent) for file in self._explicit_files}
        listed = {path: folder.listed_stamp for path, folder in self._tree.folders.items()}
        return {path: folder_stamp(path) for path in beside} | listed

    def pop_passed_over_changed(self) -> bool:
        """Whether the files passed over are others than at the last call."""
        changed, self._tree.passed_over_changed = self._tree.passed_over_changed, False
        return changed

    def passed_over(self) -> Iterator[PassedOver]:
        """The files that might be logs but do not have the name of one."""
        for folder in self._tree.folders.values():
            for name in folder.passed_over:
                why = UNASKED_NOTEBOOK if is_notebook(name) else UNKNOWN_NAME
                yield PassedOver(os.path.join(folder.path, name), why)

    # --- roots -------------------------------------------------------------------------------

    def _check_root(self, root: str) -> None:
        """A path may be a file or a directory, appear late, go, and return as the other kind."""
        try:
            mode = os.stat(root).st_mode
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._tree.report_unreadable(root, error)
            if error.errno not in UNAVAILABLE_ERRNOS:
                self._remove_root(root)
            return
        if stat.S_ISDIR(mode):
            if root in self._explicit_files:
                self._remove_root(root)
            if root not in self._tree.folders:
                self.problems.pop(root, None)
                self._tree.add_folder(Folder(root, "", root, 0, os.path.realpath(root)))
        else:
            self._check_root_file(root, mode)

    def _check_root_file(self, root: str, mode: int) -> None:
        if root in self._tree.folders:
            self._remove_root(root)
        if not stat.S_ISREG(mode):
            self.problems[root] = "not a regular file"
        elif root not in self._explicit_files:
            self.problems.pop(root, None)
            found = FoundFile(root, os.path.basename(root), root, True, has_siblings(root))
            self._explicit_files[root] = found
            self._tree.found.append(found)

    def _remove_root(self, root: str) -> None:
        if root in self._explicit_files:
            self._tree.removed.append(self._explicit_files.pop(root))
        if root in self._tree.folders:
            self._tree.remove_folder(self._tree.folders[root])

    # --- new ones ----------------------------------------------------------------------------

    def _list_new(self, until: float) -> bool:
        """List new directories, then links, so that what needs no link keeps its own path."""
        while self._tree.unlisted or self._tree.unresolved_links:
            if self._tree.unlisted:
                folder = self._tree.unlisted.popleft()
                if not folder.removed:
                    self._tree.list_folder(folder)
                    self._recheck_queue.append(folder)
            else:
                self._tree.resolve_link(*self._tree.unresolved_links.popleft())
            if self._clock() >= until:
                return bool(self._tree.unlisted or self._tree.unresolved_links)
        return False

    # --- known ones --------------------------------------------------------------------------

    def _recheck_known(self, until: float) -> None:
        """Check the directories that changed recently, and some of the others."""
        recent = self._clock() - RECENT_FOLDER_S
        for folder in list(self._tree.recent.values()):
            self._relist_if_changed(folder)
            if folder.changed_at < recent and folder.depth:
                self._tree.recent.pop(folder.path, None)
        for count in range(max(256, len(self._recheck_queue) // 4)):
            if count >= len(self._recheck_queue) or (count % 64 == 63 and self._clock() >= until):
                return
            folder = self._recheck_queue.popleft()
            if folder.removed:
                continue
            self._recheck_queue.append(folder)
            if folder.path not in self._tree.recent:
                self._relist_if_changed(folder)

    def _relist_if_changed(self, folder: Folder) -> None:
        """List a directory again if its modification time changed."""
        if folder.removed:
            return
        try:
            found = os.stat(folder.path)
        except OSError as error:
            self._tree.handle_listing_error(folder, error)
            return
        if folder.listed_stamp != stamp_of(found) and self._clock() >= folder.next_listing:
            self._tree.list_folder(folder)


def has_siblings(path: str) -> bool:
    """Whether other files in a file's folder end as it does."""
    folder, name = os.path.split(path)
    suffix = _suffix(name)
    try:
        beside = os.listdir(folder or ".") if suffix else []
    except OSError:
        return False
    return any(_suffix(each) == suffix and each != name for each in beside)


def _suffix(name: str) -> str:
    """How a file's name ends, without the number of a rotated log, or that it is compressed."""
    return os.path.splitext(re.sub(r"(?<=.)\.\d+$", "", without_compression(name)))[1]
