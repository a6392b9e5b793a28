"""The app without input: a thread reads the logs; this one judges them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from ppo_top.files.follower import Follower
from ppo_top.files.update import PollResult
from ppo_top.model import Severity
from ppo_top.runs.pipeline import Pipeline
from ppo_top.text.format import clean, plural
from ppo_top.tui.app.checkpoint_lister import CheckpointLister, CheckpointsListed
from ppo_top.tui.app.drawing import KEY_RETRY_S, DrawingApp
from ppo_top.tui.app.driver import TerminalDriver
from ppo_top.tui.app.notifications import Notifier
from ppo_top.tui.app.reader_thread import ReaderThread, loading_progress
from ppo_top.tui.app.screen import MainScreen, PollArrived
from ppo_top.tui.app.signals import install_signal_handlers
from ppo_top.tui.state.absence import gone_runs, last_words
from ppo_top.tui.state.ui_state import UiState

if TYPE_CHECKING:
    from ppo_top.tui.app.machine_watch import MachineWatch

JUDGE_SLICE_S = 0.006
"""The longest slice of judging before input is handled."""

WORKER_RESULT_S = 0.02
"""How often the results of worker processes are asked for while nothing is left to do here."""

STATE_CHECK_INTERVAL_S = 5.0
"""How often run states are checked without new data, to notice a stall."""

MEASURE_INTERVAL_S = 10.0
"""How often the machine is measured, as trackers do; each measurement costs a drawing."""

FIRST_MEASURE_S = 2.0
"""When the machine is measured for the first time: the processor's share is known at the next."""

REMEMBER_PAUSE_S = 0.05
"""The pause between two slices of writing runs to the cache."""

MIN_SHOWN_BYTES = 2_000_000
"""If no more than this is left to be read, no bar appears for it."""

MANY_RUNS = 20
"""While so many runs wait for their first verdict, a bar appears however short their logs are."""

AUTO_CHOOSE_S = 3.0
"""For this long after the start the newest live run is selected automatically."""


