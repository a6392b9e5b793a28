"""Reads standard input as it comes, without blocking, until its writer closes it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, BinaryIO

from ppo_top.files.reading.file_trainings import FileTrainings
from ppo_top.files.reading.log_reader import FIRST_CHUNK_BYTES
from ppo_top.files.reading.parser_guard import guarded
from ppo_top.files.tail import MAX_READ_BYTES
from ppo_top.files.update import STDIN_NAME, Source, SourceUpdate
from ppo_top.model import Batch, RunEnd, State
from ppo_top.parsers import FormatDetector, detect_by_content
from ppo_top.parsers.base import HEAD_BYTES, Format, Parser
from ppo_top.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MARKDOWN_FENCE = lazy_pattern(rb"\A\s*(?:```|~~~)[\w-]{0,20}\r?\n")
"""The first line of a paste from an issue or a chat."""
PIPE_CLOSED = RunEnd(State.ENDED, "its pipe was closed · no end-of-run marker", is_said=False)


class NonBlockingStream:
    """A stream that gives what has arrived and never waits for more.

    `handle` is the descriptor to wait on; None once it has ended, and for files and memory, which
    are read directly. That a training never waits for us is the business of `PipeDrain`.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.closed = False
        self.handle = _handle_of(stream)
        if self.handle is not None:
            os.set_blocking(self.handle, False)

    def read_available(self, limit: int = MAX_READ_BYTES) -> bytes:
        """What has arrived, at most `limit` bytes; empty if there is nothing, now or ever."""
        if self.closed:
            return b""
        if self.handle is None:
            data = self._stream.read(limit)
            self.closed = len(data) < limit
        else:
            data = self._read_pipe(self.handle, limit)
        self.offset += len(data)
        return data

    def _read_pipe(self, handle: int, limit: int) -> bytes:
        try:
            data = os.read(handle, limit)
        except BlockingIOError:
            return b""
        except OSError:  # a stream that fails has ended
            data = b""
        if not data:
            self.close()
        return data

    def close(self) -> None:
        """Read no more; the stream itself is not ours to close."""
        self.closed, self.handle = True, None


class _UnixLineEnds(RawIOBase):
    """The bytes of a stream with LF for every CRLF."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer, as far as there are bytes; 0 at their end."""
        room = memoryview(buffer)
        data, chunk = b"", b"?"
        while chunk and not data:
            chunk = self._stream.read(len(room) - len(self._held))
            data = self._held + chunk
            self._held = b"\r" if chunk and data.endswith(b"\r") else b""  # is LF next?
            data = data.removesuffix(self._held).replace(b"\r\n", b"\n")
        room[: len(data)] = data
        return len(data)


def with_unix_line_ends(stream: BinaryIO) -> BinaryIO:
    """The same text as Unix ends its lines; it is waited for, and not all in memory at once."""
    return BufferedReader(_UnixLineEnds(stream))


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
        self.chunk_size = FIRST_CHUNK_BYTES
        self.stream = NonBlockingStream(stream)
        self.mtime = 0.0
        self._detector = detector
        self._fallback = fallback
        self._clock = clock
        self._head = b""
        self._parser: Parser | None = None
        self._trainings = FileTrainings()
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

        A pipe is emptied even after its parser failed.
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
        return self._trainings.updates(self._make_update(batch))

    def _make_update(self, batch: Batch) -> SourceUpdate:
        assert self.source is not None
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
        self._head = _MARKDOWN_FENCE.sub(b"", self._head)
        found = detect_by_content(self._detector, self._head[:HEAD_BYTES], streams_only=True)
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
            batch.add(guarded(self._parser.finish, self.offset, self._fail))
        return self._trainings.close(self._make_update(batch), PIPE_CLOSED)

    def finish(self) -> SourceUpdate | None:
        """As at the end of the pipe."""
        self.stream.closed = True
        return None if self._finished else self._final_update(self._parse(b""))

    def close(self) -> None:
        """Stop reading."""
        self.stream.close()
