"""What is read and what it gained: the values that go from the reader to the session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ppo_top.model import Batch
from ppo_top.parsers.base import Format


@dataclass(frozen=True, slots=True)
class Source:
    """A log: `key` is its path below its PATH (unique among all), `root` that PATH."""

    key: str
    path: Path
    root: Path
    format: Format


@dataclass(frozen=True, slots=True)
class SourceUpdate:
    """What a source gained. `reset`: all its earlier gains are void, the file began again.

    `more`: it is known to hold more than has been read by now. The gain that ends the reading may
    be empty, to tell that. `last_points_only`: the points are from the end of a long log, and come
    again when it has been read as far as that.
    """

    source: Source
    batch: Batch
    reset: bool
    mtime: float
    size: int
    more: bool = False
    last_points_only: bool = False


@dataclass(frozen=True, slots=True)
class PollResult:
    """What a poll brought. `more`: there is more to read right now.

    `read_bytes` of `total_bytes` of all known logs have been read, for a progress bar.
    """

    updates: list[SourceUpdate]
    removed: list[Source]
    more: bool
    read_bytes: int
    total_bytes: int


class SourceReader(Protocol):
    """Something that grows and is read piece by piece.

    `source` is None until its format is known; `more` says that the last piece was not the end;
    `changed_at` is when (monotonic seconds) it was last seen to change, `piece_size` how many bytes
    are read at once.
    """

    key: str
    source: Source | None
    more: bool
    changed_at: float
    piece_size: int

    @property
    def size(self) -> int:
        """Bytes it has now, as last seen."""
        ...

    @property
    def offset(self) -> int:
        """Bytes of it that were read."""
        ...

    @property
    def mtime(self) -> float:
        """When it was last written, in unix seconds."""
        ...

    def has_changed(self) -> bool:
        """A cheap look: whether reading may give something."""
        ...

    def read_update(self, size: int, limit: int) -> SourceUpdate | None:
        """Read at most `size` bytes or about `limit` points."""
        ...

    def finish(self) -> SourceUpdate | None:
        """No more will come: what is certain of the unfinished end."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
