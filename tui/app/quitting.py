"""Quitting: what becomes of a training that writes to our pipe is asked first."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.files.follower import Follower
from ppo_top.files.pipe_drain import PipeDrain
from ppo_top.text.format import clean
from ppo_top.tui.state.line_input import KeyChoice
from ppo_top.tui.state.ui_state import UiState


class Quitting:
    """Ends the program by `leave`, which takes its exit code."""

    def __init__(
        self,
        ui: UiState,
        follower: Follower | None,
        drain: PipeDrain | None,
        leave: Callable[[int], None],
    ) -> None:
        self._ui, self._follower, self._drain, self._leave = ui, follower, drain, leave
        self.is_detached = False
        """Whether it was quit while a training went on."""

    def begin(self) -> None:
        """Quit; ask first if a training still writes to our pipe."""
        if self._drain is None or self._follower is None or not self._follower.pipe_is_open:
            self._leave(0)
            return
        tee, detach = self._drain.tee, self._detach
        goes_to = f"is written to {tee}" if tee is not None else "is discarded"
        self._ui.line_input = KeyChoice(
            "Training runs: d detach · s stop · Esc",
            {"d": detach, "q": detach, "enter": detach, "ctrl+c": detach, "s": self._stop},
            f"detached, it runs on and its output {clean(goes_to)}",
        )

    def _detach(self) -> None:
        self.is_detached = True
        self._leave(0)

    def _stop(self) -> None:
        if self._drain is not None:
            self._drain.stop()
        self._leave(0)
