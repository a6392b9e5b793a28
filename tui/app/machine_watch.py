"""Measures the machine for the run that is looked at, while its training runs here."""

from __future__ import annotations

import time

from ppo_top.catalogue.machine import LIVE_PREFIX
from ppo_top.files.machine.process_use import ProcessUse
from ppo_top.model import State
from ppo_top.runs.liveness import LOG_WRITERS
from ppo_top.tui.state.ui_state import UiState

NO_PROCESS = "--machine: no process on this machine has a log of this run open"


class MachineWatch:
    """Adds what the training of the selected run uses to that run."""

    def __init__(self, ui: UiState, use: ProcessUse | None = None) -> None:
        self._ui = ui
        self._use = ProcessUse(LOG_WRITERS) if use is None else use
        self._told: set[str] = set()

    def look(self) -> bool:
        """Measure once; True if there is something new to draw."""
        ui, run, view = self._ui, self._ui.run, self._ui.view()
        if run is None or view is None or view.state not in (State.LIVE, State.STALLED):
            return False
        sources = run.sources.values()
        if any(not tag.startswith(LIVE_PREFIX) for each in sources for tag in each.machine):
            return False  # its tracker measures, from the beginning on
        values = self._use.measure([each.source.file or each.source.path for each in sources])
        if values is None:
            is_new = run.id not in self._told
            self._told.add(run.id)
            ui.toast = NO_PROCESS if is_new else ui.toast
            return is_new
        ui.session.add_measurements(run, values, time.time())
        return bool(values)
