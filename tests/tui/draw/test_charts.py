"""Charts: axes, limits, smoothing, thinning, comparison."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Mark
from ppo_top.runs.timeline import Track
from ppo_top.tui.draw.compare_chart import value_at
from ppo_top.tui.draw.zoom_chart import smoothed
from ppo_top.tui.graphics.axis_plot import (
    Chart,
    Curve,
    axis_range,
    draw_chart,
    parse_ansi,
    points_to_draw,
    ticks,
)
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, drawn_text, write_unhealthy_run
from tests.tui.conftest import MakeUiState


def track(values: list[float]) -> Track:
    """A track with a value a row."""
    made = Track("approx_kl", "tag", "source")
    for row, value in enumerate(values):
        made.append(Mark(row, 1000 * row, math.nan), value)
    return made


@pytest.mark.parametrize(
    ("low", "high", "most", "wanted"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (0, 0.03, 3, [0, 0.01, 0.02, 0.03]),
        (5, 5, 4, [5]),
        (-1, 1, 4, [-1, -0.5, 0, 0.5, 1]),
        (-13, 456, 2, [0, 200, 400]),
        (101, 199, 2, [120, 140, 160, 180]),
    ],
)
def test_ticks_are_round(low: float, high: float, most: int, wanted: list[float]) -> None:
    """Axes are labelled at 1, 2 or 5 times a power of ten."""
    assert ticks(low, high, most) == pytest.approx(wanted)


@given(st.lists(st.floats(allow_nan=True), max_size=20))
def test_an_axis_holds_all_finite_values(values: list[float]) -> None:
    """The ends are finite and around what is to be drawn."""
    values = [each if abs(each) < 1e100 else math.nan for each in values]
    low, high = axis_range(values)
    assert low < high
    assert all(low <= each <= high for each in values if math.isfinite(each))


def test_colours_come_back_as_styles() -> None:
    """Our colour codes get our styles; plotext's own (the frame) are dim."""
    rows = parse_ansi("\x1b[38;5;3mab\x1b[0m|\x1b[38;5;9mc\x1b[0m", {3: "curve"})
    assert rows == [(("ab", "curve"), ("|", "dim"), ("c", "dim"))]


def test_a_chart_is_as_large_as_asked() -> None:
    """Lines and cells as asked, larger than any terminal that runs the tests."""
    chart = Chart([Curve([0, 1, 2], [0, 5, 1])], horizontal_lines=[(3.0, "ok")])
    rows = draw_chart(chart, 150, 50)
    assert len(rows) == 50
    assert {len(plain_text(row)) for row in rows} == {150}
    assert any(style == "curve" for row in rows for _, style in row)


def test_smoothing_begins_at_the_first_value_and_passes_nan_over() -> None:
    """The mean is corrected for its start, and one NaN does not spoil the rest."""
    assert smoothed([4.0, 4.0], 0.9) == pytest.approx([4.0, 4.0])
    means = smoothed([1.0, math.nan, 3.0], 0.5)
    assert means[1] == 1.0
    assert 1 < means[2] < 3


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=2000), st.integers(4, 200))
def test_thinning_keeps_extremes_and_the_last_point(values: list[float], columns: int) -> None:
    """However many points, the highest, the lowest and the newest are drawn."""
    kept = [values[at] for at in points_to_draw(track(values), len(values), columns)]
    assert max(kept) == max(values)
    assert min(kept) == min(values)
    assert kept[-1] == values[-1]
    assert len(kept) <= 3 * columns + 3


def test_the_value_at_a_step_is_the_last_finite_one() -> None:
    """Between two points it is that of the earlier one; before the first there is none."""
    made = track([1.0, math.nan, 3.0])
    assert value_at(made, made.steps, 1500) == 1.0
    assert value_at(made, made.steps, 2000) == 3.0
    assert math.isnan(value_at(made, made.steps, -1))
    assert value_at(made, made.steps, 2000, seen=2) == 1.0


def test_the_zoomed_chart_is_complete(sick: UiState) -> None:
    """Label, newest and best value, range, exact value under the cursor, axes."""
    sick.overlay, sick.concept = "zoom", "approx_kl"
    shown = "\n".join(drawn_text(sick, 100, 30))
    for words in (
        "approx KL",
        "healthy",
        "at step 81,920",
        "approx KL = 0.2",
        "40k",
        "smoothing off",
    ):
        assert words in shown
    sick.chart.cursor_row = 4
    assert "at step 10,240" in "\n".join(drawn_text(sick, 100, 30))


