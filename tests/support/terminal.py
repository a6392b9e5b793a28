"""Runs a command in a pseudo-terminal, waits for a word on its screen, and quits it with `q`."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence

TERMINAL_SIZE = struct.pack("HHHH", 24, 100, 0, 0)


def run_until_shown(
    command: Sequence[str],
    word: str,
    patience_s: float = 60.0,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a command until it shows `word`, quit it, and return its exit code and output.

    The code is -1 if the word does not appear, or the program does not end, in time.
    """
    terminal, other = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, TERMINAL_SIZE)
    child = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, env=env, start_new_session=True
    )
    os.close(other)
    text, asked, end = "", False, time.monotonic() + patience_s
    try:
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                data = _read(terminal)
                if not data:
                    return child.wait(), text
                text += data.decode("utf-8", "replace")
            if not asked and word in text:
                os.write(terminal, b"q")
                asked = True
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return -1, text
    finally:
        os.close(terminal)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # on Linux: the other side is closed
        return b""


if __name__ == "__main__":  # WORD COMMAND: for a machine where nothing is installed yet
    code, screen = run_until_shown(["bash", "-c", sys.argv[2]], sys.argv[1], patience_s=600.0)
    print(f"shown: {sys.argv[1] in screen}, exit code {code}")
    sys.exit(code if sys.argv[1] in screen else 1)
