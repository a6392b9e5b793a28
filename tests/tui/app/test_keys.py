"""Every key of the key table does in the running app what the table says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.app.screen import MainScreen
from ppo_top.tui.state.keys import BINDING_BY_KEY, KEY_GROUPS, KEYS, NEEDING_A_RUN, Key
from ppo_top.tui.state.line_input import KeyRepeat
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from tests.support.running_app import screen
from tests.support.screens import DEMO_LOGS, write_unhealthy_run
from tests.tui.conftest import MakeUiState

NEWEST_ROW = 39
"""The newest row of the runs below."""


@dataclass
class KeyCase:
    """Keys pressed before, and what holds after the key."""

    before: tuple[str, ...]
    holds: Callable[[RecordingApp], bool]


def layer(name: str) -> KeyCase:
    """The key opens a layer."""
    return KeyCase(
        (), lambda app: app.ui_state.overlay == name and name in screen(app).splitlines()[0]
    )


def row(expected: int | None, *before: str) -> KeyCase:
    """The key moves the cursor to a row."""
    return KeyCase(before, lambda app: app.ui_state.cursor.row == expected)


def hides(section: str) -> KeyCase:
    """The key hides a section."""
    return KeyCase((), lambda app: section in app.ui_state.hidden_sections)


KEY_CASES: dict[str, KeyCase] = {
    "quit": KeyCase((), lambda app: app.return_value == 0),
    "help": layer("help"),
    "filter": KeyCase(
        (), lambda app: app.ui_state.line_input is not None and "[2/2]" in screen(app)
    ),
    "zoom": layer("zoom"),
    "compare": layer("compare"),
    "explain": layer("explain"),
    "findings": layer("findings"),
    "step_back": row(NEWEST_ROW - 1),
    "step_forward": row(1, "home"),
    "next_finding": KeyCase(("home",), lambda app: (app.ui_state.cursor.row or 0) >= 19),
    "go_to_alert": KeyCase((), lambda app: "No run has turned red" in app.ui_state.toast),
    "previous_finding": KeyCase((), lambda app: app.ui_state.cursor.row in range(19, NEWEST_ROW)),
    "pause": KeyCase(
        (), lambda app: app.ui_state.cursor.playing and app.ui_state.cursor.row is not None
    ),
    "faster": KeyCase((), lambda app: app.ui_state.cursor.speed == 100),
    "slower": KeyCase((), lambda app: app.ui_state.cursor.speed == 20),
    "first": row(0),
    "latest": row(None, "home"),
    "jump": KeyCase((), lambda app: "Go to step" in screen(app).splitlines()[-1]),
    "up": KeyCase(
        ("down",), lambda app: app.ui_state.concept == app.ui_state.selectable_concepts()[0]
    ),
    "down": KeyCase((), lambda app: app.ui_state.concept == app.ui_state.selectable_concepts()[1]),
    "switch_focus": KeyCase((), lambda app: app.ui_state.focus == "runs"),
    "page_up": KeyCase(("question_mark", "pagedown"), lambda app: app.ui_state.scroll == 0),
    "page_down": KeyCase(("question_mark",), lambda app: app.ui_state.scroll > 0),
    "back": KeyCase(("question_mark",), lambda app: app.ui_state.overlay == ""),
    "previous_run": KeyCase(("full_stop",), lambda app: chosen(app) == "omega"),
    "next_run": KeyCase((), lambda app: chosen(app) == "alpha"),
    "sort": KeyCase((), lambda app: "by name" in screen(app)),
    "write": KeyCase((), lambda app: "Enter opens it" in screen(app)),
    "copy": KeyCase(("enter",), lambda app: "40 points sent" in screen(app)),
    "go_to_error": KeyCase((), lambda app: "No error in the console output" in screen(app)),
    "toggle_compared": KeyCase((), lambda app: "chosen for comparing" in screen(app)),
    "zoom_in": KeyCase((), lambda app: app.ui_state.chart.rows_shown == 20),
    "zoom_out": KeyCase(("i", "i"), lambda app: app.ui_state.chart.rows_shown == 20),
    "pin": KeyCase((), lambda app: "pinned to the front" in screen(app)),
    "fold": KeyCase((), lambda app: not app.ui_state.run_list.fold_seeds),
    "toggle_runs": hides("runs"),
    "toggle_finding": hides("finding"),
    "toggle_values": hides("values"),
    "toggle_panels": hides("panels"),
    "console": layer("console"),
    "config": layer("config"),
    "axis": KeyCase(("enter",), lambda app: app.ui_state.chart.axis == "time"),
    "log_scale": KeyCase(("enter",), lambda app: app.ui_state.chart.log_scale),
    "more_smooth": KeyCase(("enter",), lambda app: app.ui_state.chart.smoothing > 0),
    "less_smooth": KeyCase(("enter", "plus"), lambda app: app.ui_state.chart.smoothing == 0),
    "no_smooth": KeyCase(("enter", "plus", "plus"), lambda app: app.ui_state.chart.smoothing == 0),
    "left": KeyCase(("enter",), lambda app: app.ui_state.chart.cursor_row == NEWEST_ROW - 1),
    "right": KeyCase(
        ("enter", "left", "left"), lambda app: app.ui_state.chart.cursor_row == NEWEST_ROW - 1
    ),
    "stack": KeyCase(("enter",), lambda app: app.ui_state.chart.stacked),
    "acknowledge": KeyCase((), lambda app: "Acknowledge" in screen(app).splitlines()[-1]),
    "mute": KeyCase((), lambda app: "Mute" in screen(app).splitlines()[-1]),
    "bell": KeyCase((), lambda app: not app.notifier.bell),
    "theme": KeyCase((), lambda app: app.palette_name == "light"),
    "redraw": KeyCase((), lambda app: "ppo-top" in screen(app)),
    "palette": KeyCase((), lambda app: type(app.screen).__name__ == "CommandPalette"),
    "suspend": KeyCase((), lambda app: "suspended" in app.calls),
}


def chosen(app: PpoTop) -> str:
    """The name of the chosen run."""
    return app.ui_state.run.name if app.ui_state.run is not None else ""


class RecordingApp(PpoTop):
    """The app, noting what would leave the test."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.calls: list[str] = []

    def action_suspend_process(self) -> None:
        """Note that the process would be suspended."""
        self.calls.append("suspended")


