"""Runs chosen for comparing: drawn in every chart of the run shown, by the same steps."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import StyledLine, plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, write_unhealthy_console, write_unhealthy_run
from tests.tui.conftest import MakeUiState

OWN_STYLES = {"curve", "watch", "warn", "crit"}


def write_runs(folder: Path, **updates: int) -> Path:
    """Runs of as many updates, all in good health, that ended long ago."""
    for number, (name, amount) in enumerate(updates.items()):
        log = folder / name / "progress.csv"
        write_unhealthy_run(log, amount, broken_from=99, first_reward=50 * number)
        os.utime(log, (time.time() - 7200,) * 2)
    return folder


def choose(ui: UiState, name: str) -> None:
    """Select a run by its name."""
    ui.chosen_by_user = True
    ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == name))


def mark(ui: UiState, *names: str) -> None:
    """Choose runs for comparing, by the key."""
    for name in names:
        choose(ui, name)
        Actions(ui).do_toggle_compared()
    ui.toast = ""


@pytest.fixture
def two(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """A run of 40 updates is shown; one of 20 is chosen for comparing."""
    ui = make_ui_state(write_runs(tmp_path, longer=40, shorter=20))
    mark(ui, "shorter")
    choose(ui, "longer")
    return ui


def chart(ui: UiState, name: str, cells: int = 140, rows: int = 40) -> list[StyledLine]:
    """The plot of a metric on the main screen, its title left out, cell by cell."""
    block = draw_screen(ui, cells, rows)
    (hit,) = (
        each
        for each in block.click_regions
        if each.kind == "concept" and each.target == name and each.height > 1
    )
    lines = []
    for row in block.lines[hit.y + 1 : hit.y + hit.height]:
        spread = [(letter, style) for text, style in row for letter in text]
        lines.append(tuple(spread[hit.x : hit.x + hit.width]))
    return lines


def columns_in(plot: list[StyledLine], styles: set[str]) -> list[int]:
    """The cells in which there are dots of some styles."""
    return [
        at
        for at in range(len(plot[0]))
        if any(
            "\u2800" < row[at][0] <= "\u28ff" and styles.intersection(row[at][1].split("+"))
            for row in plot
        )
    ]


@pytest.mark.parametrize(("cells", "rows"), [(200, 60), (140, 40), (80, 24)])
def test_every_chart_holds_both_runs(make_ui_state: MakeUiState, cells: int, rows: int) -> None:
    """A sick run beside a healthy one, wherever it logs the metric and does not have its values."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole", DEMO_LOGS / "sb3_cartpole_lr3e-2")
    mark(ui, "sb3_cartpole_lr3e-2")
    other = ui.run
    assert other is not None
    choose(ui, "sb3_cartpole")
    block = draw_screen(ui, cells, rows)
    shown = {hit.target for hit in block.click_regions if hit.kind == "concept" and hit.height > 1}
    both = shown.intersection(other.timeline.tracks) - {"clip_range"}
    assert len(both) >= 2
    for name in both:
        plot = chart(ui, name, cells, rows)
        assert columns_in(plot, OWN_STYLES), name
        assert columns_in(plot, {"run1"}), name


