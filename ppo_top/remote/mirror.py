"""A private folder that mirrors the logs of another machine, which are put nowhere else.

A new file, or one that was replaced there, is written aside and renamed when it is whole; what a
file gained is appended. Whatever the far side sends, nothing is touched outside the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ppo_top.files.mirrors import MIRROR_PREFIX
from ppo_top.parsers.file_names import is_file_name
from ppo_top.paths import is_notebook, without_nested
from ppo_top.remote.address import RemotePath
from ppo_top.remote.far_side.file_state import checksum
from ppo_top.remote.protocol import (
    WAL_SUFFIX,
    CheckpointList,
    FileComplete,
    FileData,
    Frame,
    Gone,
    HaveFile,
    Hello,
    ProtocolError,
    RemoteCheckpoint,
    RootState,
    Trouble,
)

MIN_SKEW_S = 2.0
"""A smaller difference between the clocks may be the message's time on the way."""
MAX_TROUBLES = 20
LOCK_NAME = ".lock"
ABANDONED_S = 60.0
"""A younger folder may be about to be locked."""
SPACE_SLACK = 1.25
"""Times the space asked for: a file that is replaced is there twice. More breaks the protocol."""


@dataclass(slots=True)
class MirroredFile:
    """A file of the mirror: bytes in its place, and bytes that wait aside (None: none do)."""

    number: int
    size: int = 0
    part_size: int | None = None