@pytest.fixture
def app(
    tmp_path: Path, make_ui_state: MakeUiState, monkeypatch: pytest.MonkeyPatch
) -> RecordingApp:
    """The app over a red and a healthy run."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    write_unhealthy_run(tmp_path / "runs" / "alpha" / "progress.csv", broken_from=99)
    write_unhealthy_run(tmp_path / "runs" / "omega" / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    ui.choose_run(next(run.id for run in ui.session.runs.values() if run.name == "omega"))
    ui.chosen_by_user = True
    return RecordingApp(ui, None, theme="dark")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        await pilot.press(key)
    await pilot.pause()


@pytest.mark.parametrize(("key", "name"), [(key, name) for key in KEYS for name in key.keys])
async def test_each_key_does_what_the_table_says(app: RecordingApp, key: Key, name: str) -> None:
    """The key, pressed in the running app, changes what its line of the table promises."""
    case = KEY_CASES[key.action]
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        app.drawing.draw()
        await press(pilot, *case.before)
        await press(pilot, name)
        assert case.holds(app)


async def test_the_last_page_of_charts_is_left_by_one_key(make_ui_state: MakeUiState) -> None:
    """However often the key for the next page was pressed there."""
    app = PpoTop(make_ui_state(DEMO_LOGS / "trl_grpo"), None, theme="dark")
    async with app.run_test(size=(100, 30)) as pilot:
        await press(pilot, *["pagedown"] * 9)
        assert "Charts, page 5 of 5" in screen(app)
        await press(pilot, "pageup")
        assert "Charts, page 4 of 5" in screen(app)


def test_no_key_stands_twice_and_every_action_is_tried() -> None:
    """A key name means one thing; each action has its case."""
    names = [name for key in KEYS for name in key.keys]
    assert len(names) == len(set(names)) == len(BINDING_BY_KEY)
    assert {key.action for key in KEYS} == set(KEY_CASES)
    assert {key.group for key in KEYS} == set(KEY_GROUPS)


async def test_the_filter_narrows_while_it_is_typed(app: RecordingApp) -> None:
    """Typing `omg` would match nothing, `om` one run; Enter keeps it, Esc in the end clears it."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "slash", "o", "m")
        assert "[1/2]" in screen(app)
        await press(pilot, "g")
        assert "no matching run" in screen(app)
        await press(pilot, "backspace", "enter")
        assert app.ui_state.run_list.filter == "om"
        assert "1 of 2 shown · in all ✗ 1 crit" in screen(app)  # the one that is hidden, too
        assert "/om by severity" in screen(app)
        await press(pilot, "slash", "x", "escape")
        assert app.ui_state.run_list.filter == "om"
        await press(pilot, "escape")
        assert app.ui_state.run_list.filter == ""


