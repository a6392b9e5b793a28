"""Reads compressed logs (`train.log.gz`, `progress.csv.xz`) piece by piece, in bounded memory."""

from __future__ import annotations

import lzma
import zlib
from typing import Protocol

from ppo_top.parsers.file_names import compression_of

MAX_EXPANSION = 200
"""A file that expands to more than this many times its size is no log: text shrinks to a tenth."""
MIN_EXPANDED_BYTES = 64 << 20
"""A small file may expand to this many bytes in any case."""
_MAX_MEMORY_BYTES = 256 << 20
_PIECE_BYTES = 32
"""Bytes that are decompressed at once: what the piece with a damage holds is lost."""
_GZIP_WINDOW_BITS = 31
_MAGIC = {"gz": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00"}


class _Stream(Protocol):
    """One compressed stream; a file may hold several, one after another."""

    @property
    def eof(self) -> bool:
        """Whether its end has been reached."""

    @property
    def unused_data(self) -> bytes:
        """What follows its end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most `max_length` of the bytes that `data` and what is left of earlier calls hold."""


class Decompressor:
    """Turns the bytes of one file into those that were compressed.

    `problem` says why it stopped: damage, too much memory, or a file made to fill a disk.
    """

    def __init__(self, kind: str) -> None:
        self.problem = ""
        self._kind = kind
        self._stream: _Stream | None = None
        self._waiting = b""
        self._position = 0
        self._read_bytes = self._given_bytes = 0
        self._may_hold_more = self._is_reported = False

    def add_bytes(self, data: bytes) -> None:
        """Take the next bytes of the file; after a problem they are of no use."""
        if not self.problem:
            self._waiting, self._position = self._waiting[self._position :] + data, 0
            self._read_bytes += len(data)

    @property
    def has_more(self) -> bool:
        """Whether more can be read without further bytes of the file."""
        return not self.problem and (self._may_hold_more or self._can_begin())

    def read(self, limit: int) -> bytes:
        """The next bytes, at most `limit`."""
        parts: list[bytes] = []
        size = 0
        while size < limit and self.has_more:
            try:
                part = self._decompress(limit - size)
            except (zlib.error, lzma.LZMAError, EOFError, MemoryError) as error:
                self.problem = f"damaged compressed data: {error}"
                break
            parts.append(part)
            size += len(part)
        self._given_bytes += size
        if self._given_bytes > max(MIN_EXPANDED_BYTES, MAX_EXPANSION * self._read_bytes):
            self.problem = f"expands to more than {MAX_EXPANSION} times its size: not read further"
        return b"".join(parts)

    def pop_problem(self) -> str:
        """Why it stopped, when asked for the first time."""
        new = "" if self._is_reported else self.problem
        self._is_reported = bool(self.problem)
        return new

    def finish(self) -> str:
        """What is wrong with the end of the file, if that has not been said."""
        if not self.problem and (self._stream is not None or self._rest().strip(b"\0")):
            self.problem = "ends in the middle of its compressed data"
        return self.pop_problem()

    def _rest(self) -> bytes:
        return self._waiting[self._position :]

    def _can_begin(self) -> bool:
        """Whether there are bytes for the stream, or enough to see what begins after it."""
        if self._stream is not None:
            return self._position < len(self._waiting)
        self._waiting, self._position = self._rest().lstrip(b"\0"), 0  # streams may be padded
        return len(self._waiting) >= len(_MAGIC[self._kind])

    def _decompress(self, limit: int) -> bytes:
        """The next bytes of the stream; raises where it is damaged."""
        if self._stream is None:
            if not self._rest().startswith(_MAGIC[self._kind]):
                raise EOFError("something else follows")
            self._stream = _open_stream(self._kind)
        stream = self._stream
        wants_bytes = getattr(stream, "needs_input", True)
        end = self._position + (_PIECE_BYTES if wants_bytes else 0)
        part = stream.decompress(self._waiting[self._position : end], limit)
        unused = stream.unused_data if stream.eof else getattr(stream, "unconsumed_tail", b"")
        self._position = min(end, len(self._waiting)) - len(unused)
        self._may_hold_more = not stream.eof and len(part) == limit
        if stream.eof:
            self._stream = None
        return part


def _open_stream(kind: str) -> _Stream:
    if kind == "gz":
        return zlib.decompressobj(_GZIP_WINDOW_BITS)
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY_BYTES)


def decompressor_for(path: str, head: bytes) -> Decompressor | None:
    """What decompresses a file; None if its name or its first bytes say that it is plain."""
    kind = compression_of(path)
    return Decompressor(kind) if kind and head.startswith(_MAGIC[kind]) else None
