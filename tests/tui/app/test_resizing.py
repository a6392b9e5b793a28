"""The real program in a pseudo-terminal: frequent resizing, signals, and few bytes written."""

from __future__ import annotations

import fcntl
import os
import pty
import random
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.screens import write_unhealthy_run


class Program:
    """The program in a pseudo terminal."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8", XDG_STATE_HOME=str(state))
            os.execv(sys.executable, [sys.executable, "-m", "ppo_top", str(folder)])
        self.seen = b""

    def resize(self, cells: int, rows: int) -> None:
        """Give the terminal another size, as a split or a zoom does."""
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cells, 0, 0))

    def read(self, seconds: float, until: bytes = b"") -> bytes:
        """The output of some seconds, or until something appears in it."""
        begin, new = time.monotonic(), b""
        while (left := begin + seconds - time.monotonic()) > 0:
            if not select.select([self.handle], [], [], left)[0]:
                break
            try:
                new += os.read(self.handle, 65536)
            except OSError:
                break
            if until and until in new:
                break
        self.seen += new
        return new

    def ended(self, seconds: float = 10.0) -> int | None:
        """The exit code, once it ended."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        return None


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The program over one red run."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    started = Program(tmp_path / "runs", tmp_path / "state")
    started.resize(140, 40)
    yield started
    if started.pid:
        os.kill(started.pid, signal.SIGKILL)
        os.waitpid(started.pid, 0)
    os.close(started.handle)


def test_it_survives_two_hundred_resizes(program: Program) -> None:
    """Whatever sizes come how fast, in the end the picture is that of the last size."""
    assert b"large updates" in program.read(20, b"large updates")
    chance = random.Random(1)
    for _ in range(200):
        program.resize(chance.randint(10, 220), chance.randint(3, 70))
        program.read(0.002)
    program.resize(80, 24)
    program.read(1.0)
    os.write(program.handle, b"?")
    assert b"Views and charts" in program.read(10, b"Views and charts")
    os.write(program.handle, b"q")
    assert program.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_restores_the_terminal(program: Program, number: int) -> None:
    """The other screen is left, the cursor shown and the mouse released, whatever ends it."""
    program.read(20, b"large updates")
    os.kill(program.pid, number)
    assert program.ended() == 128 + number
    assert b"\x1b[?1049l" in program.seen
    assert b"\x1b[?25h" in program.seen
    assert b"\x1b[?1000l" in program.seen


def test_a_quiet_run_writes_nothing(program: Program) -> None:
    """When nothing comes, not one byte goes to the terminal."""
    program.read(20, b"large updates")
    program.read(12.0, b"no such thing")
    assert program.read(4.0) == b""
