"""Curves zoomed to some rows: the same rows in all of them, with what was true there."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.text.format import compact
from ppo_top.tui.draw.charts.curve_columns import curve_columns
from ppo_top.tui.state.chart_options import MIN_ROWS_SHOWN, ChartOptions, RowWindow
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.downsample import MinMaxPyramid, bucket_extents, window_extents
from tests.support.screens import DEMO_LOGS, drawn_text
from tests.tui.conftest import MakeUiState


@pytest.fixture
def zoomed(make_ui_state: MakeUiState) -> UiState:
    """A run of 40 rows of which those from 20 to 29 are shown."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole_lr3e-2")
    ui.chart.rows_shown, ui.chart.last_shown = 10, 29
    return ui


def test_each_curve_holds_the_values_and_colours_of_these_rows(zoomed: UiState) -> None:
    """One column a row: the same as those rows of the whole curve."""
    snap = take_snapshot(zoomed)
    whole = take_snapshot(zoomed)
    whole.window = None
    assert snap.view is not None and snap.window == RowWindow(20, 29)
    for track in snap.view.tracks:
        shown = curve_columns(snap, snap.view, track, 10)
        every = curve_columns(whole, snap.view, track, 40)
        assert shown.extents == every.extents[20:30], track.label
        assert shown.styles == every.styles[20:30], track.label


def test_all_step_axes_tell_of_the_same_rows(zoomed: UiState) -> None:
    """Over the sparklines, below the panels, below the chart: no tick lies outside of them."""
    view = zoomed.view()
    assert view is not None
    first, last = view.timeline.steps[20], view.timeline.steps[29]
    for overlay in ("", "zoom"):
        zoomed.overlay = overlay
        lines = drawn_text(zoomed, 140, 40)
        axes = [row for row in lines if re.fullmatch(r"[ ]+([\d.]+k[ ─]+)+", row.split("──  ")[-1])]
        ticks = re.findall(r"([\d.]+)k", " ".join(axes))
        assert ticks
        assert all(first <= 1000 * float(tick) <= last for tick in ticks)
    zoomed.overlay = ""
    said = f"Charts, step {compact(first)} to {compact(last)}"
    assert any(said in row for row in drawn_text(zoomed, 140, 40))


@given(st.data())
def test_a_window_keeps_its_centre_and_its_bounds(data: st.DataObject) -> None:
    """However one zooms, the rows are those of the run, and the centre stays among them."""
    newest = data.draw(st.integers(0, 500))
    options = ChartOptions()
    for direction in data.draw(st.lists(st.sampled_from((1, -1)), max_size=12)):
        first, last = options.window(newest) or (0, newest)
        centre = data.draw(st.integers(first, last))
        options.zoom_rows(direction, centre, newest)
        window = options.window(newest) or RowWindow(0, newest)
        assert 0 <= window.first <= centre <= window.last <= newest
        assert window.last - window.first + 1 >= min(MIN_ROWS_SHOWN, newest + 1)


def test_zooming_at_the_newest_row_stays_there_while_the_run_grows() -> None:
    """Elsewhere the rows shown stay the same."""
    options = ChartOptions()
    options.zoom_rows(1, 99, 99)
    assert (options.window(99), options.window(120)) == ((50, 99), (71, 120))
    options.zoom_rows(1, 80, 120)
    assert options.window(120) == options.window(200)


@given(
    st.lists(st.floats(-9, 9), min_size=1, max_size=80),
    st.integers(0, 79),
    st.integers(0, 79),
    st.integers(1, 90),
)
def test_the_extents_of_a_window_lose_no_value(
    values: list[float], first: int, last: int, cells: int
) -> None:
    """Highest and lowest of all columns are those of the rows; the whole run is no special case."""
    last = min(last, len(values) - 1)
    first = min(first, last)
    size = (last - first + 1) / cells
    pyramid, rows = MinMaxPyramid(values), range(len(values))
    found = window_extents(pyramid, rows, first, last, size)
    assert len(found) == cells
    shown = values[first : last + 1]
    highs = {each.high for each in found}
    assert highs <= set(shown)
    assert max(shown) in highs
    if first == 0:
        assert found == bucket_extents(pyramid, rows, last, size)
