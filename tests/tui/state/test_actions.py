"""Where the keys lead: back to where one came from, and never nowhere without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui import Replay
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.keys import KEYS
from ppo_top.tui.state.line_input import LineInput
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, drawn_text, write_unhealthy_run
from tests.tui.conftest import MakeUiState


@pytest.fixture(name="ui")
def two_runs(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """A run in trouble, selected, and a healthy one."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    write_unhealthy_run(tmp_path / "runs" / "well" / "progress.csv", broken_from=99)
    return make_ui_state(tmp_path / "runs")


def screen(ui: UiState, cells: int = 140, rows: int = 40) -> list[str]:
    """The lines of the whole screen."""
    return [plain_text(row) for row in draw_screen(ui, cells, rows).lines]


def press(ui: UiState, *actions: str) -> None:
    """Do the actions of some keys."""
    for action in actions:
        getattr(Actions(ui), f"do_{action}")()


def test_esc_goes_back_one_layer(ui: UiState) -> None:
    """From the chart to its explanation to the findings, and back the same way."""
    press(ui, "zoom", "explain", "findings")
    assert ui.overlay == "findings"
    shown = []
    for _ in range(3):
        press(ui, "back")
        shown.append(ui.overlay)
    assert shown == ["explain", "zoom", ""]


def test_the_same_key_closes_what_it_opened(ui: UiState) -> None:
    """And leads back to what was below."""
    press(ui, "zoom", "help", "help")
    assert ui.overlay == "zoom"
    press(ui, "findings", "zoom", "back")
    assert ui.overlay in ("zoom", "")


def test_a_layer_is_there_once(ui: UiState) -> None:
    """Going in circles does not pile layers up."""
    press(ui, "zoom", "findings", "explain", "findings", "explain", "back", "back", "back")
    assert ui.overlay == ""


@pytest.mark.parametrize(
    "action", ["axis", "log_scale", "more_smooth", "less_smooth", "no_smooth", "stack"]
)
def test_a_key_of_the_chart_says_so_elsewhere(ui: UiState, action: str) -> None:
    """It changes nothing that cannot be seen."""
    before = (ui.chart.axis, ui.chart.log_scale, ui.chart.smoothing, ui.chart.stacked)
    press(ui, action)
    assert "Enter opens it" in screen(ui)[-1]
    press(ui, "zoom")
    assert (ui.chart.axis, ui.chart.log_scale, ui.chart.smoothing, ui.chart.stacked) == before


@pytest.mark.parametrize("action", ["log_scale", "more_smooth", "less_smooth", "stack"])
def test_a_comparison_has_only_the_keys_that_change_it(ui: UiState, action: str) -> None:
    """Its footer offers no other, and nothing waits hidden for the next chart."""
    press(ui, "compare")
    (key,) = (each.label for each in KEYS if each.action == action)
    assert f" {key} " not in screen(ui)[-1]
    press(ui, action)
    assert "Enter opens it" in screen(ui)[-1]
    press(ui, "axis", "left")
    assert ui.chart == ChartOptions(axis="time")
    assert ui.cursor.row == 38


@pytest.mark.parametrize("section", ["runs", "finding", "values", "panels"])
def test_a_hidden_part_says_how_to_get_it_back(ui: UiState, section: str) -> None:
    """On the main page; in a chart the key does nothing but say so."""
    press(ui, "zoom", f"toggle_{section}")
    assert "main page" in screen(ui)[-1]
    press(ui, "back", f"toggle_{section}")
    assert "to show again" in screen(ui)[-1]
    assert ("Tab to show a full table" in screen(ui)[-1]) == (section == "runs")
    ui.toast = ""
    if section != "runs":
        assert any("shows them" in row or "shows it" in row for row in screen(ui))
    press(ui, f"toggle_{section}")
    assert not ui.hidden_sections


@pytest.mark.parametrize(("cells", "rows"), [(200, 60), (140, 40), (80, 24), (60, 20), (40, 15)])
def test_the_past_cannot_be_missed(ui: UiState, cells: int, rows: int) -> None:
    """A whole line says so and how to get back; the run is not called live there."""
    ui.cursors[ui.chosen_run_id] = Cursor(row=11)
    text = screen(ui, cells, rows)
    assert any("IN THE PAST: step 24,576" in row for row in text)
    assert not any("● live" in row for row in text if "sick" in row)
    press(ui, "latest")
    assert not any("IN THE PAST" in row for row in screen(ui, cells, rows))


