"""The common part of stores of a single file that its writer replaces as a whole."""

from __future__ import annotations

from pathlib import Path

from ppo_top.model import Batch, Problem

FileVersion = tuple[int, int, int]
"""Inode, size and time of the last change."""


class ReplacedFileStore:
    """A store that reads its file again when it has changed; what is wrong with it is said once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_version: FileVersion | None = None
        self._last_problem = ""

    def side_files_changed(self) -> bool:
        """There are no other files."""
        return False

    def close(self) -> None:
        """Nothing is held open."""

    def _new_version(self) -> FileVersion | None:
        """What the file is like now; None if it is gone or was read like this.

        Whoever has read it, or need not try again until it changes, calls `_note_read`.
        """
        try:
            found = self._path.stat()
        except OSError:
            return None
        version = (found.st_ino, found.st_size, found.st_mtime_ns)
        return None if version == self._read_version else version

    def _note_read(self, version: FileVersion) -> None:
        self._read_version, self._last_problem = version, ""

    def _problem(self, version: FileVersion, what: str) -> Batch:
        """The problem, unless it is that of the last try."""
        self._read_version = version
        if what == self._last_problem:
            return Batch()
        self._last_problem = what
        return Batch(problems=[Problem(0, what)])
