"""The app: its parts, keys, mouse and command palette."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, SystemCommand
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from ppo_top.files.follower import Follower
from ppo_top.files.pipe_drain import PipeDrain
from ppo_top.files.update import PollResult
from ppo_top.text.format import clean
from ppo_top.tui.app.checkpoint_lister import CheckpointLister, CheckpointsListed
from ppo_top.tui.app.clipboard import MAX_BYTES, copy_sequence
from ppo_top.tui.app.drawing import ScreenDrawing
from ppo_top.tui.app.driver import TerminalDriver
from ppo_top.tui.app.input_priority import InputPriority
from ppo_top.tui.app.judging_loop import STATE_CHECK_INTERVAL_S, JudgingLoop
from ppo_top.tui.app.notifications import Notifier
from ppo_top.tui.app.quitting import Quitting
from ppo_top.tui.app.reader_thread import ReaderThread
from ppo_top.tui.app.screen import KeyPressed, MainScreen, PollArrived
from ppo_top.tui.app.signals import install_signal_handlers
from ppo_top.tui.graphics.theme import THEMES, choose_theme
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.keys import BINDING_BY_KEY, FASTER_WHEN_HELD, KEYS, NEEDING_A_RUN
from ppo_top.tui.state.line_input import KeyRepeat
from ppo_top.tui.state.playback import Playback
from ppo_top.tui.state.remembered_view import RememberedView
from ppo_top.tui.state.ui_state import UiState

if TYPE_CHECKING:
    from ppo_top.tui.app.machine_watch import MachineWatch

MEASURE_INTERVAL_S = 10.0
"""How often the machine is measured, as trackers do; each measurement costs a drawing."""

FIRST_MEASURE_S = 2.0
"""When the machine is measured for the first time: the processor's share is known at the next."""


