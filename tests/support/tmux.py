"""A real terminal for a test, in its own tmux server."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 30.0


class Terminal:
    """A terminal of a given size with a shell in it, in its own tmux server."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        size = ["-x", str(width), "-y", str(height)]
        shell = "env -u TMUX PS1='ready> ' bash --norc --noprofile"
        self.run("new-session", "-d", "-s", "test", *size, shell)
        self.wait_for(lambda text: "ready>" in text)

    def run(self, *arguments: str) -> str:
        """A command of tmux."""
        done = subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def type(self, *keys: str) -> None:
        """Press keys."""
        self.run("send-keys", "-t", "test", *keys)

    def screen(self) -> str:
        """The text in the terminal."""
        return self.run("capture-pane", "-p", "-t", "test")

    def wait_for(self, holds: Callable[[str], bool]) -> str:
        """Poll until the screen is as wanted."""
        end = time.monotonic() + PATIENCE_S
        while not holds(text := self.screen()):
            assert time.monotonic() < end, text
            time.sleep(0.05)
        return text

    def child(self) -> int:
        """The process that the shell has started."""
        shell = self.run("display-message", "-p", "-t", "test", "#{pane_pid}").strip()
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def close(self) -> None:
        """Stop the server."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
