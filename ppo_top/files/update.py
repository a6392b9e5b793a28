"""What reading gives: the sources and updates that the reader passes to the session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ppo_top.files.directory_tree import FolderStamp, FoundFile
from ppo_top.files.tail import FileStamp
from ppo_top.model import Batch, Problem, RunEnd, SourceFacts
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.base import Format

STDIN_NAME = Path("standard input")
"""The name of a run that comes through the pipe."""


class Source(NamedTuple):
    """A log: `key` is its path below its PATH (unique in a session), `root` that PATH.

    `file` is what is read, where `path` only stands for one of the trainings in it. `has_siblings`
    as in `FoundFile`.
    """

    key: str
    path: Path
    root: Path
    format: Format
    file: Path | None = None
    has_siblings: bool = False

    @property
    def is_piped(self) -> bool:
        """Whether it came through standard input, and so cannot be read again."""
        return self.root == STDIN_NAME


def source_of(found: FoundFile, format_: Format) -> Source:
    """A file that was found as the log that it is."""
    path, root = Path(found.path), Path(found.root)
    return Source(found.key, path, root, format_, has_siblings=found.has_siblings)


class SourceUpdate(NamedTuple):
    """What is new in a source. `reset`: its file began again, all earlier updates are void.

    `more`: the source is known to hold more than has been read. The last update of a backlog may be
    empty, only to say that it is the last.
    """

    source: Source
    batch: Batch
    reset: bool
    mtime: float
    size: int
    more: bool = False
    stamp: FileStamp = ()
    """what the file was like when it had been read to its end; empty before"""
    others: Sequence[SourceUpdate] = ()
    """what the same bytes held of further trainings in the file"""


class SavedSource(NamedTuple):
    """A log of a run that was judged before: all that is needed of it except its points."""

    key: str
    stamp: FileStamp
    mtime: float
    format: str
    precedence: int
    chained: bool
    cumulative: bool
    kept_open: bool
    points: int
    newest_step: int
    problem_count: int
    first_problems: list[Problem]
    left_out_values: int
    notes: list[str]
    counts_updates: bool
    ended: RunEnd | None
    facts: SourceFacts


class SavedRun(NamedTuple):
    """A run that was judged before; `scope` and `id` say where the rest of it is kept.

    `is_over`: it was judged as a whole. `settled` is a state that time does not change, with its
    text, `limit` the longest silence in seconds that is no stall, and `is_trainer_known` as in
    `StateFacts`.
    """

    scope: str
    id: str
    is_over: bool
    settled: tuple[str, str] | None
    limit: float
    sources: list[SavedSource]
    is_trainer_known: bool = False


class KnownLog(NamedTuple):
    """A file that need not be read: no log of its run has changed since that was judged."""

    source: Source
    saved: SavedSource
    run: SavedRun


class Listing(NamedTuple):
    """The directories and files below some paths, each with its stamp when it was looked at."""

    folders: dict[str, FolderStamp]
    files: dict[str, FileStamp]


class LogMemory(Protocol):
    """Remembers the logs of runs that were judged before."""

    def known_log(self, found: FoundFile) -> KnownLog | None:
        """What is known of a file; None if it has to be read."""


class PollResult(NamedTuple):
    """What one poll found. `more`: there is more to read right now.

    `read_bytes` of the `total_bytes` of all known logs have been read, for a progress bar.
    """

    updates: list[SourceUpdate]
    removed: list[Source]
    more: bool
    read_bytes: int
    total_bytes: int
    known: Sequence[KnownLog] = ()
    """files that were found and not read"""
    passed_over: Sequence[str] | None = None
    """a line for each file that gives nothing (of many with one reason, some); None: as before"""


class SourceReader(Protocol):
    """Something that grows and is read in chunks, of `chunk_size` bytes at once.

    `source` is None until its format is known.
    """

    key: str
    source: Source | None
    chunk_size: int

    @property
    def more(self) -> bool:
        """Whether the last chunk was not the end."""

    @property
    def size(self) -> int:
        """Its size in bytes, as last seen."""

    @property
    def offset(self) -> int:
        """Bytes that were read."""

    @property
    def mtime(self) -> float:
        """When it was last written, in unix seconds."""

    def read_update(self, size: int, limit: int) -> SourceUpdate | None:
        """Read at most `size` bytes or about `limit` points."""

    def finish(self) -> SourceUpdate | None:
        """No more will come: what is certain of an unfinished end."""
