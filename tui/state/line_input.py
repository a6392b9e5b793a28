"""Keys as a user's hands know them: a line that is typed and edited, a key that is held down."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

HELD_S = 0.2
"""A key that comes again within this time is held down: steps become longer."""

LONGEST = 200


@dataclass(slots=True)
class Typing:
    """A line that is being typed, and what is done with it; `changed` is told of every letter."""

    label: str
    done: Callable[[str], None]
    changed: Callable[[str], None] = lambda _text: None
    text: str = ""
    left: Callable[[], None] = lambda: None
    """Called when it is left without Enter."""

    def press(self, key: str, character: str | None) -> bool:
        """Edit; False when the line is finished or left."""
        if key == "enter":
            self.done(self.text.strip())
            return False
        if key in ("escape", "ctrl+c"):
            self.left()
            return False
        if key in ("backspace", "ctrl+h"):
            self.put(self.text[:-1])
        elif key == "ctrl+u":
            self.put("")
        elif character and character.isprintable():
            self.put(self.text + character)
        return True

    def put(self, text: str) -> None:
        """Replace the text."""
        self.text = text[:LONGEST]
        self.changed(self.text)


@dataclass(slots=True)
class Held:
    """Counts how often a key came in quick succession."""

    clock: Callable[[], float] = time.monotonic
    _key: str = ""
    _when: float = 0.0
    _count: int = 0

    def times(self, key: str) -> int:
        """How far a key goes: one step, and farther the longer it is held."""
        now = self.clock()
        again = key == self._key and now - self._when < HELD_S
        self._key, self._when, self._count = key, now, self._count + 1 if again else 0
        return 1 if self._count < 6 else min(100, 2 ** (self._count // 6))
