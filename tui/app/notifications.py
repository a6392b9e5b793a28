"""Telling the user outside the screen: title, bell, OSC 9, tmux; each can be switched off."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppo_top.model import Severity
from ppo_top.runs.run import Run
from ppo_top.text.format import clean

MAX_NOTIFICATION_CHARS = 120


@dataclass(slots=True)
class Notifier:
    """Writes to the terminal by `write`; nothing of a log reaches it but as clean text."""

    write: Callable[[str], None]
    bell: bool = True
    desktop: bool = False
    tmux: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _title: str = ""
    _last_severity: dict[str, Severity] = field(default_factory=dict)

    def set_title(self, text: str) -> None:
        """Set the terminal's title, where it changed."""
        text = clean(text)[:MAX_NOTIFICATION_CHARS]
        if text != self._title and self.environment.get("TERM") not in ("dumb", "linux"):
            if not self._title:
                self.write("\x1b[22;2t")  # keep the old title
            self._title = text
            self.write(f"\x1b]2;{text}\x1b\\")

    def restore_title(self) -> None:
        """Give the terminal its old title back."""
        if self._title:
            self.write("\x1b[23;2t")
            self._title = ""

    def update_severity(self, run: Run, severity: Severity | None, notify: bool) -> str:
        """Note how bad a run is now; tells it (and gives the words) when it has just turned red."""
        before = self._last_severity.get(run.id)
        now = severity or Severity.INFO
        self._last_severity[run.id] = now
        if now < Severity.CRIT or before is Severity.CRIT or not notify:
            return ""
        worst = max(run.findings, key=lambda each: each.severity, default=None)
        words = clean(f"{run.name}: {worst.title if worst else 'red'}")[:MAX_NOTIFICATION_CHARS]
        self._notify(words)
        return words

    def _notify(self, words: str) -> None:
        if self.bell:
            self.write("\x07")
        if self.desktop:
            self.write(f"\x1b]9;ppo-top: {words}\x1b\\")
        if self.tmux and self.environment.get("TMUX"):
            # The text is an argument of its own and `#` is doubled, so tmux runs nothing of it.
            quoted = "ppo-top: " + words.replace("#", "##")
            subprocess.Popen(
                ["tmux", "display-message", quoted],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
