"""`--machine`: what the selected training uses is measured, drawn, and judged like a tracker's."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from ppo_top.files.machine.process_use import ProcessUse
from ppo_top.model import State
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.run import Run
from ppo_top.tui.app.machine_watch import NO_PROCESS, MachineWatch
from ppo_top.tui.state.ui_state import UiState
from tests.support.machine_logs import gpu, inbox_lines
from tests.support.screens import drawn_text, write_unhealthy_run
from tests.tui.conftest import MakeUiState


class Measured(ProcessUse):
    """Gives these values in turn."""

    def __init__(self, *values: dict[str, float] | None) -> None:
        self.values = list(values)
        self.asked: list[list[Path]] = []

    def measure(self, logs: Iterable[Path]) -> dict[str, float] | None:
        """The next values."""
        self.asked.append(list(logs))
        return self.values.pop(0)


def live(ui: UiState) -> UiState:
    """The same at the time of the test: its run still writes."""
    ui.clock = time.time
    assert ui.view().state is State.LIVE  # type: ignore[union-attr]
    return ui


def test_the_selected_training_is_measured_and_shown(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """A row of the checklist, though its log has no clock; no update is added."""
    log = write_run(tmp_path)
    ui = live(make_ui_state(tmp_path))
    updates = ui.view().progress.updates  # type: ignore[union-attr]
    use = Measured({}, {"live.cpu": 0.34, "live.memory": 0.5})
    watch = MachineWatch(ui, use)
    assert not watch.look()
    assert watch.look()
    ui.session.judge()
    page = drawn_text(ui, 140, 40)
    (row,) = (line for line in page if line.startswith(" ✓ CPU"))
    assert "34 %" in row and "memory used 50 %" in row
    assert use.asked == [[log], [log]]
    assert ui.view().progress.updates == updates  # type: ignore[union-attr]


def test_where_no_process_writes_the_log_that_is_said_once(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """It runs elsewhere: the option has nothing to measure."""
    write_run(tmp_path)
    ui = live(make_ui_state(tmp_path))
    watch = MachineWatch(ui, Measured(None, None))
    assert watch.look()
    assert ui.toast == NO_PROCESS
    ui.toast = ""
    assert not watch.look()
    assert ui.toast == ""


def test_a_run_whose_tracker_measures_is_left_to_it(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Its measurements reach back to the beginning."""
    (tmp_path / "00000000.jsonl").write_bytes(b"".join(inbox_lines(9, lambda time: gpu(50.0))))
    ui = make_ui_state(tmp_path)
    use = Measured()
    assert not MachineWatch(ui, use).look()
    assert use.asked == []


def test_a_measured_run_is_not_remembered(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """What its logs do not hold must not become the answer of `check` about them."""
    write_run(tmp_path)
    ui = live(make_ui_state(tmp_path))
    saved: list[Run] = []
    memory = SimpleNamespace(save=saved.append, flush=lambda: None)
    ui.session.memory = cast("RunMemory", memory)
    ui.session.remember(1.0)
    assert saved == [ui.run]
    saved.clear()
    watch = MachineWatch(ui, Measured({"live.cpu": 0.34}))
    assert watch.look()
    ui.session.judge()
    ui.session.remember(1.0)
    assert saved == []


def write_run(folder: Path) -> Path:
    """A log that was just written; its path."""
    path = folder / "run" / "progress.csv"
    write_unhealthy_run(path)
    return path
