"""Empties a training's pipe in a process of its own, whatever becomes of the monitor.

A pipe that nobody reads stops its writer, and one that nobody holds open ends it. So the monitor
never reads the training's pipe itself: it may be quit, suspended or killed, or wait for a slow
terminal, and the training goes on.
"""

from __future__ import annotations

import os
import select
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

CHUNK_BYTES = 1 << 18
MEMORY_BYTES = 4 << 20
"""What the monitor has not read yet waits in memory up to this size, then in a temporary file."""

LOST_TEXT = "\n[ppo-top: no room for {lost} bytes of output]\n"

IGNORED_SIGNALS = (
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)
"""Signals that a terminal sends: this process outlives it."""


class PipeDrain:
    """A process that reads `pipe` to its end and passes it on through `handle`.

    It copies everything to the file `tee` as well, which it appends to. Raises OSError if that
    cannot be opened. Start it before any thread: it is a fork.
    """

    def __init__(self, pipe: int, tee: Path | None = None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        copy = os.open(tee, flags, 0o666) if tee is not None else None
        self.tee = tee
        self.handle, sink = os.pipe()
        self.process_id = os.fork()
        if not self.process_id:
            try:
                os.close(self.handle)
                _leave_terminal({pipe, sink, *(() if copy is None else (copy,))})
                _drain(pipe, sink, copy)
            finally:
                os._exit(0)
        for handle in (pipe, sink, *(() if copy is None else (copy,))):
            os.close(handle)

    def stop(self) -> None:
        """Stop reading: the training ends at its next line, as it would behind `| head`."""
        with suppress(ProcessLookupError):
            os.kill(self.process_id, signal.SIGTERM)


def _leave_terminal(keep: set[int]) -> None:
    """Let go of the terminal, so that it can be closed, and ignore its signals."""
    os.setsid()
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in {0, 1, 2} - keep:
        os.dup2(nothing, standard)
    first = 3
    for handle in sorted(handle for handle in keep if handle > 2):
        os.closerange(first, handle)
        first = handle + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _drain(pipe: int, sink: int, copy: int | None) -> None:
    """Move bytes until the pipe ends and the monitor has them all, or is gone."""
    os.set_blocking(sink, False)
    waiting, is_open, is_read = _Backlog(), True, True
    while is_open or (is_read and waiting):
        reading = [pipe] if is_open else []
        ready, writable, _ = select.select(reading, [sink] if is_read and waiting else [], [])
        if ready:
            data = os.read(pipe, CHUNK_BYTES)
            is_open = bool(data)
            if copy is not None:
                copy = _copied(copy, data)
            waiting.add(data if is_read else b"")
        if ready or writable:
            is_read = is_read and _pass_on(waiting, sink)
        if not is_read:
            waiting.clear()


def _copied(copy: int, data: bytes) -> int | None:
    """Write all bytes to the copy; None once that fails, which costs only the copy."""
    try:
        while data:
            data = data[os.write(copy, data) :]
    except OSError:
        return None
    return copy


def _pass_on(waiting: _Backlog, sink: int) -> bool:
    """Write what the monitor's pipe takes; False once nobody reads it any more."""
    try:
        while waiting:
            waiting.drop(os.write(sink, waiting.next(CHUNK_BYTES)))
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


class _Backlog:
    """Bytes in order, in memory or in a file without a name; true while it holds any."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._start = self._end = self._lost = 0

    def __bool__(self) -> bool:
        return self._end > self._start

    def add(self, data: bytes) -> None:
        """Add bytes; where there is no room for them, a line that says how many were lost."""
        if not data:
            return
        if self._lost:
            data = LOST_TEXT.format(lost=self._lost).encode() + data
        try:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115
            self._file.seek(self._end)
            self._file.write(data)
            self._file.flush()
        except OSError:
            self._lost += len(data)
            return
        self._end, self._lost = self._end + len(data), 0

    def next(self, most: int) -> bytes:
        """The first bytes, up to `most`."""
        if self._file is None:
            return b""
        self._file.seek(self._start)
        return self._file.read(min(most, self._end - self._start))

    def drop(self, count: int) -> None:
        """Forget the first bytes; the room is free again once all have been passed on."""
        self._start += count
        if not self:
            self.clear()

    def clear(self) -> None:
        """Forget all bytes."""
        if self._file is not None:
            self._file.close()
        self._file, self._start, self._end = None, 0, 0
