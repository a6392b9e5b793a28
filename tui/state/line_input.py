"""Keys as a user's hands know them: a line that is typed and edited, a key that is held down."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

KEY_REPEAT_S = 0.2
"""A key that comes again within this time is held down: steps become longer."""

MAX_INPUT_CHARS = 200


@dataclass(slots=True)
class LineInput:
    """A line that is being typed, and what is done with it; `on_change` is told of every letter."""

    label: str
    on_submit: Callable[[str], None]
    on_change: Callable[[str], None] = lambda _text: None
    text: str = ""
    on_cancel: Callable[[], None] = lambda: None
    """Called when it is left without Enter."""

    def press_key(self, key: str, character: str | None) -> bool:
        """Edit; False when the line is finished or left."""
        if key == "enter":
            self.on_submit(self.text.strip())
            return False
        if key in ("escape", "ctrl+c"):
            self.on_cancel()
            return False
        if key in ("backspace", "ctrl+h"):
            self.set_text(self.text[:-1])
        elif key == "ctrl+u":
            self.set_text("")
        elif character and character.isprintable():
            self.set_text(self.text + character)
        return True

    def set_text(self, text: str) -> None:
        """Replace the text."""
        self.text = text[:MAX_INPUT_CHARS]
        self.on_change(self.text)


@dataclass(slots=True)
class KeyRepeat:
    """Counts how often a key came in quick succession."""

    clock: Callable[[], float] = time.monotonic
    _key: str = ""
    _last_time: float = 0.0
    _count: int = 0

    def step_count(self, key: str) -> int:
        """How far a key goes: one step, and farther the longer it is held."""
        now = self.clock()
        again = key == self._key and now - self._last_time < KEY_REPEAT_S
        self._key, self._last_time, self._count = key, now, self._count + 1 if again else 0
        return 1 if self._count < 6 else min(100, 2 ** (self._count // 6))