def test_against_time_and_on_a_logarithmic_scale(sick: UiState) -> None:
    """Without a clock time falls back to updates; on the log scale labels stay values."""
    sick.overlay, sick.concept = "zoom", "approx_kl"
    sick.chart.log_scale = True
    shown = "\n".join(drawn_text(sick, 100, 30))
    assert "log on" in shown and "0.1" in shown
    sick.chart.axis = "time"
    assert drawn_text(sick, 100, 30)


def test_stacked_charts_share_their_cursor(sick: UiState) -> None:
    """Two values of a group, one above the other."""
    sick.overlay, sick.concept, sick.chart.stacked = "zoom", "approx_kl", True
    shown = "\n".join(drawn_text(sick, 100, 40))
    assert "approx KL = " in shown and "clip fraction = " in shown


def test_seeds_are_compared_at_the_same_step(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """An unhealthy seed next to two healthy ones: their mean, and its distance from them."""
    for name, broken in (("pole_seed1", 99), ("pole_seed2", 20), ("pole_seed3", 98)):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", broken_from=broken)
    ui = make_ui_state(tmp_path / "runs")
    ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == "pole_seed2"))
    ui.overlay, ui.concept = "compare", "reward_mean"
    shown = "\n".join(drawn_text(ui, 110, 30))
    assert "2 other seeds 180" in shown
    assert "pole (3 seeds)" in shown


@pytest.mark.parametrize(("axis", "last"), [("step", "80k"), ("update", "40"), ("time", "10 s")])
def test_runs_are_compared_by_step_update_or_time(
    tmp_path: Path, make_ui_state: MakeUiState, axis: str, last: str
) -> None:
    """The x axis of the comparison is that of the chart; seconds count from each run's start."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole", DEMO_LOGS / "torch_cartpole_lr")
    if axis != "time":
        for name in ("one", "two"):
            write_unhealthy_run(tmp_path / "sheets" / name / "progress.csv")
        ui = make_ui_state(tmp_path / "sheets")
    ui.overlay, ui.concept, ui.chart.axis = "compare", "reward_mean", axis
    shown = "\n".join(drawn_text(ui, 110, 30))
    assert f"of 2 runs by {axis}" in shown
    assert last in shown


def test_only_runs_of_one_kind_are_compared(make_ui_state: MakeUiState) -> None:
    """A language model's reward of 1 is not laid over a CartPole's of 500."""
    ui = make_ui_state(DEMO_LOGS)
    ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == "trl_grpo"))
    ui.overlay, ui.concept = "compare", "reward_mean"
    shown = "\n".join(drawn_text(ui, 110, 40))
    assert "reward of 3 runs by step" in shown
    assert "trl_grpo_constant" in shown and "cartpole" not in shown


def test_more_runs_than_colours_are_counted(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """The chosen run and the worst are drawn; the number of hidden runs is shown, with a hint."""
    names = [f"run-{letter}x" for letter in "abcdefghijkl"]
    for name in names:
        write_unhealthy_run(
            tmp_path / "runs" / name / "progress.csv", broken_from=20 if "k" in name else 99
        )
    ui = make_ui_state(tmp_path / "runs")
    chosen = next(run for run in ui.session.runs.values() if run.name == "run-lx")
    ui.choose_run(chosen.id)
    ui.overlay, ui.concept = "compare", "reward_mean"
    lines = drawn_text(ui, 110, 40)
    assert "8 of 12 runs by step · / filter" in "\n".join(lines)
    legend = [row.split()[1] for row in lines if "━━" in row and "last" in row]
    assert legend[:2] == ["run-lx", "run-kx"]
    assert len(legend) == 8


def test_a_legend_explains_the_vertical_lines_of_a_zoomed_chart(sick: UiState) -> None:
    """The legend explains the line of a finding; without findings there is no legend."""
    sick.overlay, sick.concept = "zoom", "approx_kl"
    assert "│ finding detected" in drawn_text(sick, 120, 34)[-2]
    sick.cursor.row = 10
    assert "finding detected" not in drawn_text(sick, 120, 34)[-2]
