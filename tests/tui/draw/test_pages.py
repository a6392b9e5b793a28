"""The main screen of six runs at seven sizes, as text: what changed in its layout is seen.

`PPO_TOP_WRITE_PAGES=1 pytest tests/tui/draw/test_pages.py` writes the pages anew; look at them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from ppo_top.tui import Replay
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text, width
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import (
    FakeClock,
    reword,
    write_failed_console,
    write_unhealthy_run,
)
from tests.tui.conftest import MakeUiState

SIZES = ((200, 60), (140, 40), (100, 30), (80, 24), (60, 20), (40, 15), (30, 8))
PAGES = Path(__file__).with_name("pages")


@pytest.fixture(autouse=True)
def universal_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time of the last write is shown as a clock's."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def write_healthy(folder: Path) -> None:
    """Forty good updates."""
    write_unhealthy_run(folder / "healthy" / "progress.csv", broken_from=99)


def write_sick(folder: Path) -> None:
    """Updates become far too large in the middle."""
    write_unhealthy_run(folder / "sick" / "progress.csv")


def write_dead(folder: Path) -> None:
    """A traceback ends the console."""
    write_failed_console(folder / "dead" / "train.log")


def write_started(folder: Path) -> None:
    """Two updates so far."""
    write_unhealthy_run(folder / "started" / "progress.csv", updates=2)


def write_many(folder: Path) -> None:
    """42 runs, every sixth of them in trouble."""
    tasks = ("acrobot", "cartpole", "cheetah", "hopper", "lander", "pendulum", "walker")
    changes = ("as-is", "deep-net", "high-lr", "long-rollouts", "low-lr", "wide-net")
    for number, (task, change) in enumerate(product(tasks, changes)):
        name = f"{task}-{change}"
        broken = 10 + number // 6 if number % 6 == 0 else 99
        write_unhealthy_run(folder / name / "progress.csv", 20 + number % 3, broken, 20 + number)


STATES: dict[str, Callable[[Path], None]] = {
    "healthy": write_healthy,
    "sick": write_sick,
    "dead": write_dead,
    "paused": write_sick,
    "started": write_started,
    "list": write_many,
}


@pytest.fixture
def make_state(tmp_path: Path, make_ui_state: MakeUiState) -> Callable[[str], UiState]:
    """The screen over one of `STATES`, ten seconds after its last write."""

    def make(state: str) -> UiState:
        STATES[state](tmp_path / "runs")
        now = FakeClock().now
        for log in (tmp_path / "runs").rglob("*.*"):
            os.utime(log, (now - 10, now - 10))
        ui = make_ui_state(tmp_path / "runs")
        ui.watched_paths = "./runs"
        for run in ui.session.runs.values():
            for finding in run.findings:
                reword(finding)
        ui.invalidate()
        if state == "paused":
            ui.replay = Replay(start="75%", paused=True)
            ui.start_replay()
        if state == "list":
            ui.focus = "runs"
        return ui

    return make


@pytest.mark.parametrize("state", STATES)
def test_pages(make_state: Callable[[str], UiState], state: str) -> None:
    """Each line is as wide as the screen, and as it was."""
    ui = make_state(state)
    pages = []
    for cells, rows in SIZES:
        lines = draw_screen(ui, cells, rows).lines
        assert [width(row) for row in lines] == [cells] * rows
        pages += [f"=== {cells}x{rows}", *(plain_text(row).rstrip() for row in lines)]
    text = "\n".join(pages) + "\n"
    kept = PAGES / f"{state}.txt"
    if os.environ.get("PPO_TOP_WRITE_PAGES"):
        kept.write_text(text, encoding="utf-8")
    assert text.splitlines() == kept.read_text(encoding="utf-8").splitlines()
