"""The contract of a log format: bytes in, batches out; it opens no files itself.

A format is a module in this folder with a constant `FORMAT`. A *parser* is fed the bytes of one
file, cut anywhere; an empty batch means that it needs more, and a half-written record waits for its
rest. A *store* (an SQLite database, say) cannot be fed bytes and is polled for new points instead.

Neither raises on bad input: what cannot be parsed becomes a `Problem` with its byte offset, and
reading continues after it. Memory stays bounded for any input.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ppo_top.model import Batch
from ppo_top.model.named_tuple import NamedTuple

HEAD_BYTES = 4096
"""How much of a file a format sees to recognise it."""


class Parser(Protocol):
    """Reads one file that grows."""

    def feed(self, data: bytes) -> Batch:
        """What is complete after the next bytes of the file, however many there are.

        Where another training begins in them, its batch is in `rest`.
        """
        ...

    def finish(self) -> Batch:
        """What is certain although no more bytes will follow.

        A last line without a newline counts only if it cannot be truncated (a closed dictionary,
        say); half a number is never returned.
        """
        ...


class Store(Protocol):
    """Reads a store that is not a stream of bytes; never writes to it or locks it.

    A store may hold several runs: each batch belongs to one of them (`Batch.stored_run`).
    """

    def poll(self, limit: int) -> Batch:
        """About `limit` new points at most since the last call; empty if there is nothing new."""
        ...

    def side_files_changed(self) -> bool:
        """A cheap check of the files next to the store: might another poll return something?

        The caller checks the file itself and its write-ahead log.
        """
        ...

    def close(self) -> None:
        """Delete private copies."""
        ...


class Format(NamedTuple):
    """How a format is recognised and read; either `parser` or `store` is set.

    `ppo_top.parsers.file_names` has the names of its files.
    """

    name: str
    claims: Callable[[str, bytes], bool | None]
    """Recognises a file by its name and its first `HEAD_BYTES` bytes (possibly none yet).

    None means that it cannot decide yet and wants to be asked again when the file has grown.
    """
    claim_order: int = 50
    """Of several formats that claim a file, the lowest wins."""
    precedence: int = 0
    """Of several sources of one metric, the highest is charted: full precision before rounded
    values, its own clock before none."""
    parser: Callable[..., Parser] | None = None
    store: Callable[[Path], Store] | None = None
    text_store: Callable[..., Store] | None = None
    """Instead of `store`, where a store holds console text: it also takes `make_console`, which
    makes the parser for that. (A format knows no other; `ppo_top.parsers` brings them together.)
    """
    one_file: bool = False
    """Its store is a single file and holds a single run."""
    console: bool = False
    """Its batches also have `lines`."""
    rewritten: bool = False
    """Writers replace the file from the start (SB3's progress.csv): when its first bytes change, it
    is read again. A store sees to that itself (`Batch.restarted`)."""
    document: bool = False
    """The file is one document that only its end completes: while it cannot be read, what was read
    of it last stays."""
    chained: bool = False
    """Files in one folder continue each other (a resumed run adds a file), or hold one metric each
    and are named after it."""
    cumulative: bool = False
    """Each file holds the whole history, so the longest is the newest."""
    per_environment: bool = False
    """Each file (`3.monitor.csv`) counts the steps of one of the environments that a training runs
    side by side, whose numbers their names begin with."""
    by_lines: bool = False
    """Its records are lines, written whole: one without a line end counts once the file has been
    quiet for a while."""
    kept_open: bool = False
    """Writers keep the file open as long as they live."""
    tag_of_path: Callable[[str], str] | None = None
    """For files of one series that do not name it: the tag by path, "" if the path is not ours."""
    unnamed_tag: str = ""
    """The tag that the parser gives to that series."""

    def without_parser(self) -> Format:
        """The same for a log that is not read here; unlike a parser it can be sent elsewhere."""
        return self._replace(claims=claims_nothing, parser=None, store=None, tag_of_path=None)


def claims_nothing(_name: str, _head: bytes) -> bool | None:
    """For a format that is not asked."""
    return None
