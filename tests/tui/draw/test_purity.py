"""Drawing has no side effects: the same state is drawn the same, and stays the same."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.state.comparison import MAX_GROUPS, select_compared_runs
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import write_unhealthy_run
from tests.tui.conftest import MakeUiState

CACHES = {"session", "acknowledgements", "drawing_cache", "run_list", "_view_cache", "clock"}
"""What is read only, and what only remembers results."""


def user_state(ui: UiState) -> dict[str, Any]:
    """A copy of all that the user or the app has set."""
    kept = {each.name: getattr(ui, each.name) for each in fields(UiState)}
    state = {name: deepcopy(value) for name, value in kept.items() if name not in CACHES}
    return state | {"list": (ui.run_list.filter, ui.run_list.fold_seeds, set(ui.run_list.unfolded))}


@pytest.mark.parametrize(
    "overlay", ["", "zoom", "compare", "help", "findings", "explain", "config", "console"]
)
@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15), (30, 5), (20, 2)])
@pytest.mark.parametrize("scroll", [0, 1_000])
def test_drawing_changes_nothing(
    sick: UiState, overlay: str, size: tuple[int, int], scroll: int
) -> None:
    """Whatever is shown at whatever size, scrolled beyond the end, with an unknown metric."""
    sick.overlay, sick.scroll, sick.concept = overlay, scroll, "not_a_metric"
    before = user_state(sick)
    first = draw_screen(sick, *size)
    assert user_state(sick) == before
    second = draw_screen(sick, *size)
    assert (second.lines, second.click_regions, second.scroll) == (
        first.lines,
        first.click_regions,
        first.scroll,
    )


def test_the_scroll_shown_stays_within_the_text(sick: UiState) -> None:
    """Scrolled beyond the end, the last line is at the bottom and the block's offset fits."""
    sick.overlay = "help"
    whole = draw_screen(sick, 80, 400)
    assert whole.scroll == 0
    sick.scroll = 1_000
    block = draw_screen(sick, 80, 24)
    assert block.scroll is not None and 0 < block.scroll < 400
    sick.scroll = block.scroll
    assert draw_screen(sick, 80, 24).lines == block.lines


def test_the_app_selects_the_compared_runs_before_drawing(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """As many groups as have room; drawing itself requests nothing."""
    for name in "abcdefghijkl":
        write_unhealthy_run(tmp_path / "runs" / f"run-{name}x" / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    ui.overlay = "compare"
    draw_screen(ui, 120, 40)
    assert not ui.compared_run_ids
    for rows, expected in ((12, 4), (38, MAX_GROUPS), (0, 1)):
        select_compared_runs(ui, rows)
        assert len(ui.compared_run_ids) == expected
        assert ui.compared_run_ids[0] == ui.chosen_run_id


async def test_the_app_keeps_the_scroll_that_was_shown(sick: UiState) -> None:
    """Paging down beyond the end does not have to be paged up again."""
    from ppo_top.tui.app.app import PpoTop

    app = PpoTop(sick, None)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark", *["pagedown"] * 30)
        end = sick.scroll
        await pilot.press("pageup")
        assert sick.scroll < end < 100
