"""Which files and checkpoints are below the paths of a request."""

# ruff: noqa: PTH111, PTH112, PTH113, PTH116, PTH118, PTH119
# Paths stay strings here: an object for each would cost more than the system call.

import errno
import os
import re
import stat
from typing import Any, Dict, Iterator, List, Set, Tuple

from ppo_top.remote.far_side.frames import FrameWriter, from_wire, sent_time, to_wire

MOST_DEPTH, MOST_NAME_BYTES = 32, 2500
MOST_CHECKPOINT_BYTES = 120
"""Of the name of a checkpoint."""
MISSING = (errno.ENOENT, errno.ENOTDIR)

Checkpoints = List[Dict[str, Any]]
"""Each with its name `p`, its modification time `m` (unix seconds) and whether it is a folder."""
FarFile = Tuple[str, str, os.stat_result]
"""Path below the root, path, stat."""


class LogLister:
    """Lists the directories at and below the paths of a request.

    `checkpoints` (by root and folder) and `unlisted` (the folders that could not be listed) are
    those of the last look.
    """

    def __init__(self, request: Dict[str, Any], frames: FrameWriter) -> None:
        self.frames = frames
        self.roots = [os.path.expanduser(from_wire(root)) for root in request["roots"]]
        self.wanted = re.compile(request["wanted"])
        self.checkpoint = re.compile(request["checkpoint"])
        self.others: Set[str] = set(request["other_suffixes"])
        self.skipped: Set[str] = set(request["skipped_folders"])
        self.most_files: int = request["most_files"]
        self.kinds: Dict[int, Tuple[str, str]] = {}
        self.unlisted: Set[Tuple[int, str]] = set()
        self.checkpoints: Dict[Tuple[int, str], Checkpoints] = {}

    def look(self) -> Dict[Tuple[int, str], Tuple[str, os.stat_result]]:
        """By root and path below it: path and stat of each file that may be a log."""
        found: Dict[Tuple[int, str], Tuple[str, os.stat_result]] = {}
        self.unlisted.clear()
        self.checkpoints.clear()
        for number, root in enumerate(self.roots):
            for name, path, info in self.files(number, root):
                if len(found) >= self.most_files:
                    self.frames.report(number, "", f"more than {self.most_files} files")
                elif len(os.fsencode(name)) <= MOST_NAME_BYTES:
                    found[number, name] = path, info
        return found

    def files(self, number: int, root: str) -> Iterator[FarFile]:
        """The files that may be logs at or below a root, whose state is sent if it has changed."""
        kind, why = "", ""
        try:
            info = os.stat(root)
            kind = "folder" if stat.S_ISDIR(info.st_mode) else "file"
            why = "" if os.access(root, os.R_OK) else "permission denied"
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            if error.errno not in MISSING:
                self.unlisted.add((number, ""))
                kind = self.kinds.get(number, ("", ""))[0]
        if self.kinds.get(number) != (kind, why):
            self.kinds[number] = kind, why
            self.frames.send("root", r=number, kind=kind, why=why)
        if kind == "file" and not why and stat.S_ISREG(info.st_mode):
            yield "", root, info
        elif kind == "folder" and not why:
            yield from self.walk(number, root)

    def walk(self, number: int, root: str) -> Iterator[FarFile]:
        """The files below a directory; links last, to keep what needs none under its own path."""
        covered = [os.path.realpath(root)]
        waiting: List[Tuple[str, int]] = [("", 0)]
        links: List[Tuple[str, int]] = []
        while waiting or links:
            if waiting:
                name, depth = waiting.pop()
                yield from self.list_folder(number, root, name, depth, waiting, links)
                continue
            name, depth = links.pop()
            path = os.path.join(root, name)
            real = os.path.realpath(path)
            if any(is_inside(real, each) or is_inside(each, real) for each in covered):
                continue
            if os.path.isdir(real) and depth <= MOST_DEPTH:
                covered.append(real)
                waiting.append((name, depth))
            elif os.path.isfile(real) and self.is_wanted(os.path.basename(name)):
                yield name, path, os.stat(real)

    def list_folder(
        self,
        number: int,
        root: str,
        folder: str,
        depth: int,
        folders: List[Tuple[str, int]],
        links: List[Tuple[str, int]],
    ) -> Iterator[FarFile]:
        """The files in a directory below a root; what is in it is added to folders and links."""
        self.frames.beat()
        checkpoints: Checkpoints = []
        try:
            for entry in os.scandir(os.path.join(root, folder)):
                name = folder + "/" + entry.name if folder else entry.name
                if self.is_checkpoint(entry.name):
                    checkpoints.append(checkpoint_entry(entry))
                if entry.is_symlink():
                    links.append((name, depth + 1))
                elif entry.is_dir():
                    if entry.name not in self.skipped and depth < MOST_DEPTH:
                        folders.append((name, depth + 1))
                elif self.is_wanted(entry.name) and entry.is_file():
                    yield name, entry.path, entry.stat()
            if checkpoints and len(os.fsencode(folder)) <= MOST_NAME_BYTES:
                self.checkpoints[number, folder] = checkpoints
        except OSError as error:
            if error.errno not in MISSING:
                self.unlisted.add((number, folder))
                self.frames.report(number, folder, (error.strerror or str(error)).lower())

    def is_unlisted(self, number: int, name: str) -> bool:
        """Whether a file is in a directory that could not be listed: it need not be gone."""
        return any(number == root and is_inside(name, folder) for root, folder in self.unlisted)

    def is_wanted(self, name: str) -> bool:
        """Whether a file may be a log by its name."""
        stem, _, suffix = name.rpartition(".")
        return (suffix not in self.others or "." in stem) and bool(self.wanted.search(name))

    def is_checkpoint(self, name: str) -> bool:
        """Whether an entry of a directory is a checkpoint by its name."""
        if not self.checkpoint.fullmatch(name) or self.is_wanted(name):
            return False
        sent = to_wire(name)
        return sent.isprintable() and len(sent.encode()) <= MOST_CHECKPOINT_BYTES


def checkpoint_entry(entry: "os.DirEntry[str]") -> Dict[str, Any]:
    """A checkpoint as it is sent; it is not opened."""
    mtime = sent_time(entry.stat(follow_symlinks=False).st_mtime)
    return {"p": to_wire(entry.name), "m": mtime, "folder": entry.is_dir()}


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")
