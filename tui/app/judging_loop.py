"""Judges what a thread reads, in slices between inputs, and remembers what was judged."""

from __future__ import annotations

import asyncio
import time

from ppo_top.files.mirrors import lost_hosts, mirror_problems
from ppo_top.files.passed_over import NO_METRICS, PassedOver, passed_over_lines
from ppo_top.files.update import PollResult
from ppo_top.runs.pipeline import Pipeline
from ppo_top.text.format import clean, plural
from ppo_top.tui.app.checkpoint_lister import CheckpointLister
from ppo_top.tui.app.drawing import KEY_RETRY_S, CallLater, ScreenDrawing
from ppo_top.tui.app.input_priority import InputPriority
from ppo_top.tui.app.nothing_found import first_reasons
from ppo_top.tui.app.notifications import Notifier
from ppo_top.tui.app.reader_thread import ReaderThread, loading_progress
from ppo_top.tui.state.absence import gone_runs, last_words
from ppo_top.tui.state.ui_state import UiState

JUDGE_SLICE_S = 0.006
"""The longest slice of judging before input is handled."""

WORKER_RESULT_S = 0.02
"""How often the results of worker processes are asked for while nothing is left to do here."""

STATE_CHECK_INTERVAL_S = 5.0
"""How often run states are checked without new data, to notice a stall."""

REMEMBER_PAUSE_S = 0.05
"""The pause between two slices of writing runs to the cache."""

MIN_SHOWN_BYTES = 2_000_000
"""If no more than this is left to be read, no bar appears for it."""

MANY_RUNS = 20
"""While so many runs wait for their first verdict, a bar appears however short their logs are."""

AUTO_CHOOSE_S = 3.0
"""For this long after the start the worst run is selected anew as more of them is read."""


