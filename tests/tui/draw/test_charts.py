"""Charts: axes, limits, smoothing, thinning, comparison."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Mark
from ppo_top.runs.rows.track import Track
from ppo_top.text.format import tick_time
from ppo_top.tui.draw.charts.compare_chart import value_at
from ppo_top.tui.draw.charts.metric_chart import smoothed
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.axis_plot import (
    Chart,
    Curve,
    axis_range,
    connected_curves,
    count_ticks,
    draw_chart,
    log_ticks,
    parse_ansi,
    points_to_draw,
    ticks,
    time_ticks,
)
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, PROGRESS_CSV_HEADER, drawn_text, write_unhealthy_run
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


@pytest.mark.parametrize(
    ("high", "wanted"),
    [
        (0.4, ["0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s"]),
        (70, ["0 s", "15 s", "30 s", "45 s", "60 s"]),
        (150, ["0 s", "30 s", "60 s", "90 s", "2 min", "2 min 30 s"]),
        (248, ["0 s", "60 s", "2 min", "3 min", "4 min"]),
        (4 * 3600, ["0 s", "1 h", "2 h", "3 h", "4 h"]),
        (10 * 86400, ["0 s", "2 d", "4 d", "6 d", "8 d", "10 d"]),
    ],
)
def test_ticks_of_time_are_those_of_a_clock(high: float, wanted: list[str]) -> None:
    """Each is where its label says: no tick at 100 or 150 s is called 2 min."""
    assert [tick_time(each) for each in time_ticks(0.0, high, 5)] == wanted


@pytest.mark.parametrize(
    ("low", "high", "most", "wanted"),
    [
        (0.3, 280, 9, [0.5, 1, 2, 5, 10, 20, 50, 100, 200]),
        (0.3, 280, 4, [1, 10, 100]),
        (1e-8, 1e8, 4, [1e-8, 1e-3, 1e2, 1e7]),
        (61, 79, 4, [65, 70, 75]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_round(
    low: float, high: float, most: int, wanted: list[float]
) -> None:
    """1, 2 and 5 times powers of ten, or powers of ten; round numbers within one decade."""
    marks = log_ticks(math.log10(low), math.log10(high), most)
    assert [10**mark for mark in marks] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(1, 3, [1, 2, 3]), (0.9, 1.1, [1]), (2.7, 5.3, [3, 4, 5]), (0, 50, [0, 10, 20, 30, 40, 50])],
)
def test_ticks_of_a_count_are_whole_numbers(low: float, high: float, wanted: list[float]) -> None:
    """There is no update 1.5, and no two ticks say the same."""
    assert count_ticks(low, high, 6) == wanted


def test_what_is_counted_has_whole_numbers_on_its_axes(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """In the panels (2 to 15 episodes, not 2.5), the zoom and the comparison of runs."""
    rows = "1,1.0,3,0.001,21\n2,2.0,13,0.002,22\n3,3.0,5,0.003,23\n"
    header = "iteration,reward_mean,n_episodes,approx_kl,ep_len\n"
    (tmp_path / "progress.csv").write_text(header + rows)
    ui = make_ui_state(tmp_path)
    shown = "\n".join(drawn_text(ui, 140, 40))
    assert re.search(r"episodes 5 .*\n.* 15  (.*\n)+.* 2  ", shown) is not None
    for overlay in ("zoom", "compare"):
        ui.overlay, ui.concept = overlay, "n_episodes"
        shown = "\n".join(drawn_text(ui, 140, 90))
        assert re.findall(r"(\S+)┤", shown) == [str(each) for each in range(13, 2, -1)]
        assert re.search(r"\n *1 +2 +3 *\n", shown) is not None


def test_a_curve_breaks_where_a_value_cannot_be_drawn() -> None:
    """No line leads over a zero on a logarithmic axis, or over NaN: it would be a false curve."""
    points = [(0.0, 1.0), (1.0, 2.0), (2.0, math.nan), (3.0, 1.0)]
    curves = connected_curves(points, ["curve"] * 4)
    assert [(curve.xs, curve.ys) for curve in curves] == [([0, 1], [1, 2]), ([3], [1])]


def test_the_line_to_a_bad_value_has_its_colour() -> None:
    """A spike of one update is seen, not just its tip."""
    points = [(0.0, 1.0), (1.0, 9.0), (2.0, 1.0)]
    curves = connected_curves(points, ["curve", "crit", "curve"])
    assert [(curve.xs, curve.style) for curve in curves] == [
        ([0], "curve"),
        ([0, 1], "crit"),
        ([1, 2], "curve"),
    ]


@given(st.lists(st.floats(allow_nan=True), max_size=20))
def test_an_axis_holds_all_finite_values(values: list[float]) -> None:
    """The ends are finite and around what is to be drawn."""
    values = [each if abs(each) < 1e100 else math.nan for each in values]
    low, high = axis_range(values)
    assert low < high
    assert all(low <= each <= high for each in values if math.isfinite(each))


def test_the_reward_stands_within_its_spread(make_ui_state: MakeUiState) -> None:
    """Where the standard deviation is logged, two faint curves around the mean, and a word."""
    shown = []
    for demo in ("trl_grpo", "sb3_cartpole"):
        ui = make_ui_state(DEMO_LOGS / demo)
        ui.overlay, ui.concept = "zoom", "reward_mean"
        lines = drawn_text(ui, 140, 40)
        shown.append(("faint: ± reward std" in lines[-2], lines))
    assert [said for said, _ in shown] == [True, False]
    ticks = [re.match(r" *([\d.]+)┤", row) for row in shown[0][1]]
    assert max(float(tick[1]) for tick in ticks if tick is not None) > 1.3  # the best mean is 1.26


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


def test_thinning_keeps_a_gap() -> None:
    """A hundred NaN among a thousand points are no straight line."""
    values = [1.0] * 500 + [math.nan] * 100 + [1.0] * 400
    kept = points_to_draw(track(values), len(values), 50)
    points = [(float(at), values[at]) for at in kept]
    assert [len(curve.xs) > 0 for curve in connected_curves(points, ["a"] * len(kept))] == [
        True
    ] * 2


def test_the_value_at_a_step_is_the_last_finite_one() -> None:
    """Between two points it is that of the earlier one; before the first there is none."""
    made = track([1.0, math.nan, 3.0])
    assert value_at(made, made.steps, 1500) == 1.0
    assert value_at(made, made.steps, 2000) == 3.0
    assert math.isnan(value_at(made, made.steps, -1))
    assert value_at(made, made.steps, 2000, seen=2) == 1.0


def test_the_last_value_of_a_compared_run_has_its_own_step(make_ui_state: MakeUiState) -> None:
    """Not that of the NaN after it."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_nan")
    ui.overlay, ui.concept = "compare", "reward_mean"
    assert "last 368.8 · at step 14,336" in " ".join("\n".join(drawn_text(ui, 140, 40)).split())


