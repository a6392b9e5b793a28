"""The one screen of the app, and the messages that reach the app: a slice, a key."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from ppo_top.files.update import PollResult
from ppo_top.tui.app.canvas import Canvas, use_cell_compositor


class PollArrived(Message):
    """The reading thread has a slice."""

    def __init__(self, result: PollResult) -> None:
        super().__init__()
        self.result = result


class KeyPressed(Message):
    """A key for the app itself (not for the command palette)."""

    def __init__(self, key: str, character: str | None) -> None:
        super().__init__()
        self.key, self.character = key, character


class MainScreen(Screen[None]):
    """A canvas over all of the screen."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self.canvas = canvas
        self.uses_cell_compositor = use_cell_compositor(self, lambda: canvas.is_ready)

    def compose(self) -> ComposeResult:
        """The canvas."""
        yield self.canvas

    async def on_key(self, event: events.Key) -> None:
        """Every key goes to the app's table."""
        event.stop()
        event.prevent_default()
        self.app.post_message(KeyPressed(event.key, event.character))
