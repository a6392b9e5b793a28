"""The picture at every size: what matters stays, whole words, nothing hostile, no size refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ppo_top.tui.draw.charts.panel_plot import AXIS_CELLS, edge_labels
from ppo_top.tui.draw.header import draw_header
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.sparkline import Scale
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.snapshot import LoadingProgress
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, PROGRESS_CSV_HEADER, drawn_text, write_unhealthy_run
from tests.tui.conftest import MakeUiState

SIZES = [(200, 60), (140, 40), (100, 30), (80, 24), (60, 20), (40, 15), (30, 12), (80, 4), (20, 3)]


@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_filled_exactly(sick: UiState, size: tuple[int, int]) -> None:
    """The picture has as many lines and cells as the terminal."""
    lines = drawn_text(sick, *size)
    assert len(lines) == size[1]
    assert {cell_len(row) for row in lines} == {size[0]}


@pytest.mark.parametrize("size", SIZES)
def test_the_verdict_is_at_every_size(sick: UiState, size: tuple[int, int]) -> None:
    """The sign and the beginning of the finding's title are on the first lines."""
    view = sick.view()
    assert view is not None and view.verdict == "crit"
    first = view.open_findings[0].finding.title.split()[0]
    top = " ".join(drawn_text(sick, *size)[:3])
    assert "✗" in top and first[: size[0] - 8] in top


@pytest.mark.parametrize("size", [size for size in SIZES if size[0] >= 30])
def test_state_and_step_are_at_every_size(sick: UiState, size: tuple[int, int]) -> None:
    """If there is room for one line, it shows the state and the step."""
    shown = "\n".join(drawn_text(sick, *size))
    view = sick.view()
    assert view is not None
    assert view.state.value in shown
    assert "81,920" in shown


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15)])
def test_the_crucial_values_are_listed_with_their_numbers(
    sick: UiState, size: tuple[int, int]
) -> None:
    """Each value of the log is on the checklist with its newest number."""
    shown = "\n".join(drawn_text(sick, *size))
    assert "approx KL" in shown and "0.2" in shown
    assert "clip fraction" in shown and "60 %" in shown
    assert "reward" in shown


def test_step_ticks_stand_over_the_sparklines_they_measure(sick: UiState) -> None:
    """The sparklines become red half way; the tick above that place is half of the steps."""
    lines = drawn_text(sick, 140, 40)
    title = next(number for number, row in enumerate(lines) if "Crucial values" in row)
    kl = next(row for row in lines[title:] if "approx KL" in row)
    middle = kl.index("█")
    nearest = min(
        re.finditer(r"[\d.]+k", lines[title]), key=lambda tick: abs(tick.start() - middle)
    )
    assert nearest[0] == "40k"
    assert abs(nearest.start() + 1 - middle) <= 2


def test_advice_is_numbered_and_whole(sick: UiState) -> None:
    """At the usual size the cause and numbered advice stand below the verdict, none cut off."""
    view = sick.view()
    assert view is not None
    shown = " ".join(" ".join(drawn_text(sick, 140, 40)).split())
    assert "try 1 " in shown
    assert " ".join(view.open_findings[0].finding.remedies[0].split()) in shown