class PpoTop(App[int]):
    """The screen of `ppo-top`: a thread reads the logs, this one judges, draws and takes input."""

    CSS = "MainScreen { overflow: hidden; } SearchIcon { display: none; }"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        ui: UiState,
        follower: Follower | None,
        notifier: Callable[[Callable[[str], None]], Notifier] = Notifier,
        theme: str | None = None,
        *,
        drain: PipeDrain | None = None,
        remembered: RememberedView | None = None,
    ) -> None:
        super().__init__()
        self.ui_state, self.remembered = ui, remembered
        self.palette_name = choose_theme(theme).name
        self.keeps_screen = False
        """Whether the alternate screen was entered, and drawn on, before Textual started."""
        self.machine_watch: MachineWatch | None = None
        self.actions = Actions(ui)
        self.key_repeat = KeyRepeat()
        self.quitting = Quitting(ui, follower, drain, self.exit)
        self.input_priority = InputPriority()
        self.notifier = notifier(self._write)
        self.reader = (
            ReaderThread(follower, self._post_poll_result, ui.replay is not None, ui.paths)
            if follower is not None
            else None
        )
        self.drawing = ScreenDrawing(
            ui,
            THEMES[self.palette_name],
            self.input_priority,
            self.call_after_delay,
            prepare=self._prepare_drawing,
            drawn=lambda: self.judging.provide_for_what_is_drawn(),
        )
        self.playback = Playback(ui, self.call_after_delay, self.drawing.draw)
        self.judging = JudgingLoop(
            ui,
            self.reader,
            self.notifier,
            CheckpointLister(ui, self.post_message),
            self.drawing,
            self.input_priority,
            self.call_after_delay,
        )

    # --- lifecycle --------------------------------------------------------------------------------

    def get_driver_class(self) -> type[Driver]:
        """Our driver, unless the environment asks for another (such as a web server's)."""
        driver = super().get_driver_class()
        return TerminalDriver if driver is LinuxDriver else driver

    def get_default_screen(self) -> Screen[Any]:
        """The main screen."""
        return MainScreen(self.drawing.canvas)

    def on_mount(self) -> None:
        """Start reading and checking states."""
        if self.reader is not None:
            self.reader.start()
        canvas = self.drawing.canvas
        canvas.output_paused = True
        self.call_after_refresh(canvas.resume_output)
        self.set_interval(STATE_CHECK_INTERVAL_S, self.judging.check_states)
        if self.machine_watch is not None:
            self.call_after_delay(FIRST_MEASURE_S, self._measure_machine)
            self.set_interval(MEASURE_INTERVAL_S, self._measure_machine)
        install_signal_handlers(self)
        # After a suspension the terminal shows what others left there.
        self.app_resume_signal.subscribe(self, lambda _: canvas.refresh())
        canvas.focus()

    def on_unmount(self) -> None:
        """Stop reading and restore the terminal's title."""
        self.notifier.restore_title()
        if self.reader is not None:
            self.reader.stop()
        self.ui_state.session.close()

    def call_after_delay(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back after some seconds, after the messages that are queued by then.

        Textual's one-shot timer (8.2) never fires if its thread is blocked for longer than the
        delay at the start, and the reader thread can block it that long.
        """
        return asyncio.get_running_loop().call_later(delay, self.call_next, callback)

    def prioritise_input(self) -> None:
        """A key was pressed: pause reading and judging briefly."""
        self.input_priority.record_input()
        if self.reader is not None:
            self.reader.pause_briefly()

    def _write(self, data: str) -> None:
        driver = self._driver
        if driver is not None and not self.is_headless:
            driver.write(data)

    # --- data ------------------------------------------------------------------------------------

    def _post_poll_result(self, result: PollResult) -> None:
        """Called by the reader thread."""
        self.post_message(PollArrived(result))

    def on_poll_arrived(self, message: PollArrived) -> None:
        """Judge what was read."""
        self.judging.apply(message.result)

    def on_checkpoints_listed(self, message: CheckpointsListed) -> None:
        """Show from where to resume."""
        if self.ui_state.checkpoints != message.listed:
            self.ui_state.checkpoints = message.listed
            self.drawing.draw()

    def _measure_machine(self) -> None:
        """Measure what the selected training uses, and draw it."""
        if self.machine_watch is not None and self.machine_watch.look():
            self.judging.judge_or_yield()

    def _prepare_drawing(self) -> None:
        self.judging.ask_reader()
        if self.ui_state.read_to_end and self.judging.all_judged:
            self._begin_replay()

    def _begin_replay(self) -> None:
        """Start the replay of a run that is selected for the first time."""
        ui = self.ui_state
        ui.replay_began = True
        if ui.replay is not None and ui.run is not None and not ui.cursor.replay:
            ui.start_replay()
            self.playback.start()

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
                self.drawing.clear_toast()
                self.perform_action(key.action, self.key_repeat.step_count(message.key))
        self.ui_state.toast = self.ui_state.toast or news
        self.drawing.draw_answer()

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
        if action in FASTER_WHEN_HELD:
            act(times)
        else:
            act()
        self.playback.start()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the line that is being typed."""
        if self.ui_state.line_input is not None:
            self.ui_state.line_input.set_text(self.ui_state.line_input.text + clean(event.text))
            self.drawing.draw()

    def do_quit(self) -> None:
        """Quit; a training that writes to our pipe is asked about first."""
        self.quitting.begin()

    def do_palette(self) -> None:
        """Textual's command palette, with the key table in it."""
        self.action_command_palette()

    def do_theme(self) -> None:
        """Switch to the next theme."""
        names = list(THEMES)
        self.palette_name = names[(names.index(self.palette_name) + 1) % len(names)]
        self.drawing.canvas.use_theme(THEMES[self.palette_name])
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
        self.drawing.canvas.use_theme(THEMES[self.palette_name])

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
        self.drawing.draw()

    def _command(self, action: str) -> None:
        self.perform_action(action)
        self.drawing.draw()

    # --- the mouse -------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Act on the smallest region under the mouse."""
        self._note_input()
        hit = self.drawing.region_at(event.x, event.y)
        if hit is None or not isinstance(self.screen, MainScreen):
            return
        if hit.kind == "key":
            self.perform_action(hit.target)
        else:
            self.actions.click(hit.kind, hit.target, (event.x - hit.x) / max(hit.width, 1))
        self.drawing.draw()

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
        share = self.drawing.share_of_chart(event.x, event.y)
        if share is None:
            move()
        else:
            self.actions.zoom_rows(zoom_direction, share)
        self.drawing.draw_after(0.02)
