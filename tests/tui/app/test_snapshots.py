"""Pictures of the whole app at fixed sizes, with the clock frozen: what changed in looks is seen.

They are made with one version of Textual (its SVG differs from version to version) and skipped
under others. `pytest tests/tui/test_snapshots.py --snapshot-update` makes them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import textual

from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import FakeClock, read_session, reword, write_unhealthy_run

MADE_WITH = "8.2.8"

pytestmark = pytest.mark.skipif(
    textual.__version__ != MADE_WITH, reason=f"snapshots are of Textual {MADE_WITH}"
)

SnapCompare = Callable[..., bool]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PpoTop]:
    """The app over a red, a healthy and three seeded runs, all of one moment."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    clock = FakeClock()
    runs = tmp_path / "runs"
    for name, broken in (("sick", 20), ("healthy", 99), ("pole_seed1", 99), ("pole_seed2", 99)):
        log = runs / name / "progress.csv"
        write_unhealthy_run(log, broken_from=broken)
        os.utime(log, (clock.now - 10, clock.now - 10))

    def make(theme: str = "dark-paper", ascii: bool = False) -> PpoTop:
        ui = UiState(
            session=read_session([runs]),
            acknowledgements=Acknowledgements(),
            watched_paths="./runs",
            clock=clock,
        )
        for run in ui.session.runs.values():
            for finding in run.findings:
                reword(finding)
        ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == "sick"))
        ui.chosen_by_user = True
        if ascii:
            ui.symbols = ASCII_SYMBOLS
        return PpoTop(ui, None, theme=theme)

    return make


async def drawn(pilot: object) -> None:
    """Draw once the size is known."""
    pilot.app.drawing.draw()  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [(140, 40), (100, 30), (80, 24), (60, 20), (40, 15), (80, 4)])
def test_main_screen(
    snap_compare: SnapCompare, app: Callable[..., PpoTop], size: tuple[int, int]
) -> None:
    """The main screen from the usual size down to the status line."""
    assert snap_compare(app(), terminal_size=size, run_before=drawn)


@pytest.mark.parametrize(
    "keys",
    [
        ("enter",),
        ("c",),
        ("f",),
        ("question_mark",),
        ("home", "n"),
        ("tab",),
        ("slash", "p"),
    ],
    ids=lambda keys: "-".join(keys),
)
def test_layers(
    snap_compare: SnapCompare, app: Callable[..., PpoTop], keys: tuple[str, ...]
) -> None:
    """Chart, comparison, findings, help, the past, the list of runs and the filter."""

    async def press(pilot: object) -> None:
        await drawn(pilot)
        await pilot.press(*keys)  # type: ignore[attr-defined]
        await drawn(pilot)

    assert snap_compare(app(), terminal_size=(120, 34), run_before=press)


@pytest.mark.parametrize("theme", ["light-paper", "16"])
def test_themes(snap_compare: SnapCompare, app: Callable[..., PpoTop], theme: str) -> None:
    """On light paper, and in the sixteen colours of an old terminal."""
    assert snap_compare(app(theme), terminal_size=(100, 30), run_before=drawn)


def test_ascii_screen(snap_compare: SnapCompare, app: Callable[..., PpoTop]) -> None:
    """Without any character beyond ASCII."""
    assert snap_compare(app("none", ascii=True), terminal_size=(80, 24), run_before=drawn)
