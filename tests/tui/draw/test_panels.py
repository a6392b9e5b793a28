"""Panels: as wide as their place, coloured by what was true, with steps and named limits."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Finding
from ppo_top.settings import Settings
from ppo_top.tui.draw.charts.curve_columns import curve_columns, spread_columns
from ppo_top.tui.draw.charts.panels import draw_panels, panel_grid
from ppo_top.tui.draw.charts.step_axis import step_axis
from ppo_top.tui.graphics.styled_text import StyledLine, plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import PanelTrack, RunView
from tests.support.screens import DEMO_LOGS, drawn_text
from tests.tui.conftest import MakeUiState

SICK_RUN = "sb3_cartpole_lr3e-2"


def snapshot_of(ui: UiState) -> tuple[Snapshot, RunView]:
    """What drawing depends on."""
    snap = take_snapshot(ui)
    assert snap.view is not None
    return snap, snap.view


def track_of(view: RunView, name: str) -> PanelTrack:
    """The curve of a metric."""
    return next(
        track for panel in view.panels for track in panel.tracks if track.track.concept == name
    )


def drawn_width(line: StyledLine, style: str = "curve") -> int:
    """The last cell of a line that belongs to a curve, and the ones before it."""
    reached = at = 0
    for text, name in line:
        at += len(text)
        if text.strip() and name.partition("+")[0] in (style, "watch", "warn", "crit"):
            reached = at
    return reached


def cells_of_panel(ui: UiState, name: str, cells: int, rows: int) -> list[StyledLine]:
    """The only panel of a screen of charts that has room for one."""
    snap, view = snapshot_of(ui)
    kept = tuple(
        panel._replace(tracks=tuple(t for t in panel.tracks if t.track.concept == name))
        for panel in view.panels
    )
    return draw_panels(replace(snap, view=view._replace(panels=kept)), cells, rows).lines


@pytest.mark.parametrize("cells", [34, 60, 139])
@pytest.mark.parametrize("row", [2, 6, 17, None])
def test_a_curve_reaches_from_edge_to_edge(
    make_ui_state: MakeUiState, cells: int, row: int | None
) -> None:
    """However many updates, and wherever the cursor stands, at most 5 % of the width are empty."""
    ui = make_ui_state(DEMO_LOGS / SICK_RUN)
    ui.cursors[ui.chosen_run_id] = Cursor(row=row)
    panel = cells_of_panel(ui, "reward_mean", cells, 8)
    assert max(drawn_width(line) for line in panel[1:]) >= 0.95 * (cells - 1)


@pytest.mark.parametrize("row", [5, 12, 20, 30, None])
def test_red_is_where_a_limit_was_crossed_or_a_finding_was_open(
    make_ui_state: MakeUiState, row: int | None
) -> None:
    """At each row of the past too, every column of every curve has the colour of its own rows."""
    ui = make_ui_state(DEMO_LOGS / SICK_RUN)
    ui.cursors[ui.chosen_run_id] = Cursor(row=row)
    snap, view = snapshot_of(ui)
    run = ui.run
    assert run is not None and view.row is not None
    coloured = 0
    for panel in view.panels:
        for track in panel.tracks:
            columns = curve_columns(snap, view, track, view.row + 1)
            assert columns.size == 1
            wanted = [style_at(track, run.findings, at, view.row) for at in range(view.row + 1)]
            assert columns.styles == wanted, track.track.concept
            coloured += sum(style != "curve" for style in wanted)
    assert coloured


def style_at(track: PanelTrack, findings: list[Finding], at: int, row: int) -> str:
    """The style of a curve at a row, by looking at every finding and at the value."""
    name = track.track.concept
    seen = track.track.count_until(at)
    ranks = {"ok": 0, "info": 0, "watch": 1, "warn": 2, "crit": 3}
    words = [str(track.band.colour(track.track.values[seen - 1]))] if track.band and seen else []
    for finding in findings:
        if name not in finding.concepts or (finding.members and name != "lr"):
            continue
        then = finding.as_of(row)
        over = finding.cleared is not None and at >= finding.cleared.row
        if finding.opened.row <= row and then.since.row <= at and not over:
            until = max(at, finding.opened.row)
            words.append(max(c.severity for c in finding.changes if c.mark.row <= until).word)
    worst = max(words, key=lambda word: ranks[word], default="ok")
    return worst if ranks[worst] else "curve"


def test_a_row_of_panels_has_a_line_of_steps(make_ui_state: MakeUiState) -> None:
    """Below each curve, 1, 2 or 5 times a power of ten, each at its own row."""
    ui = make_ui_state(DEMO_LOGS / SICK_RUN)
    panel = cells_of_panel(ui, "reward_mean", 61, 8)
    ticks = plain_text(panel[-1])
    assert ticks.split() == ["20k", "40k", "60k", "80k"]
    _, view = snapshot_of(ui)
    row_of_40k = next(row for row, step in enumerate(view.timeline.steps) if step >= 40_000)
    assert ticks.index("40k") + 1 == pytest.approx(row_of_40k / 40 * 60, abs=1)


def test_the_axis_of_a_share_ends_at_all_of_it(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """A hundred per cent all the time is at the top, not below 110 %."""
    rows = (f'{{"step": {n}, "reward": {n}, "success_rate": 1.0}}\n' for n in range(1, 30))
    (tmp_path / "log.jsonl").write_text("".join(rows))
    ui = make_ui_state(tmp_path / "log.jsonl")
    panel = "\n".join(map(plain_text, cells_of_panel(ui, "success_rate", 60, 8)))
    assert "100 %" in panel and "110 %" not in panel


def test_steps_between_rows_stand_between_them(sick: UiState) -> None:
    """Of an update every 2,048 steps none ends at 5k: ticks are as far apart as their steps."""
    _, view = snapshot_of(sick)
    assert view.timeline.steps[:9][-1] == 18_432
    text = step_axis(view.timeline, 8, 9 / 36, 36)
    assert text.split() == ["5k", "10k", "15k"]
    middles = [text.index(tick) + len(tick) / 2 for tick in text.split()]
    of_row = 36 / 9
    assert middles == pytest.approx(
        [(step / 2048 - 0.5) * of_row for step in (5e3, 1e4, 1.5e4)], abs=1
    )


def test_steps_never_overlap_or_leave_the_axis(make_ui_state: MakeUiState) -> None:
    """At any width."""
    _, view = snapshot_of(make_ui_state(DEMO_LOGS / SICK_RUN))
    for cells in range(10, 150):
        text = step_axis(view.timeline, 39, 40 / cells, cells)
        assert len(text) <= cells
        assert set(text.split()) <= {f"{n}k" for n in range(5, 85, 5)}


def test_a_limit_far_off_the_scale_is_named_with_an_arrow(make_ui_state: MakeUiState) -> None:
    """KL of 8 against a limit of 0.02: the limit is below everything that can be seen."""
    panel = cells_of_panel(make_ui_state(DEMO_LOGS / SICK_RUN), "approx_kl", 60, 8)
    assert "↓ limit 0.02" in "\n".join(map(plain_text, panel))


def test_a_band_on_the_scale_is_named(make_ui_state: MakeUiState) -> None:
    """Its background alone does not say what it is."""
    panel = cells_of_panel(make_ui_state(DEMO_LOGS / SICK_RUN), "clip_fraction", 60, 8)
    assert "healthy ≤ 20 %" in "\n".join(map(plain_text, panel))
    assert any(style.endswith("+band") for line in panel for _, style in line)


@pytest.mark.parametrize("wide", [30, 60, 120])
def test_where_two_limits_share_a_row_the_nearer_one_is_named(
    make_ui_state: MakeUiState, wide: int
) -> None:
    """KL of 0.7 on a scale up to 5: its limit of 0.1 says more than that of 0, also with room."""
    panel = cells_of_panel(make_ui_state(DEMO_LOGS / "trl_grpo_lr1e-1"), "ref_kl_token", wide, 8)
    text = "\n".join(map(plain_text, panel))
    assert "limit 0.1" in text
    assert not re.search(r"limit 0(?!\.)", text)


def test_a_number_of_the_axis_does_not_touch_the_next_panel(make_ui_state: MakeUiState) -> None:
    """The entropy begins where its upper number would stand: it takes the next free place, where
    at the right edge it would read as a number of the neighbour.
    """
    panel = cells_of_panel(make_ui_state(DEMO_LOGS / SICK_RUN), "entropy", 60, 8)
    assert 0 < plain_text(panel[1]).index("0.68") < 30


def test_a_counter_of_an_unknown_trainer_is_not_drawn(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """It rises along with the steps, whatever its name; a ragged one and a schedule tell more."""
    log = tmp_path / "run" / "metrics.jsonl"
    log.parent.mkdir()
    with log.open("w") as file:
        for n in range(1, 41):
            counts = {"train/global_step": 8 * n, "seen": 64 * n + 1}
            tells = {"reward": n, "rooms": n * n, "beta": n / 40}
            file.write(json.dumps(counts | tells) + "\n")
    snap, _ = snapshot_of(make_ui_state(log.parent))
    drawn = [region.target for region in draw_panels(snap, 140, 18).click_regions]
    assert sorted(drawn) == ["reward_mean", "tag:beta", "tag:rooms"]


def test_names_of_groups_are_not_part_of_a_chart(make_ui_state: MakeUiState) -> None:
    """`Policy step: approx KL` read as the name of the metric."""
    snap, _ = snapshot_of(make_ui_state(DEMO_LOGS / SICK_RUN))
    text = "\n".join(map(plain_text, draw_panels(snap, 140, 18).lines))
    assert "approx KL" in text and "Policy step" not in text


def test_what_says_nothing_comes_last(make_ui_state: MakeUiState) -> None:
    """The constant clip range is the last panel; the constant learning rate is in trouble."""
    snap, _ = snapshot_of(make_ui_state(DEMO_LOGS / SICK_RUN))
    names = [region.target for region in draw_panels(snap, 140, 18).click_regions]
    assert names[-1] == "clip_range"
    assert "lr" in names[:-1]


@given(cells=st.integers(60, 240), rows=st.integers(8, 50), amount=st.integers(1, 60))
def test_no_line_is_empty_while_panels_wait(cells: int, rows: int, amount: int) -> None:
    """All lines are used; nothing fits that is not shown; panels are wider than high."""
    grid = panel_grid(cells, rows, amount, plots=True)
    shown = min(amount, grid.capacity)
    heights = grid.heights(rows, [False] * shown)
    assert sum(heights) == rows
    assert min(heights) >= 4
    if shown < amount:
        assert cells // grid.columns < 2 * 28 and min(heights) < 8
    if amount >= 12:
        assert cells / grid.columns >= 2 * max(heights)


@given(cells=st.integers(60, 240), rows=st.integers(10, 50), flat=st.integers(0, 40))
def test_constant_curves_leave_their_lines_to_the_others(cells: int, rows: int, flat: int) -> None:
    """Rows of panels that are all constant have half the lines, but can be read; none is lost."""
    grid = panel_grid(cells, rows, 10 + flat, plots=True)
    is_flat = ([False] * 10 + [True] * flat)[: grid.capacity]
    heights = grid.heights(rows, is_flat)
    assert sum(heights) == rows
    for number, high in enumerate(heights):
        only_flat = number > 0 and all(is_flat[number * grid.columns :])
        share = rows // len(heights)
        assert high == max(4, share // 2) if only_flat else high >= share


def test_ascii_panels_are_ascii(make_ui_state: MakeUiState) -> None:
    """Limits, arrows and numbers too."""
    ui = make_ui_state(DEMO_LOGS / SICK_RUN)
    ui.symbols = ASCII_SYMBOLS
    from ppo_top.tui.draw.layout import printable_line

    snap, _ = snapshot_of(ui)
    drawn = [plain_text(printable_line(line, snap)) for line in draw_panels(snap, 140, 18).lines]
    text = "\n".join(drawn)
    assert text.isascii() and "?" not in text
    assert "healthy <= 20 %" in text and "v limit 0.02" in text


@pytest.mark.parametrize(("goal", "shown"), [(300.0, "goal 300"), (5000.0, "↑ goal 5,000")])
def test_the_goal_is_a_line_in_the_panel_of_the_reward(
    make_ui_state: MakeUiState, goal: float, shown: str
) -> None:
    """Named at its height, or with an arrow where it is far off the scale; nowhere else."""
    ui = make_ui_state(DEMO_LOGS / SICK_RUN, settings=Settings(goal=goal))
    text = [plain_text(row) for row in cells_of_panel(ui, "reward_mean", 60, 12)]
    (line,) = [row for row in text if "goal" in row]
    assert shown in line
    assert ("┄" in line) == (goal == 300.0)
    assert not any("goal" in plain_text(row) for row in cells_of_panel(ui, "ep_len", 60, 12))
    ui.overlay = "zoom"
    ui.concept = "reward_mean"
    zoomed = "\n".join(drawn_text(ui, 140, 40))
    assert ("is above the axis" in zoomed) == (goal == 5000.0)


def test_the_reward_has_its_spread_behind_it(make_ui_state: MakeUiState) -> None:
    """One standard deviation to either side has a background and stands in the title."""
    ui = make_ui_state(Path("tests/data/trl_0.11.4/ppo_wandb"))
    panel = cells_of_panel(ui, "reward_mean", 90, 14)
    snap, view = snapshot_of(ui)
    reward = track_of(view, "reward_mean")
    ends = spread_columns(snap, view, reward, curve_columns(snap, view, reward, 180))
    mean, std = reward.track.values[-1], view.timeline.tracks["reward_std"].values[-1]
    assert f"{mean:.4g} ± {std:.4g}" in plain_text(panel[0])
    assert ends[-1] == pytest.approx((mean - std, mean + std))
    shaded = [sum(len(text) for text, style in row if style.endswith("+band")) for row in panel]
    assert max(shaded) > 60 and min(shaded) == 0
    other = cells_of_panel(ui, "value_loss", 90, 14)
    assert "±" not in plain_text(other[0])


def test_no_arrow_points_up_beside_a_reward_that_has_just_crashed(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Four updates ago it was still the best: the newest say where it heads."""
    lines = (DEMO_LOGS / SICK_RUN / "progress.csv").read_text().splitlines(True)
    log = tmp_path / "runs" / "sick" / "progress.csv"
    log.parent.mkdir(parents=True)
    log.write_text("".join(lines[:24]))
    ui = make_ui_state(tmp_path / "runs")
    (title,) = (line for line in drawn_text(ui, 140, 40) if "★" in line and "reward" in line)
    assert re.search(r"reward 9\.\d+ ↘", title)


@pytest.mark.parametrize("cells", [80, 100, 120, 130, 200])
def test_a_level_that_a_reward_fell_from_is_on_its_axis_at_every_width(
    tmp_path: Path, make_ui_state: MakeUiState, cells: int
) -> None:
    """Three rewards of 25 before 76 of 9.5 are where it began; a peak of the loss is a spike."""
    rows = ["time/total_timesteps,rollout/ep_rew_mean,train/value_loss"]
    for number in range(1, 80):
        reward = (25.5, 19.8, 14.2)[number - 1] if number <= 3 else 9.5 + number % 5 / 10
        rows.append(f"{number * 512},{reward},{90 if number == 1 else 1 + number % 5 / 10}")
    (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
    drawn = drawn_text(make_ui_state(tmp_path), cells, 36)
    listed = next(row for row in drawn if re.search(r"^ \S reward  ", row))
    value_loss = next(row for row in drawn if re.search(r"^ \S value loss  ", row))
    assert re.search(r"█[▂-█]*▁▁▁▁▁▁", listed) and "↑" in value_loss
    title = next(at for at, row in enumerate(drawn) if row.startswith("reward "))
    assert re.search(r"\b27\.5\b|\b28\b", drawn[title + 1])
