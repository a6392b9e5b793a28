"""Standard input: read as it comes, never waited for, and ended by its writer."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ppo_top import mishap
from ppo_top.feed import FIRST_PIECE, Claim, Gain, Source
from ppo_top.model import Batch, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from ppo_top.tail import PIECE


class Pipe:
    """A stream that cannot be read twice: takes what is there and never waits for more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.closed = False
        try:
            self._handle: int | None = stream.fileno()
        except (OSError, ValueError):  # no file behind it, as in a test
            self._handle = None

    @property
    def handle(self) -> int | None:
        """What can be waited for; None once the stream has ended."""
        return None if self.closed else self._handle

    def read(self, limit: int = PIECE) -> bytes:
        """What has arrived, at most `limit` bytes; empty when there is nothing, now or for ever."""
        if self.closed:
            return b""
        pieces: list[bytes] = []
        while limit > 0 and self._has_data():
            piece = self._one(min(limit, 1 << 16))
            if not piece:
                self.closed = True
                break
            pieces.append(piece)
            limit -= len(piece)
        data = b"".join(pieces)
        self.offset += len(data)
        return data

    def _has_data(self) -> bool:
        if self._handle is None:
            return True
        try:
            return bool(select.select([self._handle], [], [], 0)[0])
        except (OSError, ValueError):
            self.closed = True
            return False

    def _one(self, limit: int) -> bytes:
        """One read; a stream that fails has ended."""
        try:
            if self._handle is None:
                return self._stream.read(limit)
            return os.read(self._handle, limit)
        except BlockingIOError:
            return b""
        except OSError:
            return b""


class PipeFeed:
    """Standard input: the same as a file, but read once and ended by its writer."""

    def __init__(
        self, stream: BinaryIO, claim: Claim, fallback: Format, clock: Callable[[], float]
    ) -> None:
        self.key = "stdin"
        self.source: Source | None = None
        self.more = False
        self.moved = 0.0
        self.piece = FIRST_PIECE
        self.pipe = Pipe(stream)
        self.mtime = 0.0
        self._claim = claim
        self._fallback = fallback
        self._clock = clock
        self._head = b""
        self._parser: Parser | None = None
        self._finished = False

    @property
    def size(self) -> int:
        """Bytes that came; how many will is not known."""
        return self.pipe.offset

    @property
    def offset(self) -> int:
        """Bytes that came."""
        return self.pipe.offset

    def changed(self) -> bool:
        """A pipe is asked every time, until its end has been told."""
        return not self._finished

    def take(self, size: int = PIECE, limit: int = 100_000) -> Gain | None:
        """Take what has arrived; the end of the pipe finishes it.

        Also where its reader failed: a pipe that nobody empties would stop the training.
        """
        data = self.pipe.read(size)
        self.more = len(data) >= size
        if data:
            self.mtime = self._clock()
        batch = self._read(data)
        if self.pipe.closed:
            self.more = False
            return self._end(batch)
        if self.source is None or not (data and batch):
            return None
        return Gain(self.source, batch, False, self.mtime, self.size)

    def _read(self, data: bytes) -> Batch:
        if self.source is None:
            self._head += data
            data = self._recognise()
        if self._parser is None or not data:
            return Batch()
        return self._guarded(partial(self._parser.feed, data))

    def _guarded(self, ask: Callable[[], Batch]) -> Batch:
        """What the reader answers; its own fault ends it, and nothing else."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            self._parser = None
            return Batch(problems=[Problem(self.offset, mishap.note("its reader", error))])

    def _recognise(self) -> bytes:
        """The bytes to feed once a format is found: text that no format claims is a console."""
        found = self._claim("stdin.log", self._head[:HEAD_BYTES])
        if not isinstance(found, Format) or found.parser is None:
            if len(self._head) < HEAD_BYTES and not self.pipe.closed:
                return b""
            found = self._fallback
        assert found.parser is not None
        self.source = Source(self.key, Path("-"), Path("-"), found)
        self._parser = found.parser()
        head, self._head = self._head, b""
        return head

    def _end(self, batch: Batch) -> Gain | None:
        """Tell the end once."""
        if self._finished or self.source is None:
            self._finished = True
            return None
        self._finished = True
        if self._parser is not None:
            last = self._guarded(self._parser.finish)
            batch.points += last.points
            batch.lines.extend(last.lines)
            batch.problems += last.problems
            batch.config.update(last.config)
            batch.ended = last.ended or batch.ended
        return Gain(self.source, batch, False, self.mtime, self.size)

    def finish(self) -> Gain | None:
        """The same as the end of the pipe."""
        self.pipe.closed = True
        return None if self._finished else self._end(self._read(b""))

    def close(self) -> None:
        """The stream is not ours to close."""
