"""The text layers: findings with reasons, explanations, settings, console output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpus.table import CORPUS_RUNS
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.cursor import Cursor
from ppo_top.tui.state.keys import KEYS
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import DEMO_LOGS, drawn_text
from tests.tui.conftest import MakeUiState


def layer(ui: UiState, name: str, cells: int = 110, rows: int = 60) -> str:
    """A layer as text, blanks and line breaks as one blank."""
    ui.overlay = name
    return " ".join("\n".join(drawn_text(ui, cells, rows)).split())


def test_a_finding_card_holds_all_that_the_rule_says(sick: UiState) -> None:
    """Severity, title, when it fired, meaning, every evidence, cause and advice, in order."""
    view = sick.view()
    assert view is not None
    finding = view.open_findings[0].finding
    shown = layer(sick, "findings")
    assert f"crit {finding.title}" in shown
    assert f"detected at step {finding.opened.step:,}" in shown
    for words in (*finding.evidence, *finding.causes, *finding.remedies):
        plain = words.replace("<= ", "≤ ").replace(">= ", "≥ ").replace(" -> ", " → ")
        assert " ".join(plain.split()) in shown
    assert f"rule {finding.rule}" in shown


def test_a_healthy_run_has_no_open_findings(make_ui_state: MakeUiState) -> None:
    """No finding is a finding too."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    ui.cursors[ui.chosen_run_id] = Cursor(row=10)  # before it is solved
    assert "no open findings" in layer(ui, "findings")


def test_an_explanation_names_value_range_and_whose_it_is(sick: UiState) -> None:
    """The chosen value: its tag, newest number, healthy range with its origin, its rules."""
    sick.concept = "approx_kl"
    shown = layer(sick, "explain")
    for words in (
        "logged as train/approx_kl",
        "now 0.2, healthy",
        "common PPO practice",
        "kl-high",
    ):
        assert words in shown


