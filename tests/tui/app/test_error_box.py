"""An error in drawing is shown and logged, and the program goes on."""

from __future__ import annotations

from typing import Any

import pytest

from ppo_top.support import internal_errors
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.draw import layout, overlays
from ppo_top.tui.draw.charts import panels
from ppo_top.tui.graphics.styled_text import StyledLine
from ppo_top.tui.state.snapshot import ScreenBlock, Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import PanelTrack, RunView
from tests.support.running_app import screen


async def test_a_layer_that_cannot_be_drawn_is_left_with_escape(
    sick: UiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen names the part that failed and the error log; Esc leads back to the run."""

    def broken(_ui: UiState, _snapshot: Snapshot, _cells: int) -> list[StyledLine]:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])
    monkeypatch.setitem(overlays.TEXT_OVERLAYS, "config", broken)
    app = PpoTop(sick, None)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("6")
        shown = " ".join(screen(app).split())
        assert "drawing config failed: ZeroDivisionError('by nothing')" in shown
        await pilot.press("escape")
        assert "approx KL" in screen(app)
    kept = sick.acknowledgements.path
    assert kept is not None
    noted = (kept.parent / internal_errors.ERROR_LOG_NAME).read_text()
    assert noted.count("Traceback") == 1, "once, however often it was drawn"
    assert "ZeroDivisionError: by nothing" in noted


@pytest.mark.parametrize("part", ["draw_verdict", "draw_checklist", "draw_timeline", "draw_panels"])
async def test_a_part_that_cannot_be_drawn_takes_no_other_along(
    sick: UiState, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """An error is shown in its place; the other parts and the keys work as always."""

    def broken(*_: object) -> ScreenBlock:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])
    monkeypatch.setattr(layout, part, broken)
    app = PpoTop(sick, None)
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.pause()
        shown = screen(app)
        assert shown.count("ZeroDivisionError") == 1
        marks = {"draw_verdict": "✗ ", "draw_checklist": "Crucial values", "draw_panels": "Charts"}
        assert all(mark in shown for name, mark in marks.items() if name != part)
        await pilot.press("6")
        assert "Sources in" in screen(app)


async def test_a_curve_that_cannot_be_drawn_takes_no_other_along(
    sick: UiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One panel of many."""
    whole = panels._panel

    def broken(
        snapshot: Snapshot, view: RunView, track: PanelTrack, *rest: Any
    ) -> list[StyledLine]:
        if track.track.concept == "reward_mean":
            raise ZeroDivisionError("by nothing")
        return whole(snapshot, view, track, *rest)

    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])
    monkeypatch.setattr(panels, "_panel", broken)
    app = PpoTop(sick, None)
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.pause()
        shown = screen(app)
    assert shown.count("drawing the chart") == 1
    below = shown[shown.index("Charts") :]
    assert "KL" in below
