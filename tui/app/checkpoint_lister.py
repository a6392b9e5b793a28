"""Lists checkpoints in a thread: a network disk may take long, or never answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from textual.message import Message

from ppo_top.files.checkpoints import list_checkpoints
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.listed_checkpoints import ListedCheckpoints, search_for
from ppo_top.views.restart import CheckpointSearch

LOOK_INTERVAL_S = 5.0
"""The shortest time between two listings for one run."""


class CheckpointsListed(Message):
    """The checkpoints of a run were listed."""

    def __init__(self, listed: ListedCheckpoints) -> None:
        super().__init__()
        self.listed = listed


class CheckpointLister:
    """Lists the checkpoints of the selected run; while it waits for the disk it asks no more."""

    def __init__(
        self,
        ui: UiState,
        post: Callable[[Message], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ui, self._post, self._clock = ui, post, clock
        self.thread: threading.Thread | None = None
        self._looked_at = 0.0
        self._about: tuple[object, ...] = ()
        """What was looked for last: where there is nothing new, asking costs nothing."""

    def look(self) -> None:
        """List them if advice on the selected run is to go back to one."""
        run, now = self._ui.run, self._clock()
        if run is None or (self.thread is not None and self.thread.is_alive()):
            return
        found = [(finding.rule, finding.since, finding.cleared) for finding in run.findings]
        about = (run.id, self._ui.cursor.row, found)
        if about == self._about and now - self._looked_at < LOOK_INTERVAL_S:
            return
        self._about, self._looked_at = about, now
        view = self._ui.view()
        search = search_for(self._ui.session, run, view) if view is not None else None
        if search is not None and search.fault:
            self.thread = threading.Thread(
                target=self._list, args=(run.id, search), name="ppo-top-checkpoints", daemon=True
            )
            self.thread.start()

    def _list(self, run_id: str, search: CheckpointSearch) -> None:
        found = list_checkpoints(search.folders, search.pattern)
        self._post(CheckpointsListed(ListedCheckpoints(run_id, found)))