class BaseApp(DrawingApp):
    """Applies what was read, judges it in slices and has the changes drawn."""

    CSS = "MainScreen { overflow: hidden; } SearchIcon { display: none; }"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        ui: UiState,
        follower: Follower | None,
        notifier: Callable[[Callable[[str], None]], Notifier] = Notifier,
        theme: str | None = None,
    ) -> None:
        super().__init__(ui, theme)
        self.notifier = notifier(self._write)
        once = ui.replay is not None
        self.reader = (
            ReaderThread(follower, self._post_poll_result, once, ui.paths)
            if follower is not None
            else None
        )
        self.pipeline = Pipeline(ui.session, self.reader)
        self.checkpoint_lister = CheckpointLister(ui, self.post_message)
        self.machine_watch: MachineWatch | None = None
        self.keeps_screen = False
        """Whether the alternate screen was entered, and drawn on, before Textual started."""
        self._remember_timer: asyncio.TimerHandle | None = None
        self._judge_scheduled = False
        self._needed_run_ids: list[str] = []
        self._unanswered_polls = 0  # results applied but not yet acknowledged to the reader
        self._start_time = time.monotonic()
        self._drawn_run_id = ""
        self._shown_states: list[object] = []

    # --- lifecycle --------------------------------------------------------------------------------

    def get_driver_class(self) -> type[Driver]:
        """Our driver, unless the environment asks for another (such as a web server's)."""
        driver = super().get_driver_class()
        return TerminalDriver if driver is LinuxDriver else driver

    def get_default_screen(self) -> Screen[Any]:
        """The main screen."""
        return MainScreen(self.canvas)

    def on_mount(self) -> None:
        """Start reading and checking states."""
        if self.reader is not None:
            self.reader.start()
        self.canvas.output_paused = True
        self.call_after_refresh(self.canvas.resume_output)
        self.set_interval(STATE_CHECK_INTERVAL_S, self._check_states)
        if self.machine_watch is not None:
            self.call_after_delay(FIRST_MEASURE_S, self._measure_machine)
            self.set_interval(MEASURE_INTERVAL_S, self._measure_machine)
        install_signal_handlers(self)
        # After a suspension the terminal shows what others left there.
        self.app_resume_signal.subscribe(self, lambda _: self.canvas.refresh())
        self.canvas.focus()

    def on_unmount(self) -> None:
        """Stop reading and restore the terminal's title."""
        self.notifier.restore_title()
        if self.reader is not None:
            self.reader.stop()
        self.ui_state.session.close()

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
        """Apply what was read and start judging it."""
        ui, result = self.ui_state, message.result
        self._is_reading = result.more
        before = ui.listed_runs() if result.removed else []
        ui.session.apply(result)
        if gone := gone_runs(before, ui.listed_runs() if before else []):
            what = clean(gone[0].name) if len(gone) == 1 else plural(len(gone), "run")
            ui.toast = f"Gone: {what} (all logs were deleted)"
            ui.gone = [*(last_words(listed, ui.clock()) for listed in gone), *ui.gone]
        left = result.total_bytes - result.read_bytes
        much = result.more and left > MIN_SHOWN_BYTES
        if much or ui.loading is not None or self._many_wait:
            ui.loading = loading_progress(result, ui.session.runs.values())
        if self.reader is not None:
            self._unanswered_polls += 1
            ui.reading_error = ui.reading_error or self.reader.error
        if not result.more:
            self._read_to_end = True
            if ui.replay is not None:
                ui.session.assign_pending_logs()
        self._judge_or_yield()

    @property
    def _many_wait(self) -> bool:
        """Whether many runs have no verdict yet: the counts of the header are too low till then."""
        runs = self.ui_state.session.runs.values()
        return not self.notifier_ready and sum(not run.judged for run in runs) >= MANY_RUNS

    def _judge(self) -> None:
        """Judge one slice; continue after pending input."""
        ui = self.ui_state
        needed = self._needed_run_ids = ui.needed_run_ids
        done = self.pipeline.step(None, JUDGE_SLICE_S, ui.chosen_run_id or None, needed)
        self._resume_reader()
        young = not ui.chosen_run_id or time.monotonic() - self._start_time < AUTO_CHOOSE_S
        known = ui.replay is None or (self._read_to_end and self.notifier_ready)
        settled = ui.chosen_by_user or (known and not young)
        if not settled or ui.chosen_run_id not in ui.session.runs:
            ui.choose_default_run()
        if self.reader is not None:
            self.reader.has_runs = ui.run is not None
        if done and self._read_to_end:
            self._all_judged()
        if done and not self._is_reading:
            ui.loading = None
        elif ui.loading is not None:
            ui.loading = ui.loading.with_verdicts(ui.session.runs.values())
        self._draw_after(self.draw_pace.delay if ui.chosen_run_id == self._drawn_run_id else 0.0)
        if not done:
            self._judge_in(WORKER_RESULT_S if ui.session.queue.only_waits else 0.001)

    def _judge_in(self, delay: float) -> None:
        if not self._judge_scheduled:
            self._judge_scheduled = True
            self.call_after_delay(delay, self._judge_next)

    def _judge_next(self) -> None:
        self._judge_scheduled = False
        self._judge_or_yield()

    def _resume_reader(self) -> None:
        """Let the reader go on unless too much waits to be judged."""
        queue = self.ui_state.session.queue
        while self.reader is not None and self._unanswered_polls and not queue.is_full:
            self._unanswered_polls -= 1
            self.reader.poll_handled()

    def _judge_or_yield(self) -> None:
        """Judge, unless input comes first."""
        if self.input_priority.must_yield():
            self._judge_in(KEY_RETRY_S)
        else:
            self._judge()

    def _all_judged(self) -> None:
        """Everything is judged: notify about runs that became critical."""
        ui = self.ui_state
        first = not self.notifier_ready
        for run in ui.session.runs.values():
            word = ui.verdict_of(run)
            severity = Severity[word.upper()] if word.upper() in Severity.__members__ else None
            text = self.notifier.update_severity(
                run, severity, notify=not first and ui.replay is None
            )
            if text and run.id != ui.chosen_run_id:
                ui.alerts[run.id] = text
            elif text:
                ui.toast = text
        if ui.replay is None:
            ui.mark_runs_seen(())
        self.notifier_ready = True
        self.checkpoint_lister.look()
        if first and ui.siblings.update(ui.session):
            self._draw_after(0.0)
        self.notifier.set_title(ui.title_text())
        if first:
            if not ui.absence.is_long(ui.clock()):  # else that is told until a key is pressed
                ui.note_input()
            self._remember()

    def _remember(self) -> None:
        """Keep runs at rest for the next session, a few at a time and never before input."""
        if self._remember_timer is not None:
            self._remember_timer.cancel()
            self._remember_timer = None
        busy = self.input_priority.is_input_recent
        if self.reader is not None and not busy:
            self.ui_state.session.remember_unused(self.reader.follower.unused_files())
        if busy or not self.ui_state.session.remember(JUDGE_SLICE_S):
            self._remember_timer = self.call_after_delay(REMEMBER_PAUSE_S, self._remember)

    def on_checkpoints_listed(self, message: CheckpointsListed) -> None:
        """Show from where to resume."""
        if self.ui_state.checkpoints != message.listed:
            self.ui_state.checkpoints = message.listed
            self.draw()

    def _measure_machine(self) -> None:
        """Measure what the selected training uses, and draw it."""
        if self.machine_watch is not None and self.machine_watch.look():
            self._judge_or_yield()

    def _check_states(self) -> None:
        """What the clock alone changes: a run is over, another state, an old toast, checkpoints."""
        self.checkpoint_lister.look()
        if self.ui_state.session.queue.note_silent_runs():
            self._judge_or_yield()
        if self._read_to_end and self.ui_state.siblings.update(self.ui_state.session):
            self.draw()
        if self.toast_is_old:
            self.clear_toast()
            self.draw()
        if self.notifier_ready:
            self._remember()  # another run may have come to rest
        if time.monotonic() - self._drawn_at < STATE_CHECK_INTERVAL_S:
            return  # what was drawn since the last look shows the states as they are
        view = self.ui_state.view()
        now: list[object] = [
            (view.state, view.state_text) if view is not None else None,
            *((known.id, known.state, known.verdict) for known in self.ui_state.listed_runs()),
        ]
        if now != self._shown_states:
            self._shown_states = now
            self.draw()

    def _provide_for_what_is_drawn(self) -> None:
        """Read the selected run first, and keep the points of all runs that are drawn."""
        ui = self.ui_state
        if ui.needed_run_ids != self._needed_run_ids:
            self._needed_run_ids = ui.needed_run_ids
            self.pipeline.free_memory(self._needed_run_ids)
        if ui.chosen_run_id != self._drawn_run_id:
            self._drawn_run_id = ui.chosen_run_id
            self.checkpoint_lister.look()
            if self.reader is not None and ui.run is not None:
                self.reader.focus(ui.run.sources)