async def test_tab_filters_metrics_in_place_of_runs(app: RecordingApp) -> None:
    """A regular expression with a live count; charts and selection keep to it until Esc.

    What was typed before Tab filters them, too: only the list that it was typed for was wrong.
    """
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "slash", "k", "l", "tab", "vertical_line", "c", "l", "i", "p")
        assert app.ui_state.run_list.filter == ""
        assert "[2/3]" in screen(app).splitlines()[-1]
        assert "2 of 3 match" in screen(app)
        await press(pilot, "enter", "enter", "down")
        assert app.ui_state.overlay == "zoom"
        assert set(app.ui_state.selectable_concepts()) == {"approx_kl", "clip_fraction"}
        await press(pilot, "escape", "escape")
        assert "match" not in screen(app)
        assert len(app.ui_state.selectable_concepts()) > 2


async def test_a_filter_that_stands_already_is_not_taken_along(app: RecordingApp) -> None:
    """Tab leaves what was typed long ago where it belongs."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "slash", "o", "m", "enter", "slash", "tab", "k", "l", "enter")
        assert (app.ui_state.run_list.filter, app.ui_state.metrics.filter) == ("om", "kl")


@pytest.mark.parametrize(
    ("size", "key", "said"),
    [
        ((140, 40), "1", "Run list hidden: 1 to show again"),
        ((60, 20), "1", "Run list: not shown here; Tab shows it"),
        ((60, 20), "2", "Verdict hidden"),
        ((40, 15), "3", "Crucial values: not hidden at this size"),
    ],
)
async def test_a_section_is_hidden_only_where_it_is_shown(
    app: RecordingApp, size: tuple[int, int], key: str, said: str
) -> None:
    """What a small screen leaves out is not said to be hidden by a key."""
    async with app.run_test(size=size) as pilot:
        await press(pilot, key)
        assert said in screen(app)
        assert bool(app.ui_state.hidden_sections) is ("not" not in said)


async def test_without_a_run_keys_of_a_run_say_so(make_ui_state: MakeUiState) -> None:
    """They do not pretend to hide a chart, or to change the speed of nothing."""
    app = PpoTop(make_ui_state(), None)
    keys = [key for key in KEYS if key.action in NEEDING_A_RUN]
    async with app.run_test(size=(100, 30)) as pilot:
        for key in keys:
            await press(pilot, key.keys[0])
            assert "No run yet" in screen(app), key
            assert app.ui_state.overlay == ""
            app.ui_state.toast = ""
        await press(pilot, "question_mark", "end")
        assert "No run yet" not in screen(app)
    assert len(keys) > 30


async def test_an_unfinished_expression_is_looked_for_as_it_is(app: RecordingApp) -> None:
    """While `(` is typed nothing breaks, and it is said why nothing is found."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "enter", "slash", "left_parenthesis")
        assert "[0/3, no regex: taken literally]" in screen(app).splitlines()[-1]
        await press(pilot, "escape")
        assert app.ui_state.overlay == "zoom"


