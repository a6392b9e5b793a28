"""The app: keys, mouse and commands on top of what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from textual import events
from textual.app import SystemCommand
from textual.screen import Screen

from ppo_top.text.format import clean
from ppo_top.tui.app.base import Show
from ppo_top.tui.app.screen import Front, Pressed
from ppo_top.tui.graphics.theme import ORDER, THEMES
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.keys import BY_KEY, KEYS
from ppo_top.tui.state.line_input import Held


class PpoTop(Show):
    """The screen of `ppo-top`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.actions = Actions(self.desk)
        self.held = Held()

    # --- keys ------------------------------------------------------------------------------------

    def on_pressed(self, message: Pressed) -> None:
        """Do what the key table says, or type."""
        self.heard()
        if self.desk.typing is not None:
            if not self.desk.typing.press(message.key, message.character):
                self.desk.typing = None
        else:
            key = BY_KEY.get(message.key)
            if key is not None:
                self.desk.toast = ""
                self.do(key.action, self.held.times(message.key))
        self.draw(hurry=True)

    def do(self, action: str, times: int = 1) -> None:
        """Do an action of the key table."""
        before = self.desk.toast
        own = getattr(self, f"do_{action}", None)
        act = own or getattr(self.actions, f"do_{action}")
        if times > 1 and action in ("back", "forward", "left", "right"):
            act(times)
        else:
            act()
        if self.desk.toast != before:
            self.toast(self.desk.toast)
        self.playback.go()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the line that is being typed."""
        if self.desk.typing is not None:
            self.desk.typing.put(self.desk.typing.text + clean(event.text))
            self.draw()

    def do_quit(self) -> None:
        """Leave."""
        self.exit(0)

    def do_palette(self) -> None:
        """Textual's command palette, with the key table in it."""
        self.action_command_palette()

    def do_theme(self) -> None:
        """The next theme."""
        at = ORDER.index(self.palette_name)
        self.palette_name = ORDER[(at + 1) % len(ORDER)]
        self.canvas.recolour(THEMES[self.palette_name])
        self.toast(f"theme: {self.palette_name}")

    def do_redraw(self) -> None:
        """Look for what is new at once, and paint everything anew."""
        if self.pump is not None:
            self.pump.follower.wake()
        self.canvas.recolour(THEMES[self.palette_name])

    def do_bell(self) -> None:
        """Ring or be silent."""
        self.notifier.bell = not self.notifier.bell
        self.toast("bell " + ("on" if self.notifier.bell else "off"))

    def do_suspend(self) -> None:
        """Into the background, as Ctrl+Z does everywhere."""
        self.action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The key table as commands."""
        for key in KEYS:
            if key.action != "palette":
                command = partial(self._command, key.action)
                yield SystemCommand(key.text, f"key {key.shown}", command)

    def _command(self, action: str) -> None:
        self.do(action)
        self.draw()

    # --- the mouse -------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """What was clicked on, the smallest region first."""
        found = [
            hit
            for hit in self.hits
            if isinstance(self.screen, Front)
            and hit.x <= event.x < hit.x + hit.width
            and hit.y <= event.y < hit.y + hit.height
        ]
        if not found:
            return
        hit = min(found, key=lambda each: each.width * each.height)
        if hit.what == "key":
            self.do(hit.arg)
        else:
            self.actions.click(hit.what, hit.arg, (event.x - hit.x) / max(hit.width, 1))
        self.draw()

    def on_mouse_scroll_down(self, _event: events.MouseScrollDown) -> None:
        """The line below."""
        self._scroll(self.actions.do_down)

    def on_mouse_scroll_up(self, _event: events.MouseScrollUp) -> None:
        """The line above."""
        self._scroll(self.actions.do_up)

    def _scroll(self, move: Callable[[], None]) -> None:
        if isinstance(self.screen, Front):  # not behind the command palette
            move()
            self._soon(0.02)