@pytest.mark.parametrize(("shown", "other"), [("longer", "shorter"), ("shorter", "longer")])
def test_all_runs_have_one_axis_of_steps(two: UiState, shown: str, other: str) -> None:
    """Half as many steps end in the middle of the chart, whichever of the two is shown."""
    mark(two, "shorter")  # no longer
    mark(two, other)
    choose(two, shown)
    plot = chart(two, "reward_mean")
    ends = {"longer": len(plot[0]) - 1, "shorter": len(plot[0]) // 2}
    assert max(columns_in(plot, OWN_STYLES)) == pytest.approx(ends[shown], abs=2)
    assert max(columns_in(plot, {"run1"})) == pytest.approx(ends[other], abs=2)


def test_ticks_stand_where_their_steps_are(two: UiState) -> None:
    """The shorter run, shown, ends at 41k: right of the tick at 40k."""
    mark(two, "shorter", "longer")
    choose(two, "shorter")
    plot = chart(two, "reward_mean")
    ticks = plain_text(plot[-1])
    assert ticks.split() == ["20k", "40k", "60k", "80k"]
    assert max(columns_in(plot, OWN_STYLES)) == pytest.approx(ticks.index("40k") + 1.5, abs=2)


def test_the_run_shown_is_on_top(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """Where another run has the same values, its curve is hidden behind."""
    ui = make_ui_state(write_runs(tmp_path, longer=40, shorter=20))
    mark(ui, "shorter")
    choose(ui, "longer")
    assert columns_in(chart(ui, "reward_mean"), {"run1"})
    same = chart(ui, "approx_kl")  # 0.008 throughout, in both
    assert not columns_in(same[1:-2], {"run1"})
    assert len(columns_in(same, OWN_STYLES)) > 20


def test_the_legend_names_the_runs_with_their_colours(two: UiState) -> None:
    """Over the charts; the run shown comes first."""
    (legend,) = (row for row in draw_screen(two, 140, 40).lines if "Charts" in plain_text(row))
    assert "Charts ━━ longer  ━━ shorter" in plain_text(legend)
    assert [style for text, style in legend if text == "━━"] == ["curve", "run1"]


def test_names_too_long_for_the_legend_keep_what_tells_them_apart(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """And runs for which there is no room are counted."""
    start = "cartpole-with-a-long-common-name-seed-"
    ui = make_ui_state(write_runs(tmp_path, **{f"{start}{letter}": 20 for letter in "abcdef"}))
    ui.run_list.fold_seeds = False
    mark(ui, *(f"{start}{letter}" for letter in "abcde"))
    choose(ui, f"{start}f")
    (legend,) = (row for row in draw_screen(ui, 80, 24).lines if "Charts" in plain_text(row))
    text = plain_text(legend)
    assert len(text) == 80
    assert "-f " in text and "-a " in text
    assert text.split("+")[1].split()[0].isdecimal()


def test_a_run_keeps_its_colour_while_others_are_shown(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Whichever of three is shown, the second chosen one has the second colour."""
    ui = make_ui_state(write_runs(tmp_path, one=40, two=30, three=20))
    mark(ui, "one", "two")
    for shown in ("one", "three"):
        choose(ui, shown)
        assert columns_in(chart(ui, "reward_mean"), {"run2"})


def test_a_second_press_takes_the_run_away(two: UiState) -> None:
    """Then the charts are those of one run, by its rows."""
    mark(two, "shorter")
    choose(two, "longer")
    assert not columns_in(chart(two, "reward_mean"), {"run1"})
    assert not any("━━" in plain_text(row) for row in draw_screen(two, 140, 40).lines)


def test_looking_back_moves_the_run_shown_only(two: UiState) -> None:
    """The other one stays as a whole, to see where one is going."""
    two.cursors[two.chosen_run_id] = Cursor(row=9)
    plot = chart(two, "reward_mean")
    assert max(columns_in(plot, OWN_STYLES)) == pytest.approx(len(plot[0]) // 2, abs=2)
    assert max(columns_in(plot, {"run1"})) >= len(plot[0]) - 3


def test_a_zoom_in_x_shows_the_same_steps_of_both(two: UiState) -> None:
    """The last ten of forty updates: the shorter run was over by then, its last value is held."""
    two.chart.rows_shown = 10
    plot = chart(two, "reward_mean")
    assert not columns_in(plot, {"run1"})
    two.chart.last_shown = 24
    plot = chart(two, "reward_mean")
    assert max(columns_in(plot, {"run1"})) == pytest.approx(len(plot[0]) * 5 / 10, abs=6)
    assert max(columns_in(plot, OWN_STYLES)) >= len(plot[0]) - 3


def test_a_run_that_counts_otherwise_is_named_and_not_drawn(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Updates and environment steps have no common axis."""
    write_runs(tmp_path, steps=40)
    write_unhealthy_console(tmp_path / "updates" / "train.log")
    ui = make_ui_state(tmp_path)
    mark(ui, "updates")
    choose(ui, "steps")
    assert not columns_in(chart(ui, "reward_mean"), {"run1"})
    assert any("updates (counts by update)" in text for text in screen_text(ui))


def screen_text(ui: UiState) -> list[str]:
    """The lines of the screen without colours."""
    return [plain_text(row) for row in draw_screen(ui, 140, 40).lines]


def test_without_braille_each_run_has_its_number(two: UiState) -> None:
    """The curve of the first one chosen is drawn with ones, as the legend says."""
    two.symbols = ASCII_SYMBOLS
    lines = screen_text(two)
    assert any("Charts * longer  1 shorter" in text for text in lines)
    plot = [plain_text(row) for row in chart(two, "reward_mean")[:-1]]
    assert any("11" in text for text in plot)
    assert any("**" in text for text in plot)


async def test_a_chosen_run_keeps_its_points(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """`v`, then many other runs: what is drawn beside them all is not let go."""
    from ppo_top.tui.app.app import PpoTop

    names = {f"run-{letter}x": 20 for letter in "abcdefgh"}
    ui = make_ui_state(write_runs(tmp_path, **names))
    app = PpoTop(ui, None)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("v")
        first = ui.chosen_run_id
        await pilot.press(*[","] * 8, *["."] * 6)
        assert ui.chosen_run_id != first
        assert first not in ui.recent_run_ids
        assert first in ui.needed_run_ids
        ui.session.max_points = 1
        ui.session.free_memory(ui.needed_run_ids)
        app.drawing.draw()
        assert columns_in(chart(ui, "reward_mean"), {"run1"})
