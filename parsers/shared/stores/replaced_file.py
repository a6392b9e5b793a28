"""The common part of stores of a single file that its writer replaces as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
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


class TrainingsStore(ReplacedFileStore):
    """A store of a document that may hold several trainings, each of which is given at once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._pending: deque[Batch] = deque()
        self._runs: list[str] = []

    def _read(self) -> Iterable[Batch]:
        """A batch for each training, which `stored_run` names; raises `ValueError` if it cannot."""
        raise NotImplementedError

    def poll(self, limit: int) -> Batch:
        """All of one training, or nothing while the file is unchanged."""
        version = None if self._pending else self._new_version()
        if version is not None:
            try:
                batches = {each.stored_run: each for each in self._read()}
            except OSError:
                return Batch()
            except (ValueError, RecursionError) as problem:
                return self._problem(version, str(problem)[:120])
            self._note_read(version)
            gone = {run: Batch(stored_run=run) for run in self._runs if run not in batches}
            for run, batch in (gone | batches).items():
                batch.restarted = run in self._runs
                self._pending.append(batch)
            self._runs = list(batches)
        return self._pending.popleft() if self._pending else Batch()
