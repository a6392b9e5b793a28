"""The main screen, and the messages it and the reader thread send to the app."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from ppo_top.files.update import PollResult
from ppo_top.tui.app.canvas import Canvas, use_cell_compositor


class PollArrived(Message):
    """The reader thread has a result."""

    def __init__(self, result: PollResult) -> None:
        super().__init__()
        self.result = result


class KeyPressed(Message):
    """A key for the app itself (not for the command palette)."""

    def __init__(self, key: str, character: str | None) -> None:
        super().__init__()
        self.key, self.character = key, character


class MainScreen(Screen[None]):
    """One canvas as large as the screen."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self.canvas = canvas
        use_cell_compositor(self, lambda: canvas.is_ready)

    def compose(self) -> ComposeResult:
        """The canvas."""
        yield self.canvas

    async def on_key(self, event: events.Key) -> None:
        """Pass every key on to the app's key table."""
        event.stop()
        event.prevent_default()
        self.app.post_message(KeyPressed(event.key, event.character))
