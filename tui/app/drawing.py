"""Draws the screen: once for however many changes, and never before input."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ppo_top.support import internal_errors
from ppo_top.tui.app.canvas import Canvas
from ppo_top.tui.app.draw_pace import DrawPace
from ppo_top.tui.app.input_priority import InputPriority
from ppo_top.tui.draw.error_box import draw_error_screen
from ppo_top.tui.draw.layout import draw_main_screen, hideable_sections
from ppo_top.tui.draw.overlays import OVERLAY_FRAME_LINES, draw_screen
from ppo_top.tui.graphics.theme import Theme
from ppo_top.tui.state.comparison import select_compared_runs
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.tui.state.ui_state import READING_TEXT, UiState

KEY_RETRY_S = 0.02
"""Delay before retrying work that yielded to a key."""

ANSWER_PAUSE_S = 0.1
"""Keys that come faster are answered together this often."""

TOAST_S = 6.0
"""How long a text stays in the footer."""


CallLater = Callable[[float, Callable[[], None]], asyncio.TimerHandle]
"""Calls back on the app's thread after some seconds."""


class ScreenDrawing:
    """Draws the `UiState` on the canvas.

    `prepare` is called before each drawing, and an error in it is one in drawing; `drawn` after it:
    another run may be selected by then.
    """

    def __init__(
        self,
        ui: UiState,
        theme: Theme,
        input_priority: InputPriority,
        call_later: CallLater,
        prepare: Callable[[], None],
        drawn: Callable[[], None],
    ) -> None:
        self._ui = ui
        self.canvas = Canvas(theme, self.draw)
        self.click_regions: list[ClickRegion] = []
        self.drawn_at = 0.0
        """When it was drawn last, by the monotonic clock."""
        self.pace = DrawPace()
        self._input_priority = input_priority
        self._call_later = call_later
        self._prepare, self._drawn = prepare, drawn
        self._timer: asyncio.TimerHandle | None = None
        self._answer: asyncio.TimerHandle | None = None
        self._drawn_toast = ""
        self._toast_since = 0.0

    def draw_after(self, delay: float) -> None:
        """Draw once after a delay, however often it is requested until then."""
        if self._timer is None:
            self._timer = self._call_later(delay, self._draw_or_yield)

    def draw_answer(self) -> None:
        """Draw what a key has done: at once, or once for the keys that wait already.

        One that is held down repeats faster than a large screen is drawn.
        """
        if time.monotonic() - self.drawn_at >= ANSWER_PAUSE_S:
            self.draw(allow_stale=True)
        elif self._answer is None:
            self._answer = self._call_later(0.0, self._draw_answer)

    def _draw_answer(self) -> None:
        if self._answer is not None:  # nothing was drawn since
            self.draw(allow_stale=True)

    def _draw_or_yield(self) -> None:
        """Draw new data, unless input comes first."""
        self._timer = None
        if self._input_priority.is_input_recent:
            self.draw_after(KEY_RETRY_S)
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
        begin = time.thread_time()
        self._ui.allow_stale = allow_stale
        self._ui.page_lines = max(1, size.height - OVERLAY_FRAME_LINES)
        self._ui.hideable_sections = hideable_sections(
            len(self._ui.session.runs), size.width, size.height
        )
        block = self._draw_screen(size.width, size.height)
        self._ui.allow_stale = False
        self.click_regions = block.click_regions
        self.canvas.show_lines(block.lines)
        self.drawn_at = time.monotonic()
        if self._ui.toast != self._drawn_toast:
            self._drawn_toast, self._toast_since = self._ui.toast, self.drawn_at
        self.pace.record(time.thread_time() - begin, self._ui.read_to_end)
        self._drawn()

    def _draw_screen(self, cells: int, rows: int) -> ScreenBlock:
        try:
            self._prepare()
            select_compared_runs(self._ui, rows - OVERLAY_FRAME_LINES)
            if self._awaits_replay():
                return self._draw_before_replay(cells, rows)
            block = draw_screen(self._ui, cells, rows)
            if block.scroll is not None:
                self._ui.scroll = block.scroll
            return block
        except Exception as error:  # noqa: BLE001 (an error in drawing must not end the program)
            text = internal_errors.report_internal_error(
                f"drawing {self._ui.overlay or 'the main screen'}", error
            )
            return draw_error_screen(text, cells, rows)

    def _awaits_replay(self) -> bool:
        ui = self._ui
        return not (ui.replay is None or ui.replay_began or ui.overlay or ui.reading_error)

    def _draw_before_replay(self, cells: int, rows: int) -> ScreenBlock:
        """A run that is replayed is not shown as it ended while its log is still being read."""
        ui = self._ui
        snap = Snapshot(
            watched_paths=ui.watched_paths,
            waiting_text=READING_TEXT,
            loading=ui.loading,
            toast=ui.toast,
            symbols=ui.symbols,
        )
        return draw_main_screen(snap, cells, rows)

    def region_at(self, x: int, y: int) -> ClickRegion | None:
        """The smallest region around a cell."""
        found = [
            each
            for each in self.click_regions
            if each.x <= x < each.x + each.width and each.y <= y < each.y + each.height
        ]
        return min(found, key=lambda each: each.width * each.height, default=None)

    def share_of_chart(self, x: int, y: int) -> float | None:
        """Where within a chart's width a cell is; None outside of charts."""
        if self._ui.overlay:
            width = max(self.canvas.size.width, 1)
            return x / width if self._ui.overlay == "zoom" else None
        hit = self.region_at(x, y)
        is_chart = hit is not None and hit.kind == "concept" and hit.height > 1
        return (x - hit.x) / max(hit.width, 1) if hit is not None and is_chart else None

    def clear_toast(self) -> None:
        """Take the text in the footer away; what comes next is new, even the same text."""
        self._ui.toast = self._drawn_toast = ""

    @property
    def toast_is_old(self) -> bool:
        """Whether the text in the footer has been seen for a while."""
        seen = self._ui.toast == self._drawn_toast != ""
        return seen and time.monotonic() - self._toast_since > TOAST_S
