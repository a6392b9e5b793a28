"""Keeps the view of a directory from one session to the next, in the user's state directory.

Order and folding of the list, hidden sections, pinned metrics, options of the chart, and which runs
were seen in which state; no filter and no place in time, which would hide something. Whatever goes
wrong costs only the memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ppo_top.files.mirrors import shown_path
from ppo_top.paths import lies_among, make_own_directory, state_directory
from ppo_top.tui.state.chart_options import CHART_AXES, SMOOTHINGS
from ppo_top.tui.state.run_list import RUN_ORDERS
from ppo_top.tui.state.snapshot import SECTIONS
from ppo_top.tui.state.ui_state import UiState

VIEWS_FILE = "views.json"
MAX_VIEWS = 200
"""Beyond this number the views that were used longest ago are forgotten."""

MAX_VIEWS_BYTES = 4 << 20
"""A larger file is not ours."""

MAX_PINNED = 50

UNREADABLE = (OSError, ValueError, TypeError, AttributeError, RecursionError)
"""What reading a file that somebody else wrote may raise."""


class RememberedView:
    """The view of one set of watched paths; nothing is kept if the state lies among the logs."""

    def __init__(self, paths: Sequence[Path], environ: Mapping[str, str] = os.environ) -> None:
        folder = state_directory(environ)
        self._file = folder / VIEWS_FILE if paths and not lies_among(folder, paths) else None
        self._key = "\n".join(sorted(shown_path(path.resolve()) for path in paths))
        self._restored: dict[str, Any] = {}

    def restore(self, ui: UiState) -> None:
        """Restore the view of these paths; what is not understood is left as it is."""
        with suppress(*UNREADABLE):
            _apply(self._load().get(self._key, {}), ui)
        self._restored = _view_of(ui)

    def save(self, ui: UiState) -> None:
        """Keep the view, if it has changed."""
        view = _view_of(ui)
        if self._file is None or view == self._restored:
            return
        with suppress(*UNREADABLE):
            views = {key: each for key, each in self._load().items() if key != self._key}
            kept = list({**views, self._key: view}.items())[-MAX_VIEWS:]
            make_own_directory(self._file.parent)
            fresh = self._file.with_suffix(f".{os.getpid()}.tmp")
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(dict(kept), file)
            fresh.replace(self._file)

    def _load(self) -> dict[str, Any]:
        if self._file is None or not self._file.is_file():
            return {}
        if self._file.stat().st_size > MAX_VIEWS_BYTES:
            raise ValueError
        found = json.loads(self._file.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}


def _view_of(ui: UiState) -> dict[str, Any]:
    return {
        "order": ui.run_list.order,
        "fold": ui.run_list.fold_seeds,
        "hidden": sorted(ui.hidden_sections),
        "pinned": list(ui.metrics.pinned[:MAX_PINNED]),
        "axis": ui.chart.axis,
        "log": ui.chart.log_scale,
        "smoothing": ui.chart.smoothing,
        "stacked": ui.chart.stacked,
        "seen": ui.absence.as_json(),
    }


def _apply(view: Mapping[str, Any], ui: UiState) -> None:
    """Use what is valid of a view that was read from a file."""
    if view.get("order") in RUN_ORDERS:
        ui.run_list.order = view["order"]
    if view.get("axis") in CHART_AXES:
        ui.chart.axis = view["axis"]
    if view.get("smoothing") in SMOOTHINGS:
        ui.chart.smoothing = float(view["smoothing"])
    ui.run_list.fold_seeds = view.get("fold") is not False
    ui.chart.log_scale = view.get("log") is True
    ui.chart.stacked = view.get("stacked") is True
    ui.hidden_sections = frozenset(each for each in SECTIONS if each in view.get("hidden", ()))
    pinned = view.get("pinned", ())
    ui.metrics.pinned = tuple(each for each in pinned if isinstance(each, str))[:MAX_PINNED]
    ui.absence.restore(view.get("seen", {}))
