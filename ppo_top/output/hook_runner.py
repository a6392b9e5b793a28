"""Runs the commands of hooks: without a shell, beside the watching, bounded in everything.

A hook that fails, hangs or floods costs a line on stderr. Commands of one run run one after the
other, in the order of their events.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import clean, duration, plural

MAX_PROCESSES = 4
"""Commands that run at a time."""
MAX_WAITING = 100
"""Commands that wait; beyond this number the oldest is dropped."""
TIME_LIMIT_S = 30.0
"""A command that takes longer is asked to end (SIGTERM)."""
GRACE_S = 2.0
"""It is killed after this many seconds more; at the end of watching commands have as long."""
MAX_OUTPUT_BYTES = 64 * 1024
"""Read of a command's output, of which only the last line is shown, and only if it fails."""
MAX_LINE_CHARS = 300
POLL_S = 0.05
"""How often commands are checked for their end."""


class HookCall(NamedTuple):
    """A command to run for an event: what it gets on standard input, and more in variables."""

    run: str
    """which run it is about: one command of a run at a time"""
    about: str
    """`ppo_7, crit kl-high`, for messages"""
    command: tuple[str, ...]
    stdin: bytes
    variables: Mapping[str, str]


class HookRunner:
    """Starts commands in threads of its own; `tell` gets a line of text for each failure."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._waiting: deque[HookCall] = deque()
        self._busy: dict[str, subprocess.Popen[bytes] | None] = {}
        """run -> its running process"""
        self._changed = threading.Condition()
        self._is_closed = False

    def start(self, call: HookCall) -> None:
        """Run a command as soon as there is room for it; returns at once."""
        with self._changed:
            self._waiting.append(call)
            if len(self._waiting) > MAX_WAITING:
                oldest = self._waiting.popleft()
                self._tell(f"{_name(oldest)}: not run, more than {MAX_WAITING} commands wait")
            self._start_waiting()

    def wait(self, seconds: float) -> bool:
        """Wait until no command runs or waits; False if the time is over before."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._busy or self._waiting), seconds)

    def close(self) -> None:
        """Drop what waits, and end what runs, after a moment."""
        with self._changed:
            self._is_closed = True
            left = len(self._waiting)
            self._waiting.clear()
        if left:
            self._tell(f"{plural(left, 'command')} of hooks not run: the watching ends")
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if self.wait(GRACE_S):
                return
            with self._changed:
                for process in self._busy.values():
                    _send(process, sent)
        self.wait(GRACE_S)

    def _start_waiting(self) -> None:
        """Start what may run now, the oldest first; the lock is held."""
        for call in list(self._waiting):
            if len(self._busy) >= MAX_PROCESSES:
                return
            if call.run not in self._busy:
                self._waiting.remove(call)
                self._busy[call.run] = None
                threading.Thread(target=self._run, args=(call,), daemon=True).start()

    def _run(self, call: HookCall) -> None:
        """Run a command to its end, then make room for the next; in a thread of its own."""
        try:
            if failure := self._failure(call):
                self._tell(f"{_name(call)}: {failure}")
        finally:
            with self._changed:
                del self._busy[call.run]
                if not self._is_closed:
                    self._start_waiting()
                self._changed.notify_all()

    def _failure(self, call: HookCall) -> str:
        """Run a command to its end; returns what went wrong with it."""
        try:
            with tempfile.TemporaryFile() as stdin:
                stdin.write(call.stdin)
                stdin.seek(0)
                process = subprocess.Popen(
                    call.command,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **call.variables},
                    start_new_session=True,  # a signal to its group reaches what it started, too
                )
        except (OSError, ValueError) as error:
            return f"cannot run: {getattr(error, 'strerror', None) or error}"
        with self._changed:
            self._busy[call.run] = process
        output, is_late = _run_to_end(process)
        lines = output.decode("utf-8", "replace").strip().splitlines()
        said = f": {clean(lines[-1])[:MAX_LINE_CHARS]}" if lines else ""
        if is_late:
            return f"stopped after {duration(TIME_LIMIT_S)}{said}"
        code = process.returncode
        how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
        return f"{how}{said}" if code else ""


def _name(call: HookCall) -> str:
    return f"hook {clean(call.command[0])} ({clean(call.about)})"


def _run_to_end(process: subprocess.Popen[bytes]) -> tuple[bytes, bool]:
    """The end of a process's output, and whether it had to be stopped.

    What it leaves in the background may keep the output open; nobody waits for that.
    """
    assert process.stdout is not None
    kept, is_late, signals = b"", False, [signal.SIGTERM, signal.SIGKILL]
    end = time.monotonic() + TIME_LIMIT_S
    with process.stdout as stream:
        readable = select.poll()
        readable.register(stream, select.POLLIN)
        is_open, ended = True, False
        while not ended:
            ended = process.poll() is not None
            if is_open and readable.poll(0 if ended else POLL_S * 1000):
                data = os.read(stream.fileno(), MAX_OUTPUT_BYTES)
                is_open, kept = bool(data), (kept + data)[-MAX_OUTPUT_BYTES:]
            elif not is_open:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
            if signals and time.monotonic() > end:
                _send(process, signals.pop(0))
                is_late, end = True, end + GRACE_S
    return kept, is_late


def _send(process: subprocess.Popen[bytes] | None, sent: signal.Signals) -> None:
    """Send a signal to a process and all that it started."""
    if process is not None and process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, sent)
