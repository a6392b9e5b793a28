"""The known directories and the files in them, and what was found or removed since last asked.

`Discovery` decides when a directory is listed; the listing is compared with the one before. A link
to a directory is followed unless its target is covered anyway (or contains the link).
"""

# ruff: noqa: PTH110, PTH116, PTH118, PTH119, PTH120
# Paths stay strings here: an object for each would cost more than the system call.
from __future__ import annotations

import errno
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from ppo_top.files.tail import describe_read_error
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.paths import (
    NON_LOG_SUFFIXES,
    SKIPPED_FOLDERS,
    SYSTEM_FOLDERS,
    TEXT_SUFFIXES,
    is_inside,
    is_notebook,
    join_key,
)

MAX_DIRECTORIES = 300_000
"""No more directories than this are remembered: a PATH like / is a mistake."""
LISTING_PAUSE_FACTOR = 50
"""Seconds to pause before a directory is listed again, per second that its listing took."""
RECENT_MTIME_NS = 2_000_000_000
"""A younger modification time may hide a second change (coarse clocks, NFS): list again."""


MAX_PASSED_OVER = 10_000
"""Names of files that are no logs by their name are kept up to this many."""

MAX_BY_CONTENT = 100
"""A PATH with more texts and nothing else holds documents."""


FolderStamp = tuple[int, int, int]
"""Device, inode and modification time (ns) of a directory."""


class FoundFile(NamedTuple):
    """A file that may be a log: `key` is its path below `root`, the PATH it was found in.

    `is_explicit`: the PATH is this very file. `has_siblings`: it is, and other files in its folder
    end as it does (`.log`), so it may be one of several runs. `by_content`: its name is not that of
    a log, but there is nothing else in the PATH.
    """

    path: str
    key: str
    root: str
    is_explicit: bool = False
    has_siblings: bool = False
    by_content: bool = False


class Folder:
    def __init__(self, path: str, key: str, root: str, depth: int, real_path: str) -> None:
        self.path = path
        self.key = key
        self.root = root
        self.depth = depth
        self.listed_stamp: FolderStamp | None = None
        """device, inode and modification time (ns) when it was listed; None: list it again"""
        self.changed_at = 0.0
        self.files: dict[str, FoundFile] = {}
        self.folders: dict[str, Folder] = {}
        self.real_path = real_path
        """of a PATH and of a followed link: the target"""
        self.next_listing = 0.0
        """not listed again before: a crowded directory with much coming and going costs little"""
        self.removed = False
        self.passed_over: tuple[str, ...] = ()
        """names of files that might be logs but are not called like one"""


