"""Runs the installed program as a user does, on recorded logs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
DEMO = HERE.parent.parent / "demo_logs"
PROGRAM = [sys.executable, "-m", "ppo_top"]

PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Runs a command and prints its peak memory in KiB at the end."""


def copy_of(name: str, target: Path) -> Path:
    """A copy of a shipped run, without the note."""
    shutil.copytree(DEMO / name, target, ignore=shutil.ignore_patterns("NOTE.md", "*.py"))
    return target


def environment(home: Path) -> dict[str, str]:
    """The environment of a user whose own files lie below `home`."""
    names = ("CACHE", "CONFIG", "DATA", "STATE")
    own = {f"XDG_{name}_HOME": str(home / name.lower()) for name in names}
    return {**os.environ, **own, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


class Tool:
    """A running program and the lines it has printed so far."""

    def __init__(self, home: Path, *arguments: str | Path, before: tuple[str, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [*before, *PROGRAM, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment(home),
            text=True,
        )
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._changed = threading.Condition()
        assert self.process.stdout is not None and self.process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.lines)),
            threading.Thread(target=self._read, args=(self.process.stderr, self.errors)),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: object, lines: list[str]) -> None:
        for line in stream:  # type: ignore[attr-defined]
            with self._changed:
                lines.append(line)
                self._changed.notify_all()

    def says(self, words: str, seconds: float = 30.0) -> bool:
        """Wait for a line with these words."""
        return self._wait_for(words, self.lines, seconds)

    def complains(self, words: str, seconds: float = 30.0) -> bool:
        """Wait for a line with these words on stderr."""
        return self._wait_for(words, self.errors, seconds)

    def _wait_for(self, words: str, lines: list[str], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: any(words in line for line in lines), seconds)

    def stop(self, signal: int, seconds: float = 10.0) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(signal)
        return self.end(seconds)

    def end(self, seconds: float = 30.0) -> int:
        """Wait for the end; return the exit code."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            for reader in self._readers:
                reader.join(5)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()
        return code

    @property
    def memory(self) -> int:
        """Resident bytes."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", text)
        assert found is not None
        return int(found[1]) * 1024

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text[text.rindex(")") + 2 :].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def share(self, seconds: float) -> float:
        """The fraction of a core used over the next seconds."""
        before = self.cpu
        threading.Event().wait(seconds)
        return (self.cpu - before) / seconds


def until(done: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Poll until something holds."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.05)
    return True