def test_the_zoomed_chart_is_complete(sick: UiState) -> None:
    """Label, newest and best value, range, value under the cursor, axes."""
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


@pytest.mark.parametrize("layer", ["zoom", "compare"])
@pytest.mark.parametrize(("share", "lowest", "highest"), [(0, 0, 100), (1, 0, 100), (1.2, 0, 140)])
def test_no_tick_says_more_than_all_of_it(
    tmp_path: Path, make_ui_state: MakeUiState, layer: str, share: float, lowest: int, highest: int
) -> None:
    """Nor less than nothing, beside a share that stays where it is, unless that lies beyond."""
    for name in ("a", "bb"):  # equal to the last digit one would be a copy
        rows = [f"{n * 2048},{n + len(name)},0.01,{share}" for n in range(1, 40)]
        log = tmp_path / name / "progress.csv"
        log.parent.mkdir()
        log.write_text("\n".join([PROGRESS_CSV_HEADER, *rows]) + "\n")
    ui = make_ui_state(tmp_path)
    ui.overlay, ui.concept = layer, "clip_fraction"
    shown = (row for height in range(20, 60) for row in drawn_text(ui, 100, height))
    at = [int(found[1]) for row in shown if (found := re.match(r" *(-?\d+) %[┤┼]", row))]
    assert lowest <= min(at) < max(at) <= highest
    assert max(at) >= 100 * share


def test_against_time_and_on_a_logarithmic_scale(sick: UiState) -> None:
    """Without a clock time falls back to updates; on the log scale labels stay values."""
    sick.overlay, sick.concept = "zoom", "approx_kl"
    sick.chart.log_scale = True
    shown = "\n".join(drawn_text(sick, 100, 30))
    assert "log on" in shown and "0.1" in shown
    sick.chart.axis = "time"
    assert drawn_text(sick, 100, 30)


def test_a_logarithmic_axis_keeps_its_width_and_says_what_it_hides(
    make_ui_state: MakeUiState,
) -> None:
    """KL is 0 in the second half: nothing is drawn there, and the axis still ends with the run."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole_lr3e-2")
    ui.overlay, ui.concept, ui.chart.log_scale = "zoom", "approx_kl", True
    lines = drawn_text(ui, 120, 30)
    assert "80k" in lines[-3]
    assert "log axis: values ≤ 0 hidden" in lines[-2]
    assert not any(character in row[70:118] for row in lines[4:20] for character in "⠉⠒⠤⣀")


def test_zeros_alone_have_a_linear_axis(make_ui_state: MakeUiState) -> None:
    """A logarithmic one would be empty."""
    ui = make_ui_state(DEMO_LOGS / "trl_grpo_lr1e-1")
    ui.overlay, ui.concept, ui.chart.log_scale = "zoom", "clip_fraction", True
    lines = drawn_text(ui, 120, 34)
    assert "no value > 0: linear axis" in lines[-2]
    assert any("⠉⠉⠉" in row or "⠤⠤⠤" in row or "⣀⣀⣀" in row for row in lines)


def test_the_zoomed_chart_has_the_words_of_the_page(
    make_ui_state: MakeUiState,
) -> None:
    """`≤` in the range, and percents under the cursor."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole_lr3e-2")
    ui.overlay, ui.concept, ui.chart.cursor_row = "zoom", "clip_fraction", 2
    shown = "\n".join(drawn_text(ui, 120, 30))
    assert "healthy ≤ 20 %" in shown
    assert re.search(r"clip fraction = \d+ %", shown)


