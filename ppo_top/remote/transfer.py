"""One process of ssh: what goes into it and comes out, until it ends or falls silent."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ppo_top.remote.mirror import Mirror
from ppo_top.remote.protocol import FrameReader, Swept

BANNER_S = 15.0
"""After something else was printed, how long to wait for the first frame."""
START_S = 45.0
"""How long the first frame may take: jump hosts, a slow file system."""
SILENCE_S = 30.0
"""The far side says something every few seconds; after as much silence the connection is dead."""
BEAT_S = 20.0
"""How often we tell the far side that somebody is here."""
READ_BYTES = 1 << 18
MAX_BYTES_PER_S, MAX_FRAMES_PER_S = 200e6, 20_000.0
"""A far side that sends more has to wait."""
MAX_ERROR_BYTES = 4096
END_S = 2.0
"""How long ssh may take to end by itself."""


class Transfer:
    """Starts a command, hands it the first bytes, and puts the frames it sends into a mirror.

    `is_silent`: it was given up because nothing came; `exit_code` and `last_words` (the last line
    of its standard error) are known after `close`. Raises `OSError` if it cannot be started.
    """

    def __init__(self, command: Sequence[str], first_bytes: bytes, mirror: Mirror) -> None:
        self.frames = FrameReader(len(mirror.roots))
        self.is_silent = False
        self.exit_code: int | None = None
        self._mirror = mirror
        self._outgoing = first_bytes
        self._errors = b""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # nothing of it asks on our terminal
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._error = self._process.stderr.fileno()
        for handle in (self._input, self._error):
            os.set_blocking(handle, False)
        now = time.monotonic()
        self._started = self._last_read = self._allowed_at = now
        self._next_beat = now + BEAT_S

    def run(self, stop_handle: int, on_swept: Callable[[], None]) -> None:
        """Transfer until the process ends, falls silent or a handle can be read.

        Raises `ProtocolError`, or `OSError` where the mirror cannot be written.
        """
        with selectors.DefaultSelector() as selector:
            for handle in (self._output, self._error, stop_handle):
                selector.register(handle, selectors.EVENT_READ)
            selector.register(self._input, selectors.EVENT_WRITE)
            while not self._is_overdue():
                ready = {key.fd for key, _ in selector.select(1.0)}
                if stop_handle in ready:
                    return
                if self._error in ready and not self._read_error():
                    selector.unregister(self._error)
                if self._input in ready and not self._write():
                    selector.unregister(self._input)
                if self._output in ready and not self._read(on_swept):
                    return
                if time.monotonic() >= self._next_beat:
                    self._next_beat = time.monotonic() + BEAT_S
                    if not self._outgoing:
                        self._outgoing = b"."
                        self._write()
            self.is_silent = True

    def _is_overdue(self) -> bool:
        now = time.monotonic()
        if self.frames.has_begun:
            return now - self._last_read > SILENCE_S
        limit = BANNER_S if self.frames.banner.strip() else START_S
        return now - self._started > limit

    def _read(self, on_swept: Callable[[], None]) -> bool:
        """Read and apply some frames; False at the end."""
        data = os.read(self._output, READ_BYTES)
        now = self._last_read = time.monotonic()
        count = 0
        for frame in self.frames.feed(data):
            count += 1
            self._mirror.apply(frame)
            if isinstance(frame, Swept):
                on_swept()
        cost = len(data) / MAX_BYTES_PER_S + count / MAX_FRAMES_PER_S
        self._allowed_at = max(self._allowed_at, now) + cost
        if self._allowed_at - time.monotonic() > 0.1:
            time.sleep(self._allowed_at - time.monotonic())
        return bool(data)

    def _read_error(self) -> bool:
        """Keep the end of what is said on standard error; False at its end."""
        try:
            data = os.read(self._error, READ_BYTES)
        except BlockingIOError:
            return True
        self._errors = (self._errors + data)[-MAX_ERROR_BYTES:]
        return bool(data)

    def _write(self) -> bool:
        """Write what is waiting; False when nothing is."""
        try:
            self._outgoing = self._outgoing[os.write(self._input, self._outgoing) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it has ended, as its output will show
            self._outgoing = b""
        return bool(self._outgoing)

    @property
    def last_words(self) -> str:
        """The last line of standard error."""
        lines = self._errors.decode(errors="replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """End the process, and all that it has started, if it has not ended by itself."""
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._process.stdin.close()
        if self.frames.has_begun and not self.is_silent:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
        for ending in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, ending)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(END_S)
        self.exit_code = self._process.poll()
        self._read_error()  # not to its end: a master connection may keep it open
        self._process.stdout.close()
        self._process.stderr.close()