@pytest.mark.parametrize(("cells", "rows"), [(200, 60), (140, 40), (80, 24), (60, 20), (40, 15)])
def test_it_is_clear_which_run_is_shown(ui: UiState, cells: int, rows: int) -> None:
    """Its name, and which of how many."""
    text = "\n".join(drawn_text(ui, cells, rows))
    assert "sick" in text
    assert "run 1/2" in text


@pytest.mark.parametrize(("cells", "rows"), [(140, 40), (60, 20), (40, 15), (30, 8), (30, 4)])
def test_a_paused_replay_says_that_it_is_one(ui: UiState, cells: int, rows: int) -> None:
    """At every size, with the place: a live run looks the same otherwise."""
    ui.replay = Replay(start="50%", paused=True)
    ui.start_replay()
    text = "\n".join(screen(ui, cells, rows))
    assert "paused" in text
    assert "50 %" in text


def test_the_end_of_the_list_says_so(ui: UiState) -> None:
    """No key does nothing without a word."""
    press(ui, "next_run")
    assert not ui.toast
    press(ui, "next_run")
    assert "last run" in screen(ui)[-1]
    press(ui, "previous_run", "previous_run")
    assert "first run" in screen(ui)[-1]


def test_the_footer_has_the_keys_of_the_place(ui: UiState) -> None:
    """The way to the other runs on the main page, the chart's keys in the chart."""
    assert "Tab runs" in screen(ui)[-1] and ". next run" in screen(ui)[-1]
    press(ui, "zoom")
    assert "Esc back" in screen(ui)[-1] and "l log" in screen(ui)[-1]
    press(ui, "back", "switch_focus")
    assert "⏎ open" in screen(ui)[-1] and "Tab metrics" in screen(ui)[-1]


def test_a_page_is_what_the_screen_shows(ui: UiState) -> None:
    """PgDn moves a text by its own height."""
    ui.page_lines = 12
    press(ui, "help", "page_down")
    assert ui.scroll == 12


@pytest.mark.parametrize(("cells", "rows"), [(140, 40), (80, 24), (40, 15)])
def test_a_run_that_turned_red_is_announced_until_seen(ui: UiState, cells: int, rows: int) -> None:
    """By name, at every size; a key goes there, and looking at it by any other way counts too."""
    sick, well = (
        next(r.id for r in ui.session.runs.values() if r.name == n) for n in ("sick", "well")
    )
    ui.choose_run(well)
    ui.alerts[sick] = "sick: Update KL too high"
    assert "✗ sick: Update" in screen(ui, cells, rows)[-1]
    press(ui, "go_to_alert")
    assert ui.chosen_run_id == sick
    assert "sick: Update" not in screen(ui, cells, rows)[-1]
    press(ui, "go_to_alert")
    assert "No run" in screen(ui, cells, rows)[-1]


def test_a_finding_is_chosen_and_acknowledged_in_the_list_of_them(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Down goes to the next one, in view at any height; the key acts on it and takes it back."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_lr")
    press(ui, "findings")
    view = ui.view()
    assert view is not None and len(view.open_findings) > 1
    second = view.open_findings[1].finding
    press(ui, "down")
    for rows in (40, 12):
        block = draw_screen(ui, 80, rows)
        (marked,) = [row for row in block.lines if "+selected" in str([style for _, style in row])]
        assert second.title in plain_text(marked)
    press(ui, "mute")
    assert ui.line_input is not None
    ui.line_input.press_key("enter", None)
    assert set(take_snapshot(ui).acknowledged) == {second.rule}
    assert any("muted: no reason" in row for row in screen(ui, 80, 200))
    ui.finding_at = len(view.open_findings) - 1  # muted findings come last
    press(ui, "acknowledge")
    assert not take_snapshot(ui).acknowledged
    assert ui.toast.startswith("Open again: ")


