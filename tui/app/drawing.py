"""The app that draws: once for however many changes, and never before input."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual.app import App

from ppo_top.files.mirrors import lost_hosts, mirror_problems
from ppo_top.files.passed_over import NO_METRICS, PassedOver, passed_over_lines
from ppo_top.support import internal_errors
from ppo_top.tui.app.canvas import Canvas
from ppo_top.tui.app.draw_pace import DrawPace
from ppo_top.tui.app.input_priority import InputPriority
from ppo_top.tui.app.nothing_found import first_reasons
from ppo_top.tui.app.reader_thread import ReaderThread
from ppo_top.tui.draw.error_box import draw_error_screen
from ppo_top.tui.draw.layout import draw_main_screen, hideable_sections
from ppo_top.tui.draw.overlays import OVERLAY_FRAME_LINES, draw_screen
from ppo_top.tui.graphics.theme import THEMES, choose_theme
from ppo_top.tui.state.comparison import select_compared_runs
from ppo_top.tui.state.playback import Playback
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.tui.state.ui_state import READING_TEXT, UiState

KEY_RETRY_S = 0.02
"""Delay before retrying work that yielded to a key."""

ANSWER_PAUSE_S = 0.1
"""Keys that come faster are answered together this often."""

TOAST_S = 6.0
"""How long a text stays in the footer."""


class DrawingApp(App[int]):
    """Draws the `UiState` on the canvas."""

    reader: ReaderThread | None
    notifier_ready = False
    """Whether everything was judged once."""

    def __init__(self, ui: UiState, theme: str | None) -> None:
        super().__init__()
        self.ui_state = ui
        self.palette_name = choose_theme(theme).name
        self.canvas = Canvas(THEMES[self.palette_name], self.draw)
        self.click_regions: list[ClickRegion] = []
        self.input_priority = InputPriority()
        self.playback = Playback(self)
        self.draw_pace = DrawPace()
        self._timer: asyncio.TimerHandle | None = None
        self._answer: asyncio.TimerHandle | None = None
        self._read_to_end = self._is_reading = self._replay_began = False
        self._drawn_toast = ""
        self._toast_since = 0.0
        self._drawn_at = 0.0

    def call_after_delay(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back after some seconds, after the messages that are queued by then.

        Textual's one-shot timer (8.2) never fires if its thread is blocked for longer than the
        delay at the start, and the reader thread can block it that long.
        """
        return asyncio.get_running_loop().call_later(delay, self.call_next, callback)

    def _draw_after(self, delay: float) -> None:
        """Draw once after a delay, however often it is requested until then."""
        if self._timer is None:
            self._timer = self.call_after_delay(delay, self._draw_or_yield)

    def draw_answer(self) -> None:
        """Draw what a key has done: at once, or once for the keys that wait already.

        One that is held down repeats faster than a large screen is drawn.
        """
        if time.monotonic() - self._drawn_at >= ANSWER_PAUSE_S:
            self.draw(allow_stale=True)
        elif self._answer is None:
            self._answer = self.call_after_delay(0.0, self._draw_answer)

    def _draw_answer(self) -> None:
        if self._answer is not None:  # nothing was drawn since
            self.draw(allow_stale=True)

    def _draw_or_yield(self) -> None:
        """Draw new data, unless input comes first."""
        self._timer = None
        if self.input_priority.is_input_recent:
            self._draw_after(KEY_RETRY_S)
        else:
            self.draw()

    def draw(self, allow_stale: bool = False) -> None:
        """Draw the current state; only changed cells are repainted.

        With `allow_stale`, the last view of a run that is still being judged may be reused.
        """
        for waiting in (self._timer, self._answer):
            if waiting is not None:
                waiting.cancel()
        self._timer = self._answer = None
        size = self.canvas.size
        if not size.width or not size.height:
            return
        if self._read_to_end and self.notifier_ready:
            self._begin_replay()
        begin = time.thread_time()
        self.ui_state.allow_stale = allow_stale
        self.ui_state.page_lines = max(1, size.height - OVERLAY_FRAME_LINES)
        self.ui_state.hideable_sections = hideable_sections(
            len(self.ui_state.session.runs), size.width, size.height
        )
        block = self._draw_screen(size.width, size.height)
        self.ui_state.allow_stale = False
        self.click_regions = block.click_regions
        self.canvas.show_lines(block.lines)
        self._drawn_at = time.monotonic()
        if self.ui_state.toast != self._drawn_toast:
            self._drawn_toast, self._toast_since = self.ui_state.toast, self._drawn_at
        self.draw_pace.record(time.thread_time() - begin, self._read_to_end)
        self._provide_for_what_is_drawn()

    def _draw_screen(self, cells: int, rows: int) -> ScreenBlock:
        try:
            if self.reader is not None:
                self._ask_reader(self.reader)
            select_compared_runs(self.ui_state, rows - OVERLAY_FRAME_LINES)
            if self._awaits_replay():
                return self._draw_before_replay(cells, rows)
            block = draw_screen(self.ui_state, cells, rows)
            if block.scroll is not None:
                self.ui_state.scroll = block.scroll
            return block
        except Exception as error:  # noqa: BLE001 (an error in drawing must not end the program)
            text = internal_errors.report_internal_error(
                f"drawing {self.ui_state.overlay or 'the main screen'}", error
            )
            return draw_error_screen(text, cells, rows)

    def _ask_reader(self, reader: ReaderThread) -> None:
        """What the reader says of itself; nothing here waits for a file system."""
        ui = self.ui_state
        ui.lost_hosts = lost_hosts()
        said = (reader.follower.watch_status, *ui.session.problems, *mirror_problems())
        ui.watching = "; ".join(filter(None, said))
        ui.why_nothing = []
        if ui.run is None and self._read_to_end:
            empty = (PassedOver(path, NO_METRICS) for path in ui.session.unassigned_paths())
            passed_over = *ui.session.passed_over, *passed_over_lines(empty)
            ui.why_nothing = first_reasons([*ui.gone, *reader.why_nothing, *passed_over])

    def _awaits_replay(self) -> bool:
        ui = self.ui_state
        return not (ui.replay is None or self._replay_began or ui.overlay or ui.reading_error)

    def _draw_before_replay(self, cells: int, rows: int) -> ScreenBlock:
        """A run that is replayed is not shown as it ended while its log is still being read."""
        ui = self.ui_state
        snap = Snapshot(
            watched_paths=ui.watched_paths,
            waiting_text=READING_TEXT,
            loading=ui.loading,
            toast=ui.toast,
            symbols=ui.symbols,
        )
        return draw_main_screen(snap, cells, rows)

    def _begin_replay(self) -> None:
        """Start the replay of a run that is selected for the first time."""
        ui, self._replay_began = self.ui_state, True
        if ui.replay is not None and ui.run is not None and not ui.cursor.replay:
            ui.start_replay()
            self.playback.start()

    def clear_toast(self) -> None:
        """Take the text in the footer away; what comes next is new, even the same text."""
        self.ui_state.toast = self._drawn_toast = ""

    @property
    def toast_is_old(self) -> bool:
        """Whether the text in the footer has been seen for a while."""
        seen = self.ui_state.toast == self._drawn_toast != ""
        return seen and time.monotonic() - self._toast_since > TOAST_S

    def _provide_for_what_is_drawn(self) -> None:
        """Called after each drawing: another run may be selected, or other runs compared."""