class DirectoryTree:
    """All known directories, and the files in them that are candidates for logs.

    `unlisted` and `unresolved_links` are still to be checked, `recent` are the directories that
    changed recently, `found` and `removed` the files to report.
    """

    def __init__(
        self,
        wanted: Callable[[str], object],
        max_depth: int,
        clock: Callable[[], float],
        notebooks: bool = False,
    ) -> None:
        self.problems: dict[str, str] = {}
        self.folders: dict[str, Folder] = {}
        self.unlisted: deque[Folder] = deque()
        self.unresolved_links: deque[tuple[Folder, str]] = deque()
        self.recent: dict[str, Folder] = {}
        self.found: list[FoundFile] = []
        self.removed: list[FoundFile] = []
        self._is_wanted = wanted
        self._max_depth = max_depth
        self._notebooks = notebooks
        self._passed_over_count = 0
        self.passed_over_changed = False
        """whether other files are passed over than when this was last set to False"""
        self._clock = clock
        self._entry_points: dict[str, Folder] = {}  # all that is found lies below one of these

    def is_candidate(self, name: str) -> bool:
        """Whether this may be the name of a log; asked for every file there is."""
        if self._notebooks and is_notebook(name):
            return True
        return may_be_log(name) and bool(self._is_wanted(name))

    # --- adding ------------------------------------------------------------------------------

    def add_folder(self, folder: Folder) -> None:
        """Add a directory, to be listed later."""
        if len(self.folders) >= MAX_DIRECTORIES:
            every = os.path.join(folder.root, "*")
            self.problems[every] = f"more than {MAX_DIRECTORIES:,} directories, the rest is ignored"
            return
        self.folders[folder.path] = folder
        if folder.real_path:
            self._entry_points[folder.path] = folder
        self.unlisted.append(folder)

    def resolve_link(self, folder: Folder, name: str) -> None:
        """Follow a link that leads to a log or a directory not covered anyway."""
        path = os.path.join(folder.path, name)
        try:
            mode = os.stat(path).st_mode
        except OSError:  # broken link
            return
        is_folder = stat.S_ISDIR(mode)
        if folder.removed or not (is_folder or (stat.S_ISREG(mode) and self.is_candidate(name))):
            return
        real_path = os.path.realpath(path)
        if self._is_covered(real_path, is_folder):
            return
        if is_folder:
            self._add_child_folder(folder, name, real_path)
        else:
            self._add_file(folder, name)

    def _is_covered(self, path: str, is_folder: bool) -> bool:
        return any(
            is_inside(path, folder.real_path) or (is_folder and is_inside(folder.real_path, path))
            for folder in self._entry_points.values()
        )

    # --- listing -----------------------------------------------------------------------------

    def list_folder(self, folder: Folder) -> None:
        """List a directory and note what changed in it."""
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
        folder.listed_stamp = None if young else stamp_of(found)
        if young or not folder.depth or folder.changed_at:
            folder.changed_at = self._clock()
            self.recent[folder.path] = folder
        for name in [name for name in chain(folder.files, folder.folders) if name not in seen]:
            self._remove_entry(folder, name)

    def _scan_entries(self, folder: Folder, entries: Iterable[os.DirEntry[str]]) -> set[str]:
        """Names of all directories, links and candidates; new ones are added."""
        seen = set()
        is_candidate, files, folders = self.is_candidate, folder.files, folder.folders
        passed_over = []
        for entry in entries:
            name = entry.name
            if entry.is_file(follow_symlinks=False):  # first: most entries are files
                if is_candidate(name):
                    seen.add(name)
                    if name not in files:
                        self._add_file(folder, name)
                elif name.rpartition(".")[2] in TEXT_SUFFIXES:
                    passed_over.append(name)
            elif entry.is_dir(follow_symlinks=False):
                seen.add(name)
                if name not in folders:
                    self._add_child_folder(folder, name)
            elif entry.is_symlink() and self._check_link(folder, name):
                seen.add(name)
        by_content = self._texts_to_try(folder, passed_over, seen)
        for name in by_content - files.keys():
            self._add_file(folder, name, by_content=True)
        self._note_passed_over(folder, [name for name in passed_over if name not in by_content])
        return seen | by_content

    def _texts_to_try(
        self, folder: Folder, names: Sequence[str], candidates: Iterable[str]
    ) -> set[str]:
        """The texts that are opened though they are not called like logs: those of a PATH where
        all `candidates` are such texts, if there are any. Once opened they stay, whatever comes.
        """
        texts = [name for name in names if not is_notebook(name)]
        is_only = all(each.endswith(".txt") and each not in folder.folders for each in candidates)
        if not folder.depth and is_only and len(texts) <= MAX_BY_CONTENT:
            return set(texts)
        return {name for name in texts if name in folder.files}

    def _note_passed_over(self, folder: Folder, names: Sequence[str]) -> None:
        room = MAX_PASSED_OVER - self._passed_over_count + len(folder.passed_over)
        before, folder.passed_over = folder.passed_over, tuple(names[: max(0, room)])
        self.passed_over_changed = self.passed_over_changed or before != folder.passed_over
        self._passed_over_count += len(folder.passed_over) - len(before)

    def _check_link(self, folder: Folder, name: str) -> bool:
        """Whether a known link still has the same target; a new one is followed later."""
        known = folder.folders.get(name)
        if known is not None and known.real_path == os.path.realpath(known.path):
            return True
        if known is None and name in folder.files:
            return os.path.exists(os.path.join(folder.path, name))
        self.unresolved_links.append((folder, name))
        return False

    def _add_child_folder(self, folder: Folder, name: str, real_path: str = "") -> None:
        path = os.path.join(folder.path, name)
        if name in SKIPPED_FOLDERS or path in SYSTEM_FOLDERS or folder.depth >= self._max_depth:
            return
        key = join_key(folder.key, name)
        child = Folder(path, key, folder.root, folder.depth + 1, real_path)
        folder.folders[name] = child
        self.add_folder(child)

    def _add_file(self, folder: Folder, name: str, *, by_content: bool = False) -> None:
        path, key = os.path.join(folder.path, name), join_key(folder.key, name)
        found = FoundFile(path, key, folder.root, by_content=by_content)
        folder.files[name] = found
        self.found.append(found)

    # --- removing ----------------------------------------------------------------------------

    def handle_listing_error(self, folder: Folder, error: OSError) -> None:
        """Drop a directory that does not exist; one that cannot be read is tried again."""
        folder.listed_stamp = None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self.remove_folder(folder)
        else:
            self.report_unreadable(folder.path, error)

    def report_unreadable(self, path: str, error: OSError) -> None:
        """Report a directory that cannot be read, until it can."""
        self.problems[path] = describe_read_error(error)

    def _remove_entry(self, folder: Folder, name: str) -> None:
        if name in folder.files:
            self.removed.append(folder.files.pop(name))
        if name in folder.folders:
            self.remove_folder(folder.folders.pop(name))

    def remove_folder(self, folder: Folder) -> None:
        """Drop a directory and all below it."""
        waiting = [folder]
        while waiting:
            each = waiting.pop()
            each.removed = True
            self.folders.pop(each.path, None)
            self._entry_points.pop(each.path, None)
            self.recent.pop(each.path, None)
            self.problems.pop(each.path, None)
            self.removed.extend(each.files.values())
            self._note_passed_over(each, ())
            waiting.extend(each.folders.values())
        parent = self.folders.get(os.path.dirname(folder.path))
        if parent is not None:
            parent.folders.pop(os.path.basename(folder.path), None)
            parent.listed_stamp = None


def stamp_of(found: os.stat_result) -> FolderStamp:
    """The stamp of a directory with this status."""
    return found.st_dev, found.st_ino, found.st_mtime_ns


def may_be_log(name: str) -> bool:
    """Whether the suffix of a file does not say that it is something else."""
    stem, _, suffix = name.rpartition(".")
    return suffix not in NON_LOG_SUFFIXES or "." in stem


def folder_stamp(path: str) -> FolderStamp | None:
    """The stamp of a directory; None if there is none."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None