class JudgingLoop:
    """Applies what the reader thread sends, judges it and has the changes drawn."""

    def __init__(
        self,
        ui: UiState,
        reader: ReaderThread | None,
        notifier: Notifier,
        checkpoint_lister: CheckpointLister,
        drawing: ScreenDrawing,
        input_priority: InputPriority,
        call_later: CallLater,
    ) -> None:
        self._ui, self._reader = ui, reader
        self._notifier, self._checkpoint_lister = notifier, checkpoint_lister
        self._drawing, self._input_priority, self._call_later = drawing, input_priority, call_later
        self.pipeline = Pipeline(ui.session, reader)
        self.all_judged = False
        """Whether everything was judged once."""
        self._is_reading = False
        self._remember_timer: asyncio.TimerHandle | None = None
        self._judge_scheduled = False
        self._needed_run_ids: list[str] = []
        self._unanswered_polls = 0  # results applied but not yet acknowledged to the reader
        self._start_time = time.monotonic()
        self._drawn_run_id = ""
        self._shown_states: list[object] = []
        self._told_unread = False

    def apply(self, result: PollResult) -> None:
        """Apply what was read and start judging it."""
        ui = self._ui
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
        if self._reader is not None:
            self._unanswered_polls += 1
            ui.reading_error = ui.reading_error or self._reader.error
        if not result.more:
            ui.read_to_end = True
            if ui.replay is not None:
                ui.session.assign_pending_logs()
        self.judge_or_yield()

    @property
    def _many_wait(self) -> bool:
        """Whether many runs have no verdict yet: the counts of the header are too low till then."""
        runs = self._ui.session.runs.values()
        return not self.all_judged and sum(not run.judged for run in runs) >= MANY_RUNS

    def _judge(self) -> None:
        """Judge one slice; continue after pending input."""
        ui = self._ui
        needed = self._needed_run_ids = ui.needed_run_ids
        done = self.pipeline.step(None, JUDGE_SLICE_S, ui.chosen_run_id or None, needed)
        self._resume_reader()
        young = not ui.chosen_run_id or time.monotonic() - self._start_time < AUTO_CHOOSE_S
        known = ui.replay is None or (ui.read_to_end and self.all_judged)
        settled = ui.chosen_by_user or (known and not young)
        if not settled or ui.chosen_run_id not in ui.session.runs:
            ui.choose_default_run()
        if self._reader is not None:
            self._reader.has_runs = ui.run is not None
        if done and ui.read_to_end:
            self._note_all_judged()
        if done and not self._is_reading:
            ui.loading = None
        elif ui.loading is not None:
            ui.loading = ui.loading.with_verdicts(ui.session.runs.values())
        is_drawn = ui.chosen_run_id == self._drawn_run_id
        self._drawing.draw_after(self._drawing.pace.delay if is_drawn else 0.0)
        if not done:
            self._judge_in(WORKER_RESULT_S if ui.session.queue.only_waits else 0.001)

    def _judge_in(self, delay: float) -> None:
        if not self._judge_scheduled:
            self._judge_scheduled = True
            self._call_later(delay, self._judge_next)

    def _judge_next(self) -> None:
        self._judge_scheduled = False
        self.judge_or_yield()

    def _resume_reader(self) -> None:
        """Let the reader go on unless too much waits to be judged."""
        queue = self._ui.session.queue
        while self._reader is not None and self._unanswered_polls and not queue.is_full:
            self._unanswered_polls -= 1
            self._reader.poll_handled()

    def judge_or_yield(self) -> None:
        """Judge, unless input comes first."""
        if self._input_priority.must_yield():
            self._judge_in(KEY_RETRY_S)
        else:
            self._judge()

    def _note_all_judged(self) -> None:
        """Everything is judged: notify about runs that became critical."""
        ui = self._ui
        first = not self.all_judged
        for run in ui.listed_runs():
            text = self._notifier.note_verdict(run, notify=not first and ui.replay is None)
            if text and run.id != ui.chosen_run_id:
                ui.alerts[run.id] = text
            elif text:
                ui.toast = text
        if ui.replay is None:
            ui.mark_runs_seen(())
        self.all_judged = True
        self._checkpoint_lister.look()
        if first and ui.siblings.update(ui.session):
            self._drawing.draw_after(0.0)
        self._notifier.set_title(ui.title_text())
        if first:
            if not ui.absence.is_long(ui.clock()):  # else that is told until a key is pressed
                ui.note_input()
            self._remember()

    def _remember(self) -> None:
        """Keep runs at rest for the next session, a few at a time and never before input."""
        if self._remember_timer is not None:
            self._remember_timer.cancel()
            self._remember_timer = None
        busy = self._input_priority.is_input_recent
        if self._reader is not None and not busy:
            self._ui.session.remember_unused(self._reader.follower.unused_files())
        if busy or not self._ui.session.remember(JUDGE_SLICE_S):
            self._remember_timer = self._call_later(REMEMBER_PAUSE_S, self._remember)

    def check_states(self) -> None:
        """What the clock alone changes: a run is over, another state, an old toast, checkpoints."""
        ui = self._ui
        self._checkpoint_lister.look()
        if ui.session.queue.note_silent_runs():
            self.judge_or_yield()
        if ui.read_to_end and ui.siblings.update(ui.session):
            self._drawing.draw()
        if self._drawing.toast_is_old:
            self._drawing.clear_toast()
            self._drawing.draw()
        if self.all_judged:
            self._remember()  # another run may have come to rest
        if time.monotonic() - self._drawing.drawn_at < STATE_CHECK_INTERVAL_S:
            return  # what was drawn since the last look shows the states as they are
        view = ui.view()
        now: list[object] = [
            (view.state, view.state_text) if view is not None else None,
            *((known.id, known.state, known.verdict) for known in ui.listed_runs()),
        ]
        if now != self._shown_states:
            self._shown_states = now
            self._drawing.draw()

    def ask_reader(self) -> None:
        """What the reader says of itself; nothing here waits for a file system."""
        ui, reader = self._ui, self._reader
        if reader is None:
            return
        ui.lost_hosts = lost_hosts()
        ui.unread = reader.unread
        if ui.unread and ui.run is not None and not (self._told_unread or ui.toast):
            self._told_unread = True
            ui.toast = f"Not judged: {ui.unread[0]} (? lists what is not read)"
        said = (reader.follower.watch_status, *ui.session.problems, *mirror_problems())
        ui.watching = "; ".join(filter(None, said))
        ui.why_nothing = []
        if ui.run is None and ui.read_to_end:
            empty = (PassedOver(path, NO_METRICS) for path in ui.session.unassigned_paths())
            passed_over = *ui.session.passed_over, *passed_over_lines(empty)
            ui.why_nothing = first_reasons([*ui.gone, *reader.why_nothing, *passed_over])

    def provide_for_what_is_drawn(self) -> None:
        """Read the selected run first, and keep the points of all runs that are drawn."""
        ui = self._ui
        if ui.needed_run_ids != self._needed_run_ids:
            self._needed_run_ids = ui.needed_run_ids
            self.pipeline.free_memory(self._needed_run_ids)
        if ui.chosen_run_id != self._drawn_run_id:
            self._drawn_run_id = ui.chosen_run_id
            self._checkpoint_lister.look()
            if self._reader is not None and ui.run is not None:
                self._reader.focus(ui.run.sources)