async def test_a_pinned_chart_is_the_first_one(app: RecordingApp) -> None:
    """Where there is room for one chart only, it is that one; the key takes it back."""

    def charts() -> list[str]:
        return [
            hit.target
            for hit in app.drawing.click_regions
            if hit.kind == "concept" and hit.height > 2
        ]

    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "down", "down")
        assert charts()[0] == "reward_mean"
        pinned = app.ui_state.concept
        await press(pilot, "z")
        assert charts()[0] == pinned != "reward_mean"
        assert "◆" in screen(app)
        await press(pilot, "z")
        assert charts()[0] == "reward_mean"


async def test_the_wheel_zooms_the_charts_around_the_pointer(app: RecordingApp) -> None:
    """All curves show half of the rows, the place under the mouse stays; elsewhere it moves."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot)
        app.drawing.draw()
        chart = next(
            hit for hit in app.drawing.click_regions if hit.kind == "concept" and hit.height > 1
        )
        line = next(
            hit for hit in app.drawing.click_regions if hit.kind == "concept" and hit.height == 1
        )
        left = SimpleNamespace(x=chart.x, y=chart.y + 1)
        app.on_mouse_scroll_up(left)  # type: ignore[arg-type]
        assert app.ui_state.chart.window(NEWEST_ROW) == (0, 19)
        app.on_mouse_scroll_up(left)  # type: ignore[arg-type]
        app.drawing.draw()
        assert "Charts, step 2.0k to 20k (o: more)" in screen(app)
        before = app.ui_state.selected_concept()
        app.on_mouse_scroll_down(SimpleNamespace(x=line.x, y=line.y))  # type: ignore[arg-type]
        assert app.ui_state.selected_concept() != before
        app.on_mouse_scroll_down(left)  # type: ignore[arg-type]
        app.on_mouse_scroll_down(left)  # type: ignore[arg-type]
        assert app.ui_state.chart.window(NEWEST_ROW) is None
        await press(pilot, "o")
        assert "All rows are shown" in screen(app)


async def test_the_window_follows_the_chart_s_cursor(app: RecordingApp) -> None:
    """Beyond its edge the curves move on; Esc shows all rows again."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "enter", "i", "i")
        assert app.ui_state.chart.window(NEWEST_ROW) == (30, 39)
        await press(pilot, *["left"] * 12)
        window = app.ui_state.chart.window(NEWEST_ROW)
        row = app.ui_state.chart.cursor_row
        assert window is not None and row is not None and window.first == row < 30
        await press(pilot, "escape", "escape")
        assert app.ui_state.chart.window(NEWEST_ROW) is None


async def test_a_text_is_searched(app: RecordingApp) -> None:
    """The first match is shown while it is typed; n and N go round; Esc forgets it."""
    async with app.run_test(size=(80, 20)) as pilot:
        await press(pilot, "question_mark", "slash", "f", "i", "n", "d", "i", "n", "g")
        assert "1 of" in screen(app).splitlines()[0]
        await press(pilot, "enter")
        first = app.ui_state.scroll
        await press(pilot, "n")
        assert "2 of" in screen(app).splitlines()[0]
        await press(pilot, "N", "N")
        last = app.ui_state.scroll
        assert last > first
        assert app.ui_state.cursor.row is None  # no time travel meanwhile
        await press(pilot, "escape", "n")
        assert not app.ui_state.search.pattern


