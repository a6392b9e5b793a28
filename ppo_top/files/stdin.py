"""Standard input: read as it comes, never waited for, and ended by its writer."""

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

from ppo_top.files.log_reader import FIRST_PIECE_BYTES
from ppo_top.files.tail import MAX_READ_BYTES
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.model import Batch, Problem
from ppo_top.parsers import FormatDetector
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from ppo_top.support import internal_errors

STDIN_NAME = Path("standard input")
"""What a run is called that comes through the pipe."""

MAX_BUFFERED_BYTES = 64 << 20
"""Bytes that wait to be read: ten seconds of a hundred thousand lines a second."""

PIPE_READ_BYTES = 1 << 18


class NonBlockingStream:
    """A stream that cannot be read twice: takes what is there and never waits for more.

    A thread empties a real pipe into memory, so that a burst of output does not stop its writer
    while earlier output is being read; when `MAX_BUFFERED_BYTES` bytes wait the writer waits too,
    as with any pipe, and nothing is lost. A file under standard input is read directly.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.closed = False
        self.writer_has_waited = False
        """Whether the writer ever had to wait."""
        self._pieces: deque[bytes] = deque()
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
        """What can be waited for; None once the stream has ended."""
        return None if self.closed or self._ready is None else self._ready.handle

    def read_available(self, limit: int = MAX_READ_BYTES) -> bytes:
        """What has arrived, at most `limit` bytes; empty when there is nothing, now or for ever."""
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
        """What the thread has brought."""
        with self._condition:
            taken: list[bytes] = []
            while self._pieces and limit > 0:
                piece = self._pieces.popleft()
                if len(piece) > limit:
                    self._pieces.appendleft(piece[limit:])
                taken.append(piece[:limit])
                limit -= len(taken[-1])
            data = b"".join(taken)
            self._buffered -= len(data)
            self._condition.notify()
            self.closed = self._ended and not self._pieces
            if not (self._pieces or self.closed) and self._ready is not None:
                self._ready.clear()
        return data

    def _read_loop(self, handle: int) -> None:
        """Bring what comes, until the stream ends (in a thread of its own)."""
        while not self._ended:
            try:
                if self._stop.handle in select.select([handle, self._stop.handle], [], [])[0]:
                    return
                piece = os.read(handle, PIPE_READ_BYTES)
            except BlockingIOError:
                continue
            except (OSError, ValueError):  # a stream that fails has ended
                piece = b""
            self._buffer_piece(piece)

    def _buffer_piece(self, piece: bytes) -> None:
        """Hand over what came; empty at the end. Waits while too much waits."""
        with self._condition:
            self._ended = not piece
            if piece:
                self._pieces.append(piece)
                self._buffered += len(piece)
            if self._ready is not None:
                self._ready.wake()
            while self._buffered >= MAX_BUFFERED_BYTES and not self._closing:
                self.writer_has_waited = True
                self._condition.wait()

    def close(self) -> None:
        """Read no more, and end the thread."""
        self.closed = True
        with self._condition:
            self._closing = True
            self._condition.notify()
            bell, self._ready = self._ready, None
        if bell is not None:
            self._stop.wake()
            self._thread.join()
            bell.close()
            self._stop.close()


def _handle_of(stream: BinaryIO) -> int | None:
    """The descriptor of a stream that has to be waited for; None for a file or memory."""
    try:
        handle = stream.fileno()
        return None if stat.S_ISREG(os.fstat(handle).st_mode) else handle
    except (OSError, ValueError):
        return None


class StdinReader:
    """Standard input: the same as a file, but read once and ended by its writer."""

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
        self.piece_size = FIRST_PIECE_BYTES
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
        """Bytes that came; how many will is not known."""
        return self.stream.offset

    @property
    def offset(self) -> int:
        """Bytes that came."""
        return self.stream.offset

    def has_changed(self) -> bool:
        """A pipe is asked every time, until its end has been told."""
        return not self._finished

    def read_update(self, size: int = MAX_READ_BYTES, limit: int = 100_000) -> SourceUpdate | None:
        """Take what has arrived; the end of the pipe finishes it.

        Also where its reader failed: a pipe that nobody empties would stop the training.
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
        return self._call_parser(partial(self._parser.feed, data))

    def _call_parser(self, ask: Callable[[], Batch]) -> Batch:
        """What the reader answers; its own fault ends it, and nothing else."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 (its own fault ends this source only)
            self._parser = None
            return Batch(
                problems=[
                    Problem(self.offset, internal_errors.report_internal_error("its reader", error))
                ]
            )

    def _detect_format(self) -> bytes:
        """The bytes to feed once a format is found: text that no format claims is a console."""
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
        """Tell the end once."""
        if self._finished or self.source is None:
            self._finished = True
            return None
        self._finished = True
        if self._parser is not None:
            last = self._call_parser(self._parser.finish)
            batch.points += last.points
            batch.lines.extend(last.lines)
            batch.problems += last.problems
            batch.config.update(last.config)
            batch.ended = last.ended or batch.ended
        return SourceUpdate(self.source, batch, False, self.mtime, self.size)

    def finish(self) -> SourceUpdate | None:
        """The same as the end of the pipe."""
        self.stream.closed = True
        return None if self._finished else self._final_update(self._parse(b""))

    def close(self) -> None:
        """Read no more; the stream is not ours to close."""
        self.stream.close()
