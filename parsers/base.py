"""The contract of a log format: bytes in, batches out, no reading of files of its own.

A format is one module in this folder with a constant `FORMAT`. A *parser* is fed the bytes of one
file in any cut; "I need more" is an ordinary answer (an empty batch) and a half-written record
waits for its rest. A *store* (an SQLite database, say) cannot be fed bytes: it is asked for what
is new.

Neither raises on what it reads: what cannot be understood becomes a `Problem` with its byte offset,
and reading goes on behind it. Memory stays bounded whatever the bytes are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ppo_top.model import Batch, Points

HEAD_BYTES = 4096
"""How much of a file a format sees to recognise it."""


class Parser(Protocol):
    """Reads one file that grows."""

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the file, whatever their number, and give what is complete."""
        ...

    def finish(self) -> Batch:
        """No byte will follow: give what is certain although it has no end yet.

        A last line without its newline counts only if it cannot be a cut-off one (a closed
        dictionary, say); half a number is never given.
        """
        ...


class Store(Protocol):
    """Reads a store that is not a stream of bytes; never writes and never locks it.

    A store may hold several runs: each batch is of one of them and names it (`Batch.stored_run`).
    """

    def poll(self, limit: int) -> Batch:
        """At most about `limit` new points since the last call; empty when there is nothing new."""
        ...

    def side_files_changed(self) -> bool:
        """A cheap look at what lies beside the file: whether another poll may give something.

        The file itself and its write-ahead log are looked at by the caller.
        """
        ...

    def close(self) -> None:
        """Let go of private copies."""
        ...


LastPointsReader = Callable[[bytes, bytes], list[Points]]
"""The points in the last bytes of a file, given its first bytes and those."""


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is recognised and read.

    `name_pattern` matches a file's name without its folder and decides whether the file is worth
    opening; `claims` sees the name and the first `HEAD_BYTES` bytes (possibly none yet) and answers
    yes, no or "cannot tell yet" (None: ask again when the file has grown). Of several formats that
    say yes the one with the lowest `order` wins. Exactly one of `parser` and `store` is set. `rank`
    orders the sources of one run: the higher rank is charted when two hold one concept (full
    precision before rounded, own clock before none). `console` formats also give `lines`. `chained`
    files of one folder continue each other: a resumed run adds a file. `cumulative` files hold the
    whole history each: of several the longest is the newest. `rewritten` marks files that writers
    replace from the start (SB3's progress.csv): when their first bytes change they are read again
    from the start. `kept_open` files are kept open by their writers as long as these live.
    `read_last_points` gives the points in the last bytes of a file, wherever in a record they
    begin: they are shown while a long file is read, which brings them again. `tag_of_path` is for
    files of one series that do not name it: it gives the tag by the file's path, or "" when a file
    at such a place is none of this format.
    """

    name: str
    name_pattern: re.Pattern[str]
    claims: Callable[[str, bytes], bool | None]
    order: int = 50
    rank: int = 0
    parser: Callable[..., Parser] | None = None
    store: Callable[[Path], Store] | None = None
    console: bool = False
    rewritten: bool = False
    chained: bool = False
    cumulative: bool = False
    kept_open: bool = False
    read_last_points: LastPointsReader | None = None
    tag_of_path: Callable[[str], str] | None = None