def test_the_line_of_a_finding_has_the_colour_of_its_severity(make_ui_state: MakeUiState) -> None:
    """As known at the cursor: amber when it was raised, red once it had become critical."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole_lr3e-2")
    run = ui.run
    assert run is not None
    found = next(each for each in run.findings if len(each.changes) > 1 and not each.members)
    ui.overlay, ui.concept = "zoom", found.concepts[0]
    for change in found.changes:
        ui.cursors[ui.chosen_run_id] = Cursor(row=change.mark.row)
        legend = draw_screen(ui, 140, 30).lines[-2]
        assert ("│", change.severity.word) in legend


def test_axes_of_a_moment_begin_at_zero() -> None:
    """A run without a clock, against time: one point on the axis, and no negative seconds."""
    chart = Chart([Curve([0.0], [1.0])], x_label=lambda x: f"{x:g} s")
    assert "-" not in plain_text(draw_chart(chart, 60, 10)[-1])


@pytest.mark.parametrize(("log", "says"), [("torch_cartpole_lr", False), ("torch_cartpole", True)])
def test_a_blamed_setting_is_not_said_to_follow_its_schedule(
    make_ui_state: MakeUiState, log: str, says: bool
) -> None:
    """Words that a finding contradicts are left out."""
    ui = make_ui_state(DEMO_LOGS / log)
    ui.overlay, ui.concept = "zoom", "lr"
    assert ("follows schedule" in "\n".join(drawn_text(ui, 100, 30))) is says


def test_the_zoomed_chart_is_ascii_in_ascii(sick: UiState) -> None:
    """The frame too: nothing is a question mark."""
    sick.symbols = ASCII_SYMBOLS
    sick.overlay, sick.concept = "zoom", "approx_kl"
    text = "\n".join(drawn_text(sick, 100, 30))
    assert text.isascii()
    assert "?" not in text.replace("? help", "")


def test_stacked_charts_share_their_cursor(sick: UiState) -> None:
    """Two values of a group, one above the other."""
    sick.overlay, sick.concept, sick.chart.stacked = "zoom", "approx_kl", True
    shown = "\n".join(drawn_text(sick, 100, 40))
    assert "approx KL = " in shown and "clip fraction = " in shown


def test_seeds_are_compared_at_the_same_step(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """An unhealthy seed next to two healthy ones: their mean, and its distance from them."""
    for name, broken in (("pole_seed1", 99), ("pole_seed2", 20), ("pole_seed3", 98)):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", broken_from=broken)
    other = tmp_path / "runs/pole_seed3/progress.csv"  # equal to the last digit it would be a copy
    other.write_text(other.read_text().replace("0.008", "0.007"))
    ui = make_ui_state(tmp_path / "runs")
    ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == "pole_seed2"))
    ui.overlay, ui.concept = "compare", "reward_mean"
    shown = "\n".join(drawn_text(ui, 110, 30))
    assert "2 other seeds 180" in shown
    assert "pole (3 seeds)" in shown
    ui.run_list.fold_seeds = False  # a curve each
    shown = "\n".join(drawn_text(ui, 110, 30))
    assert "2 other seeds 180" in shown
    assert "pole_seed3" in shown and "pole (3 seeds)" not in shown


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


def test_a_zoomed_metric_has_its_newest_histogram(make_ui_state: MakeUiState) -> None:
    """As far as the log holds one, and at its end only: older ones are not kept."""
    ui = make_ui_state(Path("tests/data/trl_0.11.4/ppo_wandb"))
    ui.overlay, ui.concept = "zoom", "ratio_p50"
    lines = drawn_text(ui, 110, 36)
    [title] = [number for number, row in enumerate(lines) if row.startswith(" histogram")]
    assert "176 values at step 7" in lines[title]
    heights = [sum(row[cell] in "⣿⢸⡇" for row in lines[title:]) for cell in range(5, 105)]
    assert 30 <= heights.index(max(heights)) <= 40  # most ratios are 1, a third of the axis
    assert " 1 " in lines[-3][30:50]
    ui.cursor.row = 5
    assert "histogram" not in "\n".join(drawn_text(ui, 110, 36))


def test_without_room_or_histogram_the_curve_has_all_lines(make_ui_state: MakeUiState) -> None:
    """A low screen shows the curve alone; so does a metric that is a number."""
    ui = make_ui_state(Path("tests/data/trl_0.11.4/ppo_wandb"))
    for concept, rows in (("ratio_p50", 24), ("reward_mean", 36)):
        ui.overlay, ui.concept = "zoom", concept
        assert "histogram" not in "\n".join(drawn_text(ui, 110, rows))
