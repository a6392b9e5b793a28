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
class Gain:
    """What a source gained. `reset`: all its earlier gains are void, the file began again.

    `more`: it is known to hold more than has been read by now. The gain that ends the reading may
    be empty, to tell that. `ahead`: the points are from the end of a long log, and come again when
    it has been read as far as that.
    """

    source: Source
    batch: Batch
    reset: bool
    mtime: float
    size: int
    more: bool = False
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Slice:
    """What a poll brought. `more`: there is more to read right now.

    `read_bytes` of `total_bytes` of all known logs have been read, for a progress bar.
    """

    gains: list[Gain]
    gone: list[Source]
    more: bool
    read_bytes: int
    total_bytes: int


class Feed(Protocol):
    """Something that grows and is read piece by piece.

    `source` is None until its format is known; `more` says that the last piece was not the end;
    `moved` is when (monotonic seconds) it was last seen to change, `piece` how many bytes are read
    at once.
    """

    key: str
    source: Source | None
    more: bool
    moved: float
    piece: int

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

    def changed(self) -> bool:
        """A cheap look: whether reading may give something."""
        ...

    def take(self, size: int, limit: int) -> Gain | None:
        """Read at most `size` bytes or about `limit` points."""
        ...

    def finish(self) -> Gain | None:
        """No more will come: what is certain of the unfinished end."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
