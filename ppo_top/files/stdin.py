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

from ppo_top.files.log_reader import FIRST_PIECE
from ppo_top.files.tail import PIECE
from ppo_top.files.update import Gain, Source
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.model import Batch, Problem
from ppo_top.parsers import Claim
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from ppo_top.support import internal_errors as mishap

NAME = Path("standard input")
"""What a run is called that comes through the pipe."""

MOST_WAITING = 64 << 20
"""Bytes that wait to be read: ten seconds of a hundred thousand lines a second."""

ONE_READ = 1 << 18


class Pipe:
    """A stream that cannot be read twice: takes what is there and never waits for more.

    A thread empties a real pipe into memory, so that a burst of output does not stop its writer
    while earlier output is being read; when `MOST_WAITING` bytes wait the writer waits too, as
    with any pipe, and nothing is lost. A file under standard input is read directly.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.closed = False
        self.full = False
        """Whether the writer ever had to wait."""
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._ended = self._left = False
        self._room = threading.Condition()
        self._bell: WakePipe | None = None
        handle = _handle_of(stream)
        if handle is not None:
            self._bell, self._stop = WakePipe(), WakePipe()
            self._thread = threading.Thread(
                target=self._empty, args=(handle,), name="ppo-top-pipe", daemon=True
            )
            self._thread.start()

    @property
    def handle(self) -> int | None:
        """What can be waited for; None once the stream has ended."""
        return None if self.closed or self._bell is None else self._bell.handle

    def read(self, limit: int = PIECE) -> bytes:
        """What has arrived, at most `limit` bytes; empty when there is nothing, now or for ever."""
        if self.closed:
            return b""
        if self._bell is None:
            data = self._stream.read(limit)
            self.closed = len(data) < limit
        else:
            data = self._arrived(limit)
        self.offset += len(data)
        return data

    def _arrived(self, limit: int) -> bytes:
        """What the thread has brought."""
        with self._room:
            taken: list[bytes] = []
            while self._pieces and limit > 0:
                piece = self._pieces.popleft()
                if len(piece) > limit:
                    self._pieces.appendleft(piece[limit:])
                taken.append(piece[:limit])
                limit -= len(taken[-1])
            data = b"".join(taken)
            self._waiting -= len(data)
            self._room.notify()
            self.closed = self._ended and not self._pieces
            if not (self._pieces or self.closed) and self._bell is not None:
                self._bell.clear()
        return data

    def _empty(self, handle: int) -> None:
        """Bring what comes, until the stream ends (in a thread of its own)."""
        while not self._ended:
            try:
                if self._stop.handle in select.select([handle, self._stop.handle], [], [])[0]:
                    return
                piece = os.read(handle, ONE_READ)
            except BlockingIOError:
                continue
            except (OSError, ValueError):  # a stream that fails has ended
                piece = b""
            self._bring(piece)

    def _bring(self, piece: bytes) -> None:
        """Hand over what came; empty at the end. Waits while too much waits."""
        with self._room:
            self._ended = not piece
            if piece:
                self._pieces.append(piece)
                self._waiting += len(piece)
            if self._bell is not None:
                self._bell.wake()
            while self._waiting >= MOST_WAITING and not self._left:
                self.full = True
                self._room.wait()

    def close(self) -> None:
        """Read no more, and end the thread."""
        self.closed = True
        with self._room:
            self._left = True
            self._room.notify()
            bell, self._bell = self._bell, None
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
        self.source = Source(self.key, NAME, NAME, found)
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
        """Read no more; the stream is not ours to close."""
        self.pipe.close()