def test_an_explanation_speaks_of_the_run_at_hand(make_ui_state: MakeUiState) -> None:
    """Its trainer's range and names alone, with its own values in the advice."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_lr")
    ui.concept = "approx_kl"
    shown = layer(ui, "explain")
    assert "lower learning_rate (0.03 now), by 3 to 10 times" in shown
    assert "custom PPO 0.001-0.02" in shown
    assert "TRL" not in shown and "RLlib" not in shown
    assert shown.count("approx KL") == 1


def test_an_explanation_says_when_a_schedule_had_the_value_that_was_set(
    make_ui_state: MakeUiState,
) -> None:
    """The learning rate decays from the one that was set: "now" would contradict the verdict."""
    ui = make_ui_state(DEMO_LOGS / "trl_grpo_lr1e-1")
    ui.concept = "reward_mean"
    assert "lower learning_rate (0.1 at first; TRL's default is 1e-6)" in layer(ui, "explain")
    ui.cursors[ui.chosen_run_id] = Cursor(row=0)
    assert "lower learning_rate (0.1 now; TRL's default is 1e-6)" in layer(ui, "explain")


def test_the_help_says_which_files_were_not_read(make_ui_state: MakeUiState) -> None:
    """Below keys and symbols, with nothing in names that a terminal obeys; else no word of it."""
    ui = make_ui_state(DEMO_LOGS / "sb3_cartpole")
    ui.session.passed_over = ()
    assert "Files not read" not in layer(ui, "help", rows=200)
    ui.session.passed_over = ("passed over a\x1b[31m.csv: empty",)
    shown = layer(ui, "help", rows=200)
    assert re.search(r"Files not read passed over a\S*\.csv: empty", shown)
    assert "\x1b" not in shown


def test_the_configuration_lists_settings_and_files(make_ui_state: MakeUiState) -> None:
    """Settings from the logs, and the logs themselves."""
    shown = layer(make_ui_state(DEMO_LOGS / "trl_grpo"), "config", rows=300)
    assert "learning_rate" in shown
    assert "tfevents" in shown and "points" in shown


@pytest.mark.parametrize("demo", ["torch_cartpole_lr", "sb3_cartpole_lr3e-2"])
def test_a_replay_shows_the_console_up_to_the_cursor(make_ui_state: MakeUiState, demo: str) -> None:
    """Lines that came later are not there; at the end the last line is."""
    ui = make_ui_state(DEMO_LOGS / demo)
    run = ui.run
    assert run is not None
    last = next(source for source in run.sources.values() if source.lines).lines[-1].text
    whole = layer(ui, "console", 160, 3000)
    assert " ".join(last.split()) in whole
    ui.cursor.go_to(run.timeline, 0)
    ui.cursor.replay = True
    assert len(layer(ui, "console", 160, 3000)) < len(whole) / 2


def test_the_console_of_a_rotated_log_ends_with_the_newest(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """The older file stands above, though its name comes later in the alphabet."""
    lines = (DEMO_LOGS / "sb3_cartpole" / "stdout.log").read_text().splitlines(True)
    (tmp_path / "train.log.1").write_text("".join(lines[: len(lines) // 2]))
    (tmp_path / "train.log").write_text("".join(lines[len(lines) // 2 :]))
    shown = layer(make_ui_state(tmp_path), "console", 160, 3000)
    assert shown.index(" train.log.1 ") < shown.index(" train.log |")
    assert shown.rindex("total_timesteps | 81920") > shown.index(" train.log |")


def test_the_console_opens_around_the_finding_that_was_jumped_to(
    make_ui_state: MakeUiState,
) -> None:
    """The line at the cursor is marked in the middle, between earlier and later lines."""
    ui = make_ui_state(DEMO_LOGS / "torch_cartpole_critic")
    actions = Actions(ui)
    actions.do_first()
    actions.do_next_finding()
    assert ui.run is not None and ui.cursor.row is not None
    actions.do_console()
    rows = draw_screen(ui, 100, 11).lines
    marked = [n for n, row in enumerate(rows) if any(style == "cursor" for _, style in row)]
    assert len(marked) == 1 and 3 <= marked[0] <= 8
    assert f"Iteration {ui.cursor.row + 1}/20" in plain_text(rows[marked[0]])
    assert f"Iteration {ui.cursor.row + 3}/20" in "".join(map(plain_text, rows))


def test_the_console_follows_its_newest_line_until_it_is_scrolled(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Scrolled, it stays where it is, also at its first line; End follows again."""
    log = tmp_path / "run" / "train.log"
    log.parent.mkdir()
    log.write_text("".join(f"Iteration {n}/99 | KL: 0.004 | reward: {n}\n" for n in range(1, 60)))
    ui = make_ui_state(tmp_path / "run")
    actions = Actions(ui)
    actions.do_console()

    def shown() -> str:
        block = draw_screen(ui, 100, 12)
        ui.scroll = block.scroll or 0  # as the app does
        return "\n".join(map(plain_text, block.lines))

    def grow(number: int) -> None:
        assert ui.run is not None
        (source,) = ui.run.sources.values()
        line = source.lines[-1]
        source.lines.append(line._replace(text=f"line {number}", step=None))

    assert "Iteration 59/99" in shown()
    grow(60)
    assert "line 60" in shown()
    for _ in range(10):
        actions.do_page_up()
        page = shown()
    assert "Iteration 1/99" in page
    grow(61)
    assert shown() == page.replace(" of 61 ", " of 62 ")
    actions.do_latest()
    assert "line 61" in shown()
    actions.do_first()
    assert shown() == page.replace(" of 61 ", " of 62 ")


def test_home_and_end_go_to_the_ends_of_a_text(sick: UiState) -> None:
    """And leave the time that the screen shows as it is."""
    actions = Actions(sick)
    actions.do_help()
    for act, words in ((actions.do_latest, "seeds of one experiment"), (actions.do_first, "Tab ")):
        act()
        block = draw_screen(sick, 60, 12)
        assert words in "".join(map(plain_text, block.lines))
        sick.scroll = block.scroll or 0
    assert sick.cursor.row is None