@pytest.mark.parametrize(
    ("cells", "told"), [(80, "below it: small"), (160, "below it: small updates")]
)
def test_a_green_value_outside_of_its_range_says_why(
    cells: int, told: str, tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Where there is no room for range and remark, the remark stands in place of the range."""
    write_unhealthy_run(tmp_path / "runs" / "well" / "progress.csv", broken_from=99)
    table = (tmp_path / "runs" / "well" / "progress.csv").read_text()
    (tmp_path / "runs" / "well" / "progress.csv").write_text(table.replace(",0.008,", ",0.0004,"))
    rows = drawn_text(make_ui_state(tmp_path / "runs"), cells, 24)
    (row,) = (row for row in rows if row.startswith(" ✓ approx KL"))
    assert told in row and ("0.001-0.02" in row) == (cells > 80)


def test_the_worst_value_so_far_is_called_that(sick: UiState) -> None:
    """As the best reward is: a number and a step alone may be anything."""
    rows = drawn_text(sick, 200, 60)
    assert any("worst 60 % @41k" in row for row in rows if "clip fraction" in row)
    assert any("best 100 @41k" in row for row in rows if "reward" in row)


def test_a_side_pane_drops_curves_before_values(sick: UiState) -> None:
    """At 30 columns a value has its number and no curve; at 40 it has both."""
    narrow = next(row for row in drawn_text(sick, 30, 12) if row[3:].startswith("approx KL"))
    wider = next(row for row in drawn_text(sick, 40, 15) if row[3:].startswith("approx KL"))
    assert not set(narrow) & set("▁▂▃▄▅▆▇█↑")
    assert set(wider) & set("▁▂▃▄▅▆▇█↑")


def test_values_that_are_not_logged_say_so(sick: UiState) -> None:
    """A crucial value that the log does not hold is listed without a number."""
    rows = [row for row in drawn_text(sick, 140, 40) if "explained var" in row]
    assert rows and "–" in rows[0] and "not logged" in rows[0]


def test_several_runs_have_a_list_next_to_them(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """At 140 columns the runs are listed, those in trouble first; at 80 they are one key away."""
    write_unhealthy_run(tmp_path / "runs" / "alpha" / "progress.csv", broken_from=99)
    write_unhealthy_run(tmp_path / "runs" / "omega" / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    wide = drawn_text(ui, 140, 40)
    assert "Runs" in wide[1]
    assert "omega" in wide[2] and wide[2].strip().startswith("✗")
    assert "alpha" in wide[3]
    assert not any("alpha" in row and "omega" in row for row in drawn_text(ui, 80, 24))
    ui.focus = "runs"
    assert any("alpha" in row for row in drawn_text(ui, 80, 24))


def test_ascii_means_ascii(sick: UiState) -> None:
    """With the ASCII signs no picture holds any other character."""
    sick.symbols = ASCII_SYMBOLS
    for size in SIZES:
        assert all(row.isascii() for row in drawn_text(sick, *size))
    for layer in ("help", "findings", "explain", "config", "console"):
        sick.overlay = layer
        assert all(row.isascii() for row in drawn_text(sick, 100, 30))


def test_hostile_names_and_values_stay_text(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """Escape sequences, markup and bidirectional overrides in names and tags do nothing."""
    run = tmp_path / "runs" / "[red]run\x1b[31m\u202egnp"
    run.mkdir(parents=True)
    header = PROGRESS_CSV_HEADER + ",custom/\x1b]0;owned\x07[bold]"
    rows = "".join(f"{n * 2048},{n},0.01,0.1,{n}\n" for n in range(1, 20))
    (run / "progress.csv").write_text(f"{header}\n{rows}")
    ui = make_ui_state(tmp_path / "runs")
    for layer in ("", "config", "findings", "explain"):
        ui.overlay = layer
        for row in draw_screen(ui, 140, 40).lines:
            assert plain_text(row).isprintable()
    ui.overlay = ""
    assert "[red]run" in "\n".join(drawn_text(ui, 140, 40))


def test_without_logs_the_screen_says_what_it_waits_for(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """An empty directory is no error: its path and the formats looked for are shown."""
    ui = make_ui_state(tmp_path)
    ui.waiting_text = "Looking for logs in ./runs\nTensorBoard and others"
    shown = "\n".join(drawn_text(ui, 80, 24))
    assert "Looking for logs in ./runs" in shown


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15)])
def test_what_is_still_to_be_read_is_a_bar(sick: UiState, size: tuple[int, int]) -> None:
    """While a long log is read the share that is done is on the screen."""
    sick.loading = LoadingProgress(25_000_000, 100_000_000)
    shown = drawn_text(sick, *size)
    bars = [row for row in shown if "25.0 of 100.0 MB" in row]
    assert len(bars) == 1
    sick.loading = LoadingProgress(3_000, 12_000)
    assert any("reading 3 of 12 kB" in row for row in drawn_text(sick, *size))
    assert 0.2 < bars[0].count("█") / (bars[0].count("█") + bars[0].count("░")) < 0.3


def test_the_loading_bar_counts_judged_runs(sick: UiState) -> None:
    """With many runs it shows how many are judged, if there is room."""
    sick.loading = LoadingProgress(25_000_000, 100_000_000, judged_runs=312, total_runs=1_000)
    assert "verdicts 312 of 1,000" in "\n".join(drawn_text(sick, 140, 40))
    assert "verdicts" not in "\n".join(drawn_text(sick, 40, 15))


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15)])
def test_what_was_read_and_is_not_judged_yet_is_a_bar_too(
    sick: UiState, size: tuple[int, int]
) -> None:
    """Until then the counts of sick runs are too low."""
    sick.loading = LoadingProgress(10**8, 10**8, judged_runs=250, total_runs=1_000)
    shown = drawn_text(sick, *size)
    assert shown[0].endswith("judging 25 % ") == (size[1] > 15)
    (bar,) = (row for row in shown if "verdicts 250 of 1,000" in row)
    assert 0.2 < bar.count("█") / (bar.count("█") + bar.count("░")) < 0.3


def test_wide_characters_keep_columns_straight(tmp_path: Path, make_ui_state: MakeUiState) -> None:
    """Names in Chinese or with emoji take two cells a character, and nothing shifts."""
    write_unhealthy_run(tmp_path / "runs" / "倒立摆-实验🔥" / "progress.csv")
    write_unhealthy_run(tmp_path / "runs" / "b" / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    for size in SIZES:
        assert {cell_len(row) for row in drawn_text(ui, *size)} == {size[0]}
    assert "倒立摆" in "\n".join(drawn_text(ui, 140, 40))


@pytest.mark.parametrize("demo", sorted(path.name for path in DEMO_LOGS.iterdir() if path.is_dir()))
def test_every_demo_log_is_shown_with_its_verdict(demo: str, make_ui_state: MakeUiState) -> None:
    """Each shipped log draws at the usual sizes, with the words of its verdict on top."""
    ui = make_ui_state(DEMO_LOGS / demo)
    view = ui.view()
    assert view is not None
    words = view.headline.split(",")[0].split(":")[0]
    for size in ((140, 40), (80, 24), (40, 15)):
        lines = drawn_text(ui, *size)
        assert words.split()[0] in " ".join(lines[:4])
        assert len(lines) == size[1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells=st.integers(1, 220), rows=st.integers(1, 70))
def test_no_size_is_refused(sick: UiState, cells: int, rows: int) -> None:
    """Whatever the size, the picture is exactly that large."""
    for layer in ("", "help", "findings"):
        sick.overlay = layer
        lines = drawn_text(sick, cells, rows)
        assert len(lines) == rows
        assert all(cell_len(row) == cells for row in lines)


def test_values_of_curves_in_lines_stand_in_a_column(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Long numbers widen the column for all, so that the curves begin together."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    rows = [
        re.match(r" [a-z][a-z][a-z /]{14} +[-\d,.e]+(?= )", row) for row in drawn_text(ui, 60, 20)
    ]
    ends = [found.end() for found in rows if found is not None]
    assert len(ends) >= 3
    assert len(set(ends)) == 1


def test_a_side_pane_shows_nothing_twice(make_ui_state: MakeUiState) -> None:
    """Curves below the checklist are of values that do not stand on it."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    ui.hidden_sections = frozenset()
    rows = drawn_text(ui, 40, 22)
    names = [row[3:18].strip() if row[1] in "✓▲✗i·–" else row[1:17].strip() for row in rows[3:]]
    named = [name for name in names if name and not name.startswith(("timeline", "q quit"))]
    assert len(named) == len(set(named))


def test_the_first_advice_is_seen_in_a_side_pane(sick: UiState) -> None:
    """Advice is shown even if there is no room for evidence."""
    assert any(row.startswith(" try   1 ") for row in drawn_text(sick, 40, 15))


def test_a_side_pane_of_a_long_name_keeps_state_and_step_and_labels(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """The name and its place in the list give way; why and what to try are told apart."""
    for number in range(11):
        name = f"experiment-with-a-rather-long-name-{number}"
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    ui.run_list.fold_seeds = False
    lines = drawn_text(ui, 40, 15)
    (status,) = (line for line in lines if line.startswith(" expe"))
    assert "ended" in status and "step 81,920" in status
    assert [line.split()[0] for line in lines[2:5]] == ["why", "chain", "try"]


def test_a_side_pane_names_the_option_itself(sick: UiState) -> None:
    """Of a long option the end is shown: the beginning, cut off, would name no option."""
    view = sick.view()
    assert view is not None
    option = "actor_rollout_ref.actor.ppo_mini_batch_size"
    view.open_findings[0].finding.remedies = (f"smaller batches: {option} (verl's default is 256)",)
    shown = drawn_text(sick, 40, 15)
    at = next(at for at, row in enumerate(shown) if row.startswith(" try "))
    assert "1 smaller batches:" in shown[at] and "…ppo_mini_batch_size" in shown[at + 1]
    assert option in "".join(drawn_text(sick, 140, 40))


def test_the_worst_count_stands_first_or_none_does(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """A header that has no room for `1 crit` does not tell of an ended run instead."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    write_unhealthy_run(tmp_path / "runs" / "well" / "progress.csv", broken_from=99)
    ui = make_ui_state(tmp_path / "runs")
    ui.watched_paths = "../experiments/logs"
    snap = take_snapshot(ui)
    headers = [plain_text(draw_header(snap, cells)) for cells in range(24, 100)]
    assert any("2 ended" in header for header in headers)
    assert [each for each in headers if "ended" in each and "✗ 1 crit" not in each] == []


@pytest.mark.parametrize("cells", [60, 80, 100, 140])
def test_ascii_symbols_of_two_cells_cut_nothing_off(make_ui_state: MakeUiState, cells: int) -> None:
    """In ASCII `<=` takes two cells: the text after it is still complete."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_lr")
    ui.symbols = ASCII_SYMBOLS
    block = draw_screen(ui, cells, 30)
    view = ui.view()
    assert view is not None
    steps = {f"{row.since_step:,}" for row in view.checklist if row.since_step is not None}
    steps |= {f"{each.finding.since.step:,}" for each in view.open_findings}
    shown = re.findall(r"since (?:step )?([\d,]*\d)", "\n".join(map(plain_text, block.lines)))
    assert shown and set(shown) <= steps
    help_key = next(hit for hit in block.click_regions if hit.target == "compare")
    footer = plain_text(block.lines[help_key.y])
    assert footer[help_key.x : help_key.x + help_key.width] == "c compare"


def test_all_findings_are_counted_and_told_in_order(make_ui_state: MakeUiState) -> None:
    """The worst one is explained; the chain names the others from the first to the last."""
    ui = make_ui_state(DEMO_LOGS / "trl_grpo_lr1e-1")
    view = ui.view()
    assert view is not None and len(view.open_findings) == 4
    rows = drawn_text(ui, 140, 40)
    chain = next(row for row in rows if row.lstrip().startswith("chain"))
    order = (
        "1 Learning rate out of range",
        "3 Completions truncated",
        "5 No EOS in any completion",
    )
    assert all(words in chain for words in order)
    assert sorted(order, key=chain.index) == list(order)
    assert any("f: 4 findings" in row for row in rows)


def test_the_verdict_is_four_lines_and_says_what_it_costs(make_ui_state: MakeUiState) -> None:
    """What is wrong, since when and for how much of the run; cause; chain; what to try."""
    rows = drawn_text(make_ui_state(DEMO_LOGS / "torch_cartpole_critic"), 140, 40)
    labels = [row.split()[0] for row in rows[2:6]]
    assert labels == ["✗", "why", "chain", "try"]
    assert "since 16,384 · 13 updates (65 %), " in rows[2]
    assert "explained variance 8.7e-6" in rows[2]
    assert "Crucial values" in rows[6]


def test_rows_in_trouble_come_first(sick: UiState) -> None:
    """Those with a finding, worst first; what is not logged comes last."""
    rows = drawn_text(sick, 140, 40)
    first = next(at for at, row in enumerate(rows) if "Crucial values" in row) + 1
    marks = [row.strip()[0] for row in rows[first : first + 8]]
    assert marks == sorted(marks, key="✗▲✓–".index)
    assert "✗" in marks and "–" in marks


def test_no_green_headline_stands_over_an_amber_row(make_ui_state: MakeUiState) -> None:
    """A value outside its range without a finding yet is being watched, with its number."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    ui.cursors[ui.chosen_run_id] = Cursor(row=6)  # before the critic has learned
    wide = drawn_text(ui, 140, 40)[3]  # below the line that says that this is the past
    assert wide.strip().startswith("▲ Watching: explained var 0.")
    assert "(healthy ≥ 0.5, good > 0.8)" in wide
    assert drawn_text(ui, 40, 15)[0].strip().startswith("▲ Watching")


@pytest.mark.parametrize(
    ("ends", "fmt", "labels"),
    [
        ((0.00033, 0.00027), "lr", ("0.00033", "0.00027")),
        ((1.0, 0.0), "pct", ("100 %", "0 %")),
        ((1_250_000.0, -1_250_000.0), "", ("1.2M", "-1.2M")),
        ((-0.0012345, -0.0025), "", ("-0.0012", "-0.0025")),
        ((1.001, 1.0), "", ("1.001", "1")),
        ((-1.24e-10, -2.6e-10), "", ("-1e-10", "-3e-10")),
    ],
)
def test_the_ends_of_a_scale_are_never_cut_off(
    ends: tuple[float, float], fmt: str, labels: tuple[str, str]
) -> None:
    """What does not fit loses digits by rounding: `0.00033` is not `0.0003`."""
    assert edge_labels(Scale(ends[1], ends[0]), fmt) == labels
    assert all(len(label) <= AXIS_CELLS for label in labels)


def test_an_acknowledged_finding_steps_back(make_ui_state: MakeUiState) -> None:
    """Once acknowledged, the worst finding makes room for the next, and is counted."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_clip")
    run, view = ui.run, ui.view()
    assert run is not None and view is not None
    first = view.open_findings[0].finding
    ui.acknowledgements.acknowledge(run.path, first.rule, first.since.step, "seen")
    ui.invalidate()
    rows = drawn_text(ui, 140, 40)
    assert first.title not in rows[2]
    assert any(f"{len(view.open_findings)} findings, 1 acknowledged" in row for row in rows)


def test_the_head_of_the_list_names_the_order_whole_or_not(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Beside the heads of other columns there may be no room for it."""
    for name in ("ab", "cd"):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    ui.focus = "runs"
    screens = [drawn_text(ui, cells, 24) for cells in range(40, 141, 4)]
    heads = [row for rows in screens for row in rows if row.startswith(" Runs")]
    assert {"by severity" in head for head in heads} == {True, False}
    assert all("by severity" in head or " by" not in head for head in heads)


@pytest.mark.parametrize("size", [(100, 40), (140, 40), (200, 60)])
def test_the_list_of_crucial_values_holds_no_others(
    make_ui_state: MakeUiState, size: tuple[int, int]
) -> None:
    """However much room there is: a counter of updates and a total loss are in the charts."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    view = ui.view()
    assert view is not None
    rows = drawn_text(ui, *size)
    first = next(at for at, row in enumerate(rows) if "Crucial values" in row) + 1
    listed = rows[first : next(at for at in range(first, len(rows)) if "Charts" in rows[at])]
    crucial = {row.label for row in view.checklist if row.is_crucial}
    assert len(listed) >= 5
    assert all(any(f" {label} " in row for label in crucial) for row in listed)


def test_without_runs_no_key_is_named_that_does_nothing(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """There is nothing to zoom, compare or explain."""
    footer = drawn_text(make_ui_state(tmp_path), 140, 24)[-1]
    assert footer.split() == ["q", "quit", "?", "help"]


def test_a_side_pane_names_the_key_of_the_help(make_ui_state: MakeUiState) -> None:
    """It has no footer; the state of the run keeps its place."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    assert any(row.rstrip().endswith("? help") for row in drawn_text(ui, 40, 15))


def test_a_fix_that_is_cut_says_so(make_ui_state: MakeUiState) -> None:
    """By how much a setting is to be changed is part of the advice."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole_lr3e-2")
    (advice,) = [row for row in drawn_text(ui, 30, 12) if "lower learning_rate" in row]
    assert advice.rstrip().endswith("…")
