"""Moves the cursor of a replay, and announces findings when they would have been detected."""

from __future__ import annotations

import time
from collections.abc import Callable

from ppo_top.model import Severity
from ppo_top.runs.run import Run
from ppo_top.tui.state.replay_time import detection_text
from ppo_top.tui.state.ui_state import UiState

MIN_FRAME_S = 1 / 15
"""The shortest time between two frames of a replay."""

NEXT_RUN_S = 4.0
"""How long the end of a run stays on the screen before the next one of a demo."""

MAX_SLEEP_S = 1.0
"""The longest sleep, so that a change of speed takes effect."""


class Playback:
    """The clock of the replay."""

    def __init__(
        self,
        ui: UiState,
        call_later: Callable[[float, Callable[[], None]], object],
        draw: Callable[[], None],
    ) -> None:
        self._ui, self._call_later, self._draw = ui, call_later, draw
        self._waiting = False
        self._last = 0.0

    def start(self) -> None:
        """Start moving the cursor if it should play and does not yet."""
        if self._ui.cursor.playing and not self._waiting:
            self._last = time.monotonic()
            self._sleep(MIN_FRAME_S)

    def _sleep(self, seconds: float) -> None:
        self._waiting = True
        self._call_later(seconds, self._tick)

    def _tick(self) -> None:
        self._waiting = False
        ui, now = self._ui, time.monotonic()
        run, cursor = ui.run, ui.cursor
        if run is None or not cursor.playing:
            return
        before = cursor.current_row(run.timeline)
        moved = cursor.advance(run.timeline, now - self._last)
        self._last = now
        if moved:
            self._announce_findings(run, before, cursor.current_row(run.timeline))
            if cursor.current_row(run.timeline) == len(run.timeline) - 1:
                self._finish()
            self._draw()
        if cursor.playing:
            wait = cursor.wait_s(run.timeline) or 0.0
            self._sleep(min(max(wait, MIN_FRAME_S), MAX_SLEEP_S))

    def _finish(self) -> None:
        """Say that it is over; in a demo the next run follows."""
        ui = self._ui
        more = ", . next run" if len(ui.session.runs) > 1 else ""
        ui.toast = f"Replay finished: Space restart{more}"
        if ui.replay is not None and ui.replay.one_by_one and ui.next_to_replay():
            played = ui.chosen_run_id
            self._call_later(NEXT_RUN_S, lambda: self._play_next(played))

    def _play_next(self, played: str) -> None:
        """Go on, unless the user has gone elsewhere."""
        ui = self._ui
        if ui.chosen_run_id == played and not ui.cursor.playing and not ui.overlay:
            ui.choose_run(ui.next_to_replay() or played)
            self._draw()

    def _announce_findings(self, run: Run, before: int, now: int) -> None:
        for finding in run.findings:
            if before < finding.opened.row <= now and finding.severity >= Severity.WARN:
                self._ui.toast = detection_text(run, finding)
