"""Runs the program in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.support.installed_program import PROGRAM, environment, until

SESSION_LEADER_CODE = (
    "import fcntl, os, sys, termios\n"
    "os.setsid()\n"
    "fcntl.ioctl(1, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
ENTER_SCREEN_BYTES, LEAVE_SCREEN_BYTES = b"\x1b[?1049h", b"\x1b[?1049l"
SHOW_CURSOR_BYTES, HIDE_CURSOR_BYTES = b"\x1b[?25h", b"\x1b[?25l"


class ProgramTerminal:
    """The program in a pseudo-terminal, and what it has drawn."""

    def __init__(
        self,
        home: Path,
        *arguments: str | Path,
        stdin: int | None = None,
        command_prefix: tuple[str, ...] = (),
    ) -> None:
        self.terminal, inner = os.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self.initial_attributes = termios.tcgetattr(inner)
        self.program_side = inner
        self.process = subprocess.Popen(
            [
                *command_prefix,
                sys.executable,
                "-c",
                SESSION_LEADER_CODE,
                *PROGRAM,
                *map(str, arguments),
            ],
            stdin=inner if stdin is None else stdin,
            stdout=inner,
            stderr=inner,
            env={**environment(home), "TERM": "xterm-256color"},
        )
        self.output = b""

    def read_output(self, seconds: float = 0.1) -> bytes:
        """Everything drawn so far."""
        while select.select([self.terminal], [], [], seconds)[0]:
            try:
                data = os.read(self.terminal, 1 << 16)
            except OSError:  # the last one has left the terminal
                break
            if not data:
                break
            self.output += data
        return self.output

    def wait_for_text(self, words: str, seconds: float = 30.0) -> bool:
        """Wait until these characters were drawn contiguously."""
        return until(lambda: words.encode() in self.read_output(), seconds)

    def wait_for_exit(self, seconds: float = 10.0) -> int:
        """Wait for the end while drawing goes on; return the exit code."""
        assert until(
            lambda: self.read_output() is not None and self.process.poll() is not None, seconds
        )
        self.read_output()
        return self.process.wait()

    def close(self) -> None:
        """Close the terminal."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for handle in (self.program_side, self.terminal):
            if handle >= 0:
                os.close(handle)
