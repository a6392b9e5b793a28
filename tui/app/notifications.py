"""Notifications outside the screen: title, bell, OSC 9 and tmux; each can be switched off."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ppo_top.model import Verdict
from ppo_top.text.format import clean
from ppo_top.tui.state.listed_run import ListedRun

MAX_NOTIFICATION_CHARS = 120


@dataclass(slots=True)
class Notifier:
    """Writes to the terminal with `write`; text from logs is sanitised first."""

    write: Callable[[str], None]
    bell: bool = True
    desktop: bool = False
    tmux: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _title: str = ""
    _critical_ids: set[str] = field(default_factory=set)

    def set_title(self, text: str) -> None:
        """Set the terminal's title if it changed."""
        text = clean(text)[:MAX_NOTIFICATION_CHARS]
        if text != self._title and self.environment.get("TERM") not in ("dumb", "linux"):
            if not self._title:
                self.write("\x1b[22;2t")  # keep the old title
            self._title = text
            self.write(f"\x1b]2;{text}\x1b\\")

    def restore_title(self) -> None:
        """Restore the terminal's old title."""
        if self._title:
            self.write("\x1b[23;2t")
            self._title = ""

    def note_verdict(self, run: ListedRun, notify: bool) -> str:
        """Note a run's verdict; notify, and return the text, when it has just become critical."""
        was_critical = run.id in self._critical_ids
        if run.verdict is not Verdict.CRIT:
            self._critical_ids.discard(run.id)
            return ""
        self._critical_ids.add(run.id)
        if was_critical or not notify:
            return ""
        text = clean(f"{run.name}: {run.worst.title or 'critical'}")[:MAX_NOTIFICATION_CHARS]
        self._notify(text)
        return text

    def _notify(self, text: str) -> None:
        if self.bell:
            self.write("\x07")
        if self.desktop:
            self.write(f"\x1b]9;ppo-top: {text}\x1b\\")
        if self.tmux and self.environment.get("TMUX"):
            # A separate argument with `#` doubled, so that tmux executes nothing in it.
            quoted = "ppo-top: " + text.replace("#", "##")
            command = ["tmux", "display-message", quoted]
            # In a thread, which waits for its end: the screen does not, and it leaves no zombie.
            threading.Thread(target=_run_command, args=(command,), daemon=True).start()


def _run_command(command: list[str]) -> None:
    """Run a command to its end; nothing is said of one that cannot be run."""
    with suppress(OSError):
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
