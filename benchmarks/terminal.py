"""Measures a program in a pseudo-terminal: bytes written, CPU time, memory."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BELOW_VERDICT = b"Crucial values"
"""What stands below the verdict of a run, whatever it is."""

TERMINAL_SIZE = (40, 140)
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Measure:
    """One figure and its target."""

    name: str
    value: float
    unit: str
    bar: float | None = None

    @property
    def meets_bar(self) -> bool:
        """Whether the target is met."""
        return self.bar is None or self.value <= self.bar

    def row(self) -> str:
        """A line of a table."""
        bar = "" if self.bar is None else f"  (target {self.bar:.4g})"
        sign = "" if self.meets_bar else "  MISSED"
        return f"{self.name:38}{self.value:10.2f} {self.unit}{bar}{sign}"


class MeasuredTerminal:
    """A program in a pseudo-terminal whose output is counted."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8")
            os.execvp(command[0], command)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", *TERMINAL_SIZE, 0, 0))
        self.written = bytearray()

    def read_for(self, seconds: float, until: Callable[[bytes], bool] | None = None) -> float:
        """Read for `seconds`, or until `until` holds; return the seconds it took."""
        begin = time.perf_counter()
        while (left := begin + seconds - time.perf_counter()) > 0:
            if not select.select([self.handle], [], [], left)[0]:
                break
            try:
                self.written += os.read(self.handle, 1 << 16)
            except OSError:
                break
            if until is not None and until(bytes(self.written)):
                break
        return time.perf_counter() - begin

    def press(self, key: bytes) -> float:
        """Press a key; return the seconds until the program writes something."""
        self.read_for(0.02)
        os.write(self.handle, key)
        before = len(self.written)
        return self.read_for(5.0, lambda seen: len(seen) > before)

    def cpu_s(self) -> float:
        """CPU seconds of the program so far, child processes included."""
        return sum(int(fields[11]) + int(fields[12]) for fields in self._family()) / CLOCK_TICKS

    def memory_mb(self) -> float:
        """Resident memory in MB, child processes included."""
        pages = sum(int(fields[21]) for fields in self._family())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _family(self) -> list[list[str]]:
        """Fields of /proc/PID/stat, from the state on, of each process in the session."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(") ")[2].split()
                if int(fields[3]) == self.pid:
                    found.append(fields)
        return found

    def close(self) -> None:
        """Quit."""
        os.kill(self.pid, signal.SIGTERM)
        self.read_for(3.0, lambda _seen: bool(os.waitpid(self.pid, os.WNOHANG)[0]))
        os.close(self.handle)