def test_a_key_goes_to_the_last_error_in_the_console(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """From the findings too; once more it goes to the error before, and Esc back."""
    lines = [f"Iteration {number}/90 | KL: 0.004 | reward: {number}" for number in range(1, 90)]
    lines[40] = "Traceback (most recent call last):"
    log = tmp_path / "run" / "train.log"
    log.parent.mkdir()
    log.write_text("\n".join([*lines, "RuntimeError: CUDA out of memory", *["bye"] * 90]) + "\n")
    ui = make_ui_state(tmp_path / "run")
    actions = Actions(ui)
    actions.do_findings()
    assert "E error" in drawn_text(ui, 100, 20)[-1]
    actions.do_go_to_error()
    shown = drawn_text(ui, 100, 20)
    assert "console 2 of 2 errors" in shown[0]
    assert any("CUDA out of memory" in row for row in shown)
    actions.do_go_to_error()
    shown = drawn_text(ui, 100, 20)
    assert "console 1 of 2 errors" in shown[0]
    assert any("Traceback" in row for row in shown)
    actions.do_back()
    assert ui.overlay == "findings"


def test_long_texts_scroll_and_stop_at_their_end(sick: UiState) -> None:
    """The help on a small screen: page by page, no farther than its last line."""
    actions = Actions(sick)
    actions.do_help()
    first = drawn_text(sick, 80, 20)
    for _ in range(30):
        actions.do_page_down()
        last = drawn_text(sick, 80, 20)
    assert first != last
    assert "seeds of one experiment" in last[-2]


@pytest.mark.parametrize("cells", [40, 60, 80, 120])
def test_the_help_is_whole_at_every_width(sick: UiState, cells: int) -> None:
    """What is too long for a line goes on below, and the way back stands apart from the name."""
    sick.overlay = "help"
    shown = "\n".join(drawn_text(sick, cells, 400))
    words = " ".join(shown.split())
    assert all(key.description in words for key in KEYS)
    assert re.match(r" ppo-top help  \S+ +Esc back ", shown)
    assert "  Esc back" in shown.splitlines()[0]


@pytest.fixture
def compared(make_ui_state: MakeUiState) -> UiState:
    """Three labelled runs of one task, of which two are chosen: they differ in learning rate."""
    names = ("cartpole-clip-off-s11", "cartpole-clip-off-lr-x10-s11", "cartpole-clip-tiny-s31")
    ui = make_ui_state(*(CORPUS_RUNS / name for name in names))
    for run in list(ui.session.runs.values())[:2]:
        ui.choose_run(run.id)
        Actions(ui).do_toggle_compared()
    return ui


def test_only_runs_that_were_chosen_are_compared(compared: UiState) -> None:
    """Two of three; none chosen any more means all again."""
    assert "2 runs chosen" not in compared.toast and "(2 runs;" in compared.toast
    compared.overlay = "compare"
    compared.concept = "reward_mean"
    text = "\n".join(drawn_text(compared, 140, 40))
    assert "of 2 runs" in text
    compared.overlay = ""
    Actions(compared).do_toggle_compared()
    compared.choose_run(compared.run_list.compared[0])
    Actions(compared).do_toggle_compared()
    compared.overlay = "compare"
    assert "of 3 runs" in "\n".join(drawn_text(compared, 140, 40))


def test_the_configuration_shows_how_chosen_runs_differ(compared: UiState) -> None:
    """Setting by setting, a column a run; what is equal is not among them."""
    compared.overlay = "config"
    lines = drawn_text(compared, 110, 60)
    first = next(number for number, row in enumerate(lines) if "Settings that differ" in row)
    end = next(number for number, row in enumerate(lines) if "Sources in" in row)
    table = {row.split()[0]: row.split()[1:] for row in lines[first + 2 : end] if row.strip()}
    assert len(table) >= 1 and all(len(set(values)) == 2 for values in table.values())
    assert set(table["learning_rate"]) == {"0.003", "0.0003"}
    compared.run_list.compared.clear()
    assert "Settings that differ" not in layer(compared, "config", rows=300)


def test_a_narrow_screen_shows_the_differences_that_fit(compared: UiState) -> None:
    """At forty cells, one run beside the selected one at most, and a word about the others."""
    compared.run_list.compared = list(compared.session.runs)
    compared.overlay = "config"
    text = "\n".join(drawn_text(compared, 40, 15))
    assert "more run" in text
