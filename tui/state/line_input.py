"""Line editing, questions that a key answers, key repeat."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KEY_REPEAT_S = 0.2
"""The same key within this time counts as held down: steps become longer."""

MAX_INPUT_CHARS = 200


@dataclass(slots=True)
class LineInput:
    """A line that is being typed; `on_change` is called after every edit."""

    label: str
    on_submit: Callable[[str], None]
    on_change: Callable[[str], None] = lambda _text: None
    text: str = ""
    on_cancel: Callable[[], None] = lambda: None
    """Called on Esc."""
    hint: Callable[[], str] = lambda: ""
    """What the text has found so far."""
    on_tab: Callable[[str], None] | None = None
    """Types the text into something else instead."""

    def press_key(self, key: str, character: str | None) -> bool:
        """Edit the line; False once it is submitted or cancelled."""
        if key == "enter":
            self.on_submit(self.text.strip())
            return False
        if key in ("escape", "ctrl+c"):
            self.on_cancel()
            return False
        if key == "tab" and self.on_tab is not None:
            self.on_cancel()
            self.on_tab(self.text)
            return True
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
class KeyChoice:
    """A question that one key answers; Esc takes it back, other keys do nothing."""

    label: str
    answers: Mapping[str, Callable[[], None]]
    hint: str = ""
    text: str = ""

    def press_key(self, key: str, _character: str | None) -> bool:
        """Answer; False once it is answered or taken back."""
        answer = self.answers.get(key)
        if answer is not None:
            answer()
        return answer is None and key != "escape"

    def set_text(self, text: str) -> None:
        """There is nothing to type."""


@dataclass(slots=True)
class KeyRepeat:
    """Counts repeats of a key in quick succession."""

    clock: Callable[[], float] = time.monotonic
    _key: str = ""
    _last_time: float = 0.0
    _count: int = 0

    def step_count(self, key: str) -> int:
        """Steps for a key press: one, and more the longer the key is held."""
        now = self.clock()
        again = key == self._key and now - self._last_time < KEY_REPEAT_S
        self._key, self._last_time, self._count = key, now, self._count + 1 if again else 0
        return 1 if self._count < 6 else min(100, 2 ** (self._count // 6))
