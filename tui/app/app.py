"""The app: keys, mouse and command palette."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from textual import events
from textual.app import SystemCommand
from textual.screen import Screen

from ppo_top.files.pipe_drain import PipeDrain
from ppo_top.text.format import clean
from ppo_top.tui.app.base import BaseApp
from ppo_top.tui.app.clipboard import MAX_BYTES, copy_sequence
from ppo_top.tui.app.screen import KeyPressed, MainScreen
from ppo_top.tui.graphics.theme import THEMES
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.keys import BINDING_BY_KEY, KEYS, NEEDING_A_RUN
from ppo_top.tui.state.line_input import KeyChoice, KeyRepeat
from ppo_top.tui.state.remembered_view import RememberedView


class PpoTop(BaseApp):
    """The screen of `ppo-top`."""

    def __init__(
        self,
        *arguments: Any,
        drain: PipeDrain | None = None,
        remembered: RememberedView | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.drain, self.remembered = drain, remembered
        self.is_detached = False
        """Whether it was quit while a training went on."""
        self.actions = Actions(self.ui_state)
        self.key_repeat = KeyRepeat()

    # --- keys ------------------------------------------------------------------------------------

    def on_key_pressed(self, message: KeyPressed) -> None:
        """Run the key's action, or edit the line that is being typed."""
        self.prioritise_input()
        news = self._note_input()
        if self.ui_state.line_input is not None:
            if not self.ui_state.line_input.press_key(message.key, message.character):
                self.ui_state.line_input = None
        else:
            key = BINDING_BY_KEY.get(message.key)
            if key is not None:
                self.clear_toast()
                self.perform_action(key.action, self.key_repeat.step_count(message.key))
        self.ui_state.toast = self.ui_state.toast or news
        self.draw_answer()

    def _note_input(self) -> str:
        """The user is here; what happened before that."""
        news = self.ui_state.news()
        self.ui_state.note_input()
        return news

    def perform_action(self, action: str, times: int = 1) -> None:
        """Run an action of the key table."""
        if action in NEEDING_A_RUN and self.ui_state.run is None and not self.ui_state.overlay:
            self.ui_state.toast = "No run yet"
            return
        own = getattr(self, f"do_{action}", None)
        act = own or getattr(self.actions, f"do_{action}")
        if times > 1 and action in ("step_back", "step_forward", "left", "right"):
            act(times)
        else:
            act()
        self.playback.start()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the line that is being typed."""
        if self.ui_state.line_input is not None:
            self.ui_state.line_input.set_text(self.ui_state.line_input.text + clean(event.text))
            self.draw()

    def do_quit(self) -> None:
        """Quit; first ask what becomes of a training that writes to our pipe."""
        if not self.training_goes_on:
            self.exit(0)
            return
        detach, tee = self._detach, self.drain.tee if self.drain is not None else None
        goes_to = f"is written to {tee}" if tee is not None else "is discarded"
        self.ui_state.line_input = KeyChoice(
            "Training runs: d detach · s stop · Esc",
            {"d": detach, "q": detach, "enter": detach, "ctrl+c": detach, "s": self._stop_training},
            f"detached, it runs on and its output {clean(goes_to)}",
        )

    @property
    def training_goes_on(self) -> bool:
        """Whether a training still writes to our pipe."""
        follower = self.reader.follower if self.reader is not None else None
        return self.drain is not None and follower is not None and follower.pipe_is_open

    def _detach(self) -> None:
        self.is_detached = True
        self.exit(0)

    def _stop_training(self) -> None:
        if self.drain is not None:
            self.drain.stop()
        self.exit(0)

    def do_palette(self) -> None:
        """Textual's command palette, with the key table in it."""
        self.action_command_palette()

    def do_theme(self) -> None:
        """Switch to the next theme."""
        names = list(THEMES)
        self.palette_name = names[(names.index(self.palette_name) + 1) % len(names)]
        self.canvas.use_theme(THEMES[self.palette_name])
        self.ui_state.toast = f"Theme: {self.palette_name}"

    def do_copy(self) -> None:
        """Copy the zoomed series to the clipboard of the terminal."""
        if text := self.actions.series_to_copy(MAX_BYTES):
            self._write(copy_sequence(text, os.environ))
            if os.environ.get("TMUX"):
                self.ui_state.toast += " (tmux: needs set -g set-clipboard on)"

    def do_redraw(self) -> None:
        """Poll the logs now and repaint everything."""
        if self.reader is not None:
            self.reader.follower.wake()
        self.canvas.use_theme(THEMES[self.palette_name])

    def do_bell(self) -> None:
        """Toggle the bell."""
        self.notifier.bell = not self.notifier.bell
        self.ui_state.toast = f"Bell {'on' if self.notifier.bell else 'off'}"

    def do_suspend(self) -> None:
        """Suspend the process."""
        self.action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The key table, the runs and the metrics as commands of the palette."""
        for key in KEYS:
            if key.action != "palette":
                command = partial(self._command, key.action)
                label = self.ui_state.symbols.translate(key.label)
                yield SystemCommand(key.description, f"key {label}", command)
        for listed in self.ui_state.listed_runs():
            words = f"go to this run, {listed.verdict.words}"
            yield SystemCommand(
                f"Run {clean(listed.name)}", words, partial(self._go_to, "run", listed.id)
            )
        view = self.ui_state.view()
        for track in view.tracks if view is not None else ():
            name = track.track.concept
            go = partial(self._go_to, "concept", name)
            yield SystemCommand(f"Metric {clean(track.label)}", "select this metric", go)

    def _go_to(self, what: str, target: str) -> None:
        self.actions.click(what, target, 0.0)
        self.draw()

    def _command(self, action: str) -> None:
        self.perform_action(action)
        self.draw()

    # --- the mouse -------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Act on the smallest region under the mouse."""
        self._note_input()
        found = [
            hit
            for hit in self.click_regions
            if isinstance(self.screen, MainScreen)
            and hit.x <= event.x < hit.x + hit.width
            and hit.y <= event.y < hit.y + hit.height
        ]
        if not found:
            return
        hit = min(found, key=lambda each: each.width * each.height)
        if hit.kind == "key":
            self.perform_action(hit.target)
        else:
            self.actions.click(hit.kind, hit.target, (event.x - hit.x) / max(hit.width, 1))
        self.draw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move down; over a chart, show more rows."""
        self._scroll(event, self.actions.do_down, -1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move up; over a chart, show fewer rows."""
        self._scroll(event, self.actions.do_up, 1)

    def _scroll(
        self, event: events.MouseEvent, move: Callable[[], None], zoom_direction: int
    ) -> None:
        if not isinstance(self.screen, MainScreen):  # the command palette is open
            return
        share = self._share_of_chart(event)
        if share is None:
            move()
        else:
            self.actions.zoom_rows(zoom_direction, share)
        self._draw_after(0.02)

    def _share_of_chart(self, event: events.MouseEvent) -> float | None:
        """Where within a chart's width the mouse is; None outside of charts."""
        if self.ui_state.overlay:
            return event.x / max(self.size.width, 1) if self.ui_state.overlay == "zoom" else None
        charts = (hit for hit in self.click_regions if hit.kind == "concept" and hit.height > 1)
        found = (
            (event.x - hit.x) / max(hit.width, 1)
            for hit in charts
            if hit.x <= event.x < hit.x + hit.width and hit.y <= event.y < hit.y + hit.height
        )
        return next(found, None)