async def test_jumping_to_a_share(app: RecordingApp) -> None:
    """`g 50%` moves the cursor to the middle of the run, and the screen shows that row."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "g", "2", "5", "percent_sign", "enter")
        assert app.ui_state.cursor.row == 9  # the tenth of forty
        assert "Healthy" in screen(app) or "Warming up" in screen(app)
        assert "past" in screen(app).splitlines()[0]


async def test_acknowledging_a_finding_calms_the_list(app: RecordingApp) -> None:
    """With its finding acknowledged a run is no longer red in the list, and the reason is kept."""
    async with app.run_test(size=(140, 40)) as pilot:
        for _ in range(6):
            view = app.ui_state.view()
            assert view is not None
            await press(pilot, "m", "o", "k", "enter")
            if app.ui_state.verdict_of(app.ui_state.run) != "crit":  # type: ignore[arg-type]
                break
        notes = take_snapshot(app.ui_state).acknowledged.values()
        assert {(note.word, note.reason) for note in notes} == {("muted", "ok")}
        assert app.ui_state.verdict_of(app.ui_state.run) != "crit"  # type: ignore[arg-type]
        assert "✗" not in screen(app).splitlines()[0]


def test_a_held_key_accelerates() -> None:
    """Thirty presses in quick succession go farther than thirty rows; after a pause it is one."""
    now = [0.0]
    held = KeyRepeat(clock=lambda: now[0])
    steps = []
    for _ in range(30):
        now[0] += 0.03
        steps.append(held.step_count("right_square_bracket"))
    assert steps[0] == 1
    assert sum(steps) > 60
    now[0] += 1
    assert held.step_count("right_square_bracket") == 1


async def test_the_command_palette_covers_the_screen(app: RecordingApp) -> None:
    """While it is open neither keys nor the wheel reach the runs."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "ctrl+p")
        before = app.ui_state.concept
        app.on_mouse_scroll_down(SimpleNamespace(x=1, y=1))  # type: ignore[arg-type]
        await press(pilot, "s", "t", "a", "c", "k")
        assert app.ui_state.concept == before and not app.ui_state.chart.stacked
        await press(pilot, "escape")
        assert isinstance(app.screen, MainScreen)


async def test_the_command_palette_goes_to_runs_and_metrics(app: RecordingApp) -> None:
    """Each has a command of its own, beside those of the keys."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot)
        commands = {each.title: each for each in app.get_system_commands(app.screen)}
        commands["Run alpha"].callback()
        assert chosen(app) == "alpha"
        commands["Metric clip fraction"].callback()
        assert app.ui_state.selected_concept() == "clip_fraction"
        assert all(key.description in commands for key in KEYS if key.action != "palette")


async def test_the_mouse_can_do_what_the_keys_do(app: RecordingApp) -> None:
    """A click chooses a run, a value or a row of the timeline; a second one zooms."""
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        app.drawing.draw()
        hits = {(hit.kind, hit.target): hit for hit in app.drawing.click_regions}
        other = next(
            hit
            for (what, _), hit in hits.items()
            if what == "run" and hit.target != app.ui_state.chosen_run_id
        )
        await pilot.click(offset=(other.x + 2, other.y))
        assert app.ui_state.chosen_run_id == other.target
        value = next(hit for hit in app.drawing.click_regions if hit.target == "clip_fraction")
        await pilot.click(offset=(value.x + 2, value.y))
        assert app.ui_state.concept == "clip_fraction"
        time = next(hit for hit in app.drawing.click_regions if hit.kind == "time")
        await pilot.click(offset=(time.x + time.width // 2, time.y))
        assert app.ui_state.cursor.row in range(15, 25)
        value = next(hit for hit in app.drawing.click_regions if hit.target == "clip_fraction")
        await pilot.click(offset=(value.x + 2, value.y))
        assert app.ui_state.overlay == "zoom"


async def test_what_an_answer_has_done_is_said_as_long_as_what_a_key_has(sick: UiState) -> None:
    """The next look at the clock does not take it away."""
    app = PpoTop(sick, None)
    async with app.run_test(size=(40, 15)) as pilot:
        await pilot.press("m", "enter")
        app.judging.check_states()
        await pilot.pause()
        assert " Muted in this run: " in screen(app)
