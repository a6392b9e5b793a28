"""Reads standard input as it comes, without blocking, until its writer closes it."""

from __future__ import annotations

import os
import select
import stat
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ppo_top.files.log_reader import FIRST_CHUNK_BYTES
from ppo_top.files.parser_guard import guarded
from ppo_top.files.tail import MAX_READ_BYTES
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.model import Batch
from ppo_top.parsers import FormatDetector
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser

STDIN_NAME = Path("standard input")
"""The name of a run that comes through the pipe."""
MAX_BUFFERED_BYTES = 64 << 20
"""The most that waits to be read: ten seconds of a hundred thousand lines per second."""
PIPE_READ_BYTES = 1 << 18


class NonBlockingStream:
    """A stream that gives what has arrived and never waits for more.

    A thread moves the bytes of a real pipe into memory, so that a burst of output does not block
    its writer while earlier output is parsed. With `MAX_BUFFERED_BYTES` in memory the writer has to
    wait, as with any pipe, and nothing is lost. Redirected files are read directly.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.closed = False
        self.writer_has_waited = False
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._ended = self._closing = False
        self._condition = threading.Condition()
        self._ready: WakePipe | None = None
        handle = _handle_of(stream)
        if handle is not None:
            self._ready, self._stop = WakePipe(), WakePipe()
            self._thread = threading.Thread(
                target=self._read_loop, args=(handle,), name="ppo-top-pipe", daemon=True
            )
            self._thread.start()

    @property
    def handle(self) -> int | None:
        """A descriptor to wait on; None once the stream has ended."""
        return None if self.closed or self._ready is None else self._ready.handle

    def read_available(self, limit: int = MAX_READ_BYTES) -> bytes:
        """What has arrived, at most `limit` bytes; empty if there is nothing, now or ever."""
        if self.closed:
            return b""
        if self._ready is None:
            data = self._stream.read(limit)
            self.closed = len(data) < limit
        else:
            data = self._pop_buffered(limit)
        self.offset += len(data)
        return data

    def _pop_buffered(self, limit: int) -> bytes:
        with self._condition:
            chunks: list[bytes] = []
            while self._chunks and limit > 0:
                chunk = self._chunks.popleft()
                if len(chunk) > limit:
                    self._chunks.appendleft(chunk[limit:])
                chunks.append(chunk[:limit])
                limit -= len(chunks[-1])
            data = b"".join(chunks)
            self._buffered -= len(data)
            self._condition.notify()
            self.closed = self._ended and not self._chunks
            if not (self._chunks or self.closed) and self._ready is not None:
                self._ready.clear()
        return data

    def _read_loop(self, handle: int) -> None:
        """The thread: buffer what arrives until the stream ends."""
        while not self._ended:
            try:
                if self._stop.handle in select.select([handle, self._stop.handle], [], [])[0]:
                    return
                chunk = os.read(handle, PIPE_READ_BYTES)
            except BlockingIOError:
                continue
            except (OSError, ValueError):  # a stream that fails has ended
                chunk = b""
            self._buffer(chunk)

    def _buffer(self, chunk: bytes) -> None:
        """Add a chunk (empty at the end), then wait while the buffer is full."""
        with self._condition:
            self._ended = not chunk
            if chunk:
                self._chunks.append(chunk)
                self._buffered += len(chunk)
            if self._ready is not None:
                self._ready.wake()
            while self._buffered >= MAX_BUFFERED_BYTES and not self._closing:
                self.writer_has_waited = True
                self._condition.wait()

    def close(self) -> None:
        """Stop reading and end the thread."""
        self.closed = True
        with self._condition:
            self._closing = True
            self._condition.notify()
            ready, self._ready = self._ready, None
        if ready is not None:
            self._stop.wake()
            self._thread.join()
            ready.close()
            self._stop.close()


def _handle_of(stream: BinaryIO) -> int | None:
    """The descriptor of a stream that must be waited for; None for a file or memory."""
    try:
        handle = stream.fileno()
        return None if stat.S_ISREG(os.fstat(handle).st_mode) else handle
    except (OSError, ValueError):
        return None


class StdinReader:
    """Standard input: like a file, but read only once and ended by its writer."""

    def __init__(
        self,
        stream: BinaryIO,
        detector: FormatDetector,
        fallback: Format,
        clock: Callable[[], float],
    ) -> None:
        self.key = "stdin"
        self.source: Source | None = None
        self.more = False
        self.changed_at = 0.0
        self.chunk_size = FIRST_CHUNK_BYTES
        self.stream = NonBlockingStream(stream)
        self.mtime = 0.0
        self._detector = detector
        self._fallback = fallback
        self._clock = clock
        self._head = b""
        self._parser: Parser | None = None
        self._finished = False

    @property
    def size(self) -> int:
        """Bytes so far; the total is unknown."""
        return self.stream.offset

    @property
    def offset(self) -> int:
        """Bytes so far."""
        return self.stream.offset

    def has_changed(self) -> bool:
        """True until its end has been reported: a pipe is read at every poll."""
        return not self._finished

    def read_update(self, size: int = MAX_READ_BYTES, limit: int = 100_000) -> SourceUpdate | None:
        """Read what has arrived; the end of the pipe finishes the source.

        A pipe is emptied even after its parser failed: the training would block otherwise.
        """
        data = self.stream.read_available(size)
        self.more = len(data) >= size
        if data:
            self.mtime = self._clock()
        batch = self._parse(data)
        if self.stream.closed:
            self.more = False
            return self._final_update(batch)
        if self.source is None or not (data and batch):
            return None
        return SourceUpdate(self.source, batch, False, self.mtime, self.size)

    def _parse(self, data: bytes) -> Batch:
        if self.source is None:
            self._head += data
            data = self._detect_format()
        if self._parser is None or not data:
            return Batch()
        return guarded(partial(self._parser.feed, data), self.offset, self._fail)

    def _fail(self) -> None:
        self._parser = None

    def _detect_format(self) -> bytes:
        """The bytes to parse once there is a format; text that none claims is console output."""
        found = self._detector("stdin.log", self._head[:HEAD_BYTES])
        if not isinstance(found, Format) or found.parser is None:
            if len(self._head) < HEAD_BYTES and not self.stream.closed:
                return b""
            found = self._fallback
        assert found.parser is not None
        self.source = Source(self.key, STDIN_NAME, STDIN_NAME, found)
        self._parser = found.parser()
        head, self._head = self._head, b""
        return head

    def _final_update(self, batch: Batch) -> SourceUpdate | None:
        """Report the end, once."""
        finished, self._finished = self._finished, True
        if finished or self.source is None:
            return None
        if self._parser is not None:
            last = guarded(self._parser.finish, self.offset, self._fail)
            batch.points += last.points
            batch.lines.extend(last.lines)
            batch.problems += last.problems
            batch.config.update(last.config)
            batch.ended = last.ended or batch.ended
        return SourceUpdate(self.source, batch, False, self.mtime, self.size)

    def finish(self) -> SourceUpdate | None:
        """As at the end of the pipe."""
        self.stream.closed = True
        return None if self._finished else self._final_update(self._parse(b""))

    def close(self) -> None:
        """Stop reading; the stream itself is not ours to close."""
        self.stream.close()
