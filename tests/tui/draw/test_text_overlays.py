"""The text layers: findings with reasons, explanations, settings, console output."""

from __future__ import annotations

import re

import pytest

from ppo_top.tui.draw.overlays import picture
from ppo_top.tui.graphics.styled_text import plain
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.keys import KEYS
from ppo_top.tui.state.ui_state import Desk
from tests.support.screens import DEMOS, text
from tests.tui.conftest import MakeDesk


def layer(desk: Desk, name: str, cells: int = 110, rows: int = 60) -> str:
    """A layer as text, blanks and line breaks as one blank."""
    desk.layer = name
    return " ".join("\n".join(text(desk, cells, rows)).split())


def test_a_finding_card_holds_all_that_the_rule_says(sick: Desk) -> None:
    """Severity, title, when it fired, meaning, every evidence, cause and advice, in order."""
    view = sick.view()
    assert view is not None
    finding = view.open[0].finding
    shown = layer(sick, "findings")
    assert f"crit {finding.title}" in shown
    assert f"fired at step {finding.opened.step:,}" in shown
    for words in (*finding.evidence, *finding.causes, *finding.tries):
        plain = words.replace("<= ", "≤ ").replace(">= ", "≥ ").replace(" -> ", " → ")
        assert " ".join(plain.split()) in shown
    assert f"rule {finding.rule}" in shown


def test_a_calm_run_says_that_nothing_is_open(make_desk: MakeDesk) -> None:
    """No finding is a finding too."""
    desk = make_desk(DEMOS / "sb3_cartpole")
    assert "no finding is open at this moment" in layer(desk, "findings")


def test_an_explanation_names_value_range_and_whose_it_is(sick: Desk) -> None:
    """The chosen value: its tag, newest number, healthy range with its origin, its rules."""
    sick.concept = "approx_kl"
    shown = layer(sick, "explain")
    for words in (
        "logged as train/approx_kl",
        "now 0.2, healthy",
        "common practice for PPO",
        "kl-high",
    ):
        assert words in shown


def test_an_explanation_speaks_of_the_run_at_hand(make_desk: MakeDesk) -> None:
    """Its trainer's range and names alone, with its own values in the advice."""
    desk = make_desk(DEMOS / "torch_cartpole_lr")
    desk.concept = "approx_kl"
    shown = layer(desk, "explain")
    assert "lower learning_rate (0.03 now), by 3 to 10 times" in shown
    assert "custom PPO 0.001-0.02" in shown
    assert "TRL" not in shown and "RLlib" not in shown
    assert shown.count("approx KL") == 1


def test_the_configuration_lists_settings_and_files(make_desk: MakeDesk) -> None:
    """What the logs say of the run, and which logs they are."""
    shown = layer(make_desk(DEMOS / "trl_grpo"), "config", rows=300)
    assert "learning_rate" in shown
    assert "tfevents" in shown and "points" in shown


@pytest.mark.parametrize("demo", ["torch_cartpole_lr", "sb3_cartpole_lr3e-2"])
def test_a_replay_shows_the_console_up_to_the_cursor(make_desk: MakeDesk, demo: str) -> None:
    """Lines that came later are not there; at the end the last line is."""
    desk = make_desk(DEMOS / demo)
    run = desk.run
    assert run is not None
    last = next(source for source in run.sources.values() if source.lines).lines[-1].text
    whole = layer(desk, "log", 160, 3000)
    assert " ".join(last.split()) in whole
    Actions(desk).do_start()
    desk.player.replay = True
    assert len(layer(desk, "log", 160, 3000)) < len(whole) / 2


def test_the_console_opens_around_the_finding_that_was_jumped_to(make_desk: MakeDesk) -> None:
    """The line of that moment is marked in the middle, with what came before and after it."""
    desk = make_desk(DEMOS / "torch_cartpole_critic")
    actions = Actions(desk)
    actions.do_start()
    actions.do_next_red()
    assert desk.run is not None and desk.player.row is not None
    actions.do_log()
    rows = picture(desk, 100, 11).lines
    marked = [n for n, row in enumerate(rows) if any(style == "cursor" for _, style in row)]
    assert len(marked) == 1 and 3 <= marked[0] <= 8
    assert f"Iteration {desk.player.row + 1}/20" in plain(rows[marked[0]])
    assert f"Iteration {desk.player.row + 3}/20" in "".join(map(plain, rows))


def test_long_texts_scroll_and_stop_at_their_end(sick: Desk) -> None:
    """The help on a small screen: page by page, no farther than its last line."""
    actions = Actions(sick)
    actions.do_help()
    first = text(sick, 80, 20)
    for _ in range(30):
        actions.do_page_down()
        last = text(sick, 80, 20)
    assert first != last
    assert "seeds of one experiment" in last[-2]


@pytest.mark.parametrize("cells", [40, 60, 80, 120])
def test_the_help_is_whole_at_every_width(sick: Desk, cells: int) -> None:
    """What is too long for a line goes on below, and the way back stands apart from the name."""
    sick.layer = "help"
    shown = "\n".join(text(sick, cells, 400))
    words = " ".join(shown.split())
    assert all(key.text in words for key in KEYS)
    assert re.match(r" ppo-top help  \S+ +Esc back ", shown)
    assert "  Esc back" in shown.splitlines()[0]