def test_an_acknowledgement_belongs_to_the_run_and_not_to_how_its_path_was_given(
    tmp_path: Path, make_ui_state: MakeUiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`runs/sick` of one project is none of another; by its whole path it is the same run."""
    for project in ("one", "other"):
        write_unhealthy_run(tmp_path / project / "runs" / "sick" / "progress.csv")
    monkeypatch.chdir(tmp_path / "one")
    ui = make_ui_state(Path("runs"))
    press(ui, "acknowledge")
    assert ui.line_input is not None
    ui.line_input.press_key("enter", None)
    assert take_snapshot(ui).acknowledged
    assert take_snapshot(make_ui_state(tmp_path / "one" / "runs")).acknowledged
    monkeypatch.chdir(tmp_path / "other")
    assert not take_snapshot(make_ui_state(Path("runs"))).acknowledged


@pytest.mark.parametrize(("cells", "rows"), [(140, 40), (80, 24), (40, 15), (30, 12)])
@pytest.mark.parametrize(("action", "verb"), [("mute", "Mute"), ("acknowledge", "Acknowledge")])
def test_a_question_names_the_finding_and_shows_what_is_typed(
    tmp_path: Path, make_ui_state: MakeUiState, cells: int, rows: int, action: str, verb: str
) -> None:
    """In a narrow pane too; a long answer shows its end, and the question stays."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_lr")
    view = ui.view()
    assert view is not None
    title = view.open_findings[0].finding.title
    press(ui, action)
    typed = ui.line_input
    assert isinstance(typed, LineInput)
    begin = f" {verb} {title}, reason: "
    shown = screen(ui, cells, rows)[-1]
    assert shown.startswith(begin if cells >= 80 else begin[: len(verb) + 5])
    for letter in "seen":
        typed.press_key(letter, letter)
    shown = screen(ui, cells, rows)[-1]
    assert ": seen▏" in shown
    assert shown.startswith(begin[: len(verb) + 5])
    typed.set_text("seen before, nothing to be done about it " * 4)
    assert screen(ui, cells, rows)[-1].rstrip().endswith("it ▏")


@pytest.mark.parametrize(("cells", "rows"), [(140, 40), (80, 24), (40, 15)])
def test_it_is_said_first_what_was_done_and_then_to_which_finding(
    tmp_path: Path, make_ui_state: MakeUiState, cells: int, rows: int
) -> None:
    """A narrow pane cuts off the end of a title, not what the key has done."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_lr")
    press(ui, "mute")
    assert ui.line_input is not None
    ui.line_input.press_key("enter", None)
    ui.line_input = None
    assert screen(ui, cells, rows)[-1].startswith(" Muted in this run: ")


def test_a_note_that_cannot_be_written_holds_until_one_quits(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """A home directory that is read-only costs the memory of it, not the key; once it can be
    written, both are.
    """
    ui, home = make_ui_state(DEMO_LOGS / "torch_cartpole_lr"), tmp_path / "state"
    home.write_text("")
    for says in ("Acknowledged until you quit: ", "Acknowledged: "):
        press(ui, "acknowledge")
        assert ui.line_input is not None
        ui.line_input.press_key("enter", None)
        assert ui.toast.startswith(says) and "[Errno" not in ui.toast
        if home.is_file():
            home.unlink()
    assert len(Acknowledgements().notes) == 2


def test_the_share_at_which_a_finding_was_detected_is_that_of_the_timeline(ui: UiState) -> None:
    """Going there, footer and timeline say the same."""
    press(ui, "first", "next_finding")
    said = ui.toast.rsplit(", ", 1)[1].removesuffix(" of the run")
    ui.toast = ""
    assert any(row.rstrip().endswith(f"· {said}") for row in screen(ui))


def test_the_other_direction_is_named_only_where_a_finding_lies(ui: UiState) -> None:
    """At the last finding there are earlier ones; a run with a single one has no other."""
    run = ui.run
    assert run is not None
    ui.cursor.go_to(run.timeline, max(finding.opened.row for finding in run.findings))
    press(ui, "next_finding")
    assert ui.toast == "No later finding (N: previous)"
    del run.findings[1:]
    ui.cursor.go_to(run.timeline, run.findings[0].opened.row)
    press(ui, "previous_finding")
    assert ui.toast == "No earlier finding"


def test_marks_in_ascii_mean_one_thing() -> None:
    """The mark of a value to watch is not the arrow of one off the scale."""
    signs = [ASCII_SYMBOLS.above_scale, ASCII_SYMBOLS.below_scale, *ASCII_SYMBOLS.status.values()]
    assert len(set(signs)) == len(signs)