def remove_abandoned(folder: Path | None = None) -> None:
    """Delete the copies of processes that were killed; those of living ones are locked."""
    for each in (folder or Path(tempfile.gettempdir())).glob(f"{MIRROR_PREFIX}*"):
        with suppress(OSError):
            found = each.lstat()
            is_young = time.time() - found.st_mtime < ABANDONED_S
            if found.st_uid != os.geteuid() or is_young or not stat.S_ISDIR(found.st_mode):
                continue
            with open(each / LOCK_NAME, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(each, ignore_errors=True)


class Mirror:
    """The copies of the logs below some paths of one host.

    `skew` is what must be added to times there, `troubles` what is left out. `close` deletes all.
    """

    def __init__(self, remote: Sequence[RemotePath], space: int, most_files: int) -> None:
        self.label = remote[0].label
        self._folder = Path(tempfile.mkdtemp(prefix=MIRROR_PREFIX))  # 0700
        self._lock = open(self._folder / LOCK_NAME, "wb")  # noqa: SIM115 (held to the end)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._aside = self._folder / ".aside"
        self._aside.mkdir()
        self.space, self._most_files = space, most_files
        self._held = 0
        places = {f"{self._folder}/{self.label}:{each.path}": each.path for each in remote}
        kept = without_nested(list(places))
        self.paths = [Path(each) for each in kept]
        """Where the copies of each root are."""
        self.roots = [places[each] for each in kept]
        """The paths there."""
        self.root_states: dict[int, RootState] = {}
        self.skew = 0.0
        self.troubles: list[str] = []
        self._files: dict[tuple[int, str], MirroredFile] = {}
        self._checkpoints: dict[Path, set[Path]] = {}
        self._numbers = count()

    def apply(self, frame: Frame) -> None:
        """Do what a frame says; raises `ProtocolError`, or `OSError` if there is no room here."""
        if isinstance(frame, FileData):
            self._write(frame)
        elif isinstance(frame, FileComplete):
            self._complete(frame)
        elif isinstance(frame, Gone):
            self._remove(frame.root, frame.name)
            self._remove(frame.root, frame.name + WAL_SUFFIX)
        elif isinstance(frame, CheckpointList):
            folder = self._path(frame.root, frame.folder)
            self._set_checkpoints(folder, {folder / each.name: each for each in frame.checkpoints})
        elif isinstance(frame, RootState):
            self._set_root(frame)
        elif isinstance(frame, Hello):
            for folder in list(self._checkpoints):  # the far side lists them anew
                self._set_checkpoints(folder, {})
            skew = time.time() - frame.time
            self.skew = skew if abs(skew) > MIN_SKEW_S else 0.0
        elif isinstance(frame, Trouble) and len(self.troubles) < MAX_TROUBLES:
            path = "/".join(filter(None, (self.roots[frame.root], frame.name)))
            if (line := f"{self.label}:{path[:300]}: {frame.why[:100]}") not in self.troubles:
                self.troubles.append(line)

    def have(self) -> list[HaveFile]:
        """What is here already, for a connection that begins anew."""
        found = []
        self._drop_parts()
        for (root, name), file in self._files.items():
            path = self._path(root, name)
            with suppress(OSError), open(path, "rb") as opened:
                check = checksum(opened, str(path), file.size)
                found.append(HaveFile(root, name, file.size, check))
        return found

    def create_roots(self) -> None:
        """Make empty folders of paths of which nothing is known yet."""
        for number, path in enumerate(self.paths):
            if number not in self.root_states:
                path.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        """Delete the copies."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.close()

    # --- files -------------------------------------------------------------------------------

    def _write(self, frame: FileData) -> None:
        """Begin a file aside, or add to what is there."""
        file = self._file(frame.root, frame.name)
        path = self._path(frame.root, frame.name)
        if frame.at == 0:
            self._held -= file.part_size or 0
            file.part_size = 0
        known = file.size if file.part_size is None else file.part_size
        if frame.at != known:
            raise ProtocolError("bytes that do not follow what was sent before")
        self._held += len(frame.data)
        if self._held > self.space * SPACE_SLACK:
            raise ProtocolError("more bytes than there is space for")
        if file.part_size is None:
            file.size += len(frame.data)
        else:
            file.part_size += len(frame.data)
            path = self._part(file)
        with open(path, "wb" if frame.at == 0 else "ab") as opened:
            opened.write(frame.data)

    def _complete(self, frame: FileComplete) -> None:
        """Put what waits aside in its place, the log of a database last."""
        names = [frame.name]
        if frame.has_wal is not None:
            wal = frame.root, frame.name + WAL_SUFFIX
            if not frame.has_wal or self._file(frame.root, frame.name).part_size is not None:
                self._unlink(*wal)
            if frame.has_wal:
                names.append(wal[1])
        mtime = max(0.0, frame.mtime + self.skew)
        for name in names:
            file = self._file(frame.root, name)
            path = self._path(frame.root, name)
            if file.part_size is None and not path.exists():
                raise ProtocolError("a file of which nothing was sent")
            place = path if file.part_size is None else self._part(file)
            os.utime(place, (mtime, mtime))
            if file.part_size is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                place.replace(path)
                self._held -= file.size
                file.size, file.part_size = file.part_size, None

    def _file(self, root: int, name: str) -> MirroredFile:
        """The file of a frame; raises `ProtocolError` if it is none that was asked for."""
        file = self._files.get((root, name))
        if file is None:
            if len(self._files) >= 2 * self._most_files:  # each may have a log beside it
                raise ProtocolError("more files than were asked for")
            base = name.removesuffix(WAL_SUFFIX).rpartition("/")[2]
            if name not in ("", WAL_SUFFIX) and not (is_file_name(base) or is_notebook(base)):
                raise ProtocolError("a file that was not asked for")
            file = self._files[root, name] = MirroredFile(next(self._numbers))
        return file

    def _set_root(self, frame: RootState) -> None:
        before = self.root_states.get(frame.root)
        self.root_states[frame.root] = frame
        path = self.paths[frame.root]
        if before is None or before.kind != frame.kind:
            for root, name in [key for key in self._files if key[0] == frame.root]:
                self._remove(root, name)
            if path.is_dir():
                shutil.rmtree(path)
        if frame.kind == "folder":
            path.mkdir(parents=True, exist_ok=True)
        elif frame.kind == "file":
            path.parent.mkdir(parents=True, exist_ok=True)

    def _remove(self, root: int, name: str) -> None:
        """Remove a file, and the folders that it leaves empty."""
        self._unlink(root, name)
        file = self._files.pop((root, name), None)
        if file is not None:
            self._held -= file.part_size or 0
            self._part(file).unlink(missing_ok=True)
        self._remove_empty(self._path(root, name).parent)

    def _remove_empty(self, folder: Path) -> None:
        """Remove a folder below a root, and those above it, if nothing is left in them."""
        with suppress(OSError):  # not empty
            while any(path in folder.parents for path in self.paths):
                if folder in self._checkpoints.get(folder.parent, ()):
                    return
                folder.rmdir()
                folder = folder.parent

    def _set_checkpoints(self, folder: Path, listed: dict[Path, RemoteCheckpoint]) -> None:
        """Put empty files and folders in place of the checkpoints of a folder."""
        before = self._checkpoints.pop(folder, set())
        held = sum(map(len, self._checkpoints.values()))
        if held + len(listed) > self._most_files:
            raise ProtocolError("more checkpoints than were asked for")
        for path in before:
            if path not in listed or path.is_dir() != listed[path].is_folder:
                with suppress(OSError):  # there are logs in it
                    path.rmdir() if path.is_dir() else path.unlink()
        for path, each in listed.items():
            if each.is_folder:
                path.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                path.touch()
            mtime = max(0.0, each.mtime + self.skew)
            os.utime(path, (mtime, mtime))
        if listed:
            self._checkpoints[folder] = set(listed)
        else:
            self._remove_empty(folder)

    def _unlink(self, root: int, name: str) -> None:
        """Take a file from its place."""
        file = self._files.get((root, name))
        if file is not None:
            self._held -= file.size
            file.size = 0
            self._path(root, name).unlink(missing_ok=True)

    def _drop_parts(self) -> None:
        """Forget what waits aside: the rest of it will not come."""
        for (root, name), file in list(self._files.items()):
            if file.part_size is not None:
                self._held -= file.part_size
                file.part_size = None
                self._part(file).unlink(missing_ok=True)
                if not self._path(root, name).exists():
                    del self._files[root, name]

    def _path(self, root: int, name: str) -> Path:
        path = self.paths[root]
        if not name.removesuffix(WAL_SUFFIX).strip("/"):  # the root itself, or the log beside it
            return path.with_name(path.name + name)
        return path / name

    def _part(self, file: MirroredFile) -> Path:
        """Where a file waits until it is whole: by a number, for names may be long."""
        return self._aside / str(file.number)
