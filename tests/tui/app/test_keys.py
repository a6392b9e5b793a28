"""Every key of the key table does in the running app what the table says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.app.screen import Front
from ppo_top.tui.graphics.styled_text import plain
from ppo_top.tui.state.keys import BY_KEY, GROUPS, KEYS, Key, table
from ppo_top.tui.state.line_input import Held
from tests.support.screens import write_sick
from tests.tui.conftest import MakeDesk

LAST = 39
"""The newest row of the runs below."""


@dataclass
class Case:
    """Keys pressed before, and what holds after the key."""

    before: tuple[str, ...]
    holds: Callable[[PpoTop], bool]


def layer(name: str) -> Case:
    """The key opens a layer."""
    return Case((), lambda app: app.desk.layer == name and name in screen(app).splitlines()[0])


def row(expected: int | None, *before: str) -> Case:
    """The key moves the cursor to a row."""
    return Case(before, lambda app: app.desk.player.row == expected)


def hides(section: str) -> Case:
    """The key hides a section."""
    return Case((), lambda app: section in app.desk.hidden)


def screen(app: PpoTop) -> str:
    """What is on the canvas."""
    return "\n".join(plain(line) for line in app.canvas._rows)


CASES: dict[str, Case] = {
    "quit": Case((), lambda app: app.return_value == 0),
    "help": layer("help"),
    "filter": Case((), lambda app: app.desk.typing is not None and "[2/2]" in screen(app)),
    "zoom": layer("zoom"),
    "compare": layer("compare"),
    "explain": layer("explain"),
    "findings": layer("findings"),
    "back": row(LAST - 1),
    "forward": row(1, "home"),
    "next_red": Case(("home",), lambda app: (app.desk.player.row or 0) >= 19),
    "previous_red": Case((), lambda app: app.desk.player.row in range(19, LAST)),
    "pause": Case((), lambda app: app.desk.player.playing and app.desk.player.row is not None),
    "faster": Case((), lambda app: app.desk.player.speed == 100),
    "slower": Case((), lambda app: app.desk.player.speed == 20),
    "start": row(0),
    "live": row(None, "home"),
    "jump": Case((), lambda app: "go to step" in screen(app).splitlines()[-1]),
    "up": Case(("down",), lambda app: app.desk.concept == app.desk.concepts()[0]),
    "down": Case((), lambda app: app.desk.concept == app.desk.concepts()[1]),
    "next_pane": Case((), lambda app: app.desk.focus == "runs"),
    "page_up": Case(("question_mark", "pagedown"), lambda app: app.desk.scroll == 0),
    "page_down": Case(("question_mark",), lambda app: app.desk.scroll > 0),
    "out": Case(("question_mark",), lambda app: app.desk.layer == ""),
    "run_before": Case(("full_stop",), lambda app: chosen(app) == "omega"),
    "run_after": Case((), lambda app: chosen(app) == "alpha"),
    "fold": Case((), lambda app: not app.desk.roster.fold),
    "toggle_runs": hides("runs"),
    "toggle_finding": hides("finding"),
    "toggle_values": hides("values"),
    "toggle_panels": hides("panels"),
    "log": layer("log"),
    "config": layer("config"),
    "axis": Case(("enter",), lambda app: app.desk.chart.axis == "time"),
    "logarithm": Case(("enter",), lambda app: app.desk.chart.logarithm),
    "smoother": Case(("enter",), lambda app: app.desk.chart.smoothing > 0),
    "rougher": Case(("enter", "plus"), lambda app: app.desk.chart.smoothing == 0),
    "raw": Case(("enter", "plus", "plus"), lambda app: app.desk.chart.smoothing == 0),
    "left": Case(("enter",), lambda app: app.desk.chart.cursor == LAST - 1),
    "right": Case(("enter", "left", "left"), lambda app: app.desk.chart.cursor == LAST - 1),
    "stack": Case(("enter",), lambda app: app.desk.chart.stacked),
    "acknowledge": Case((), lambda app: "acknowledge" in screen(app).splitlines()[-1]),
    "mute": Case((), lambda app: "mute" in screen(app).splitlines()[-1]),
    "bell": Case((), lambda app: not app.notifier.bell),
    "theme": Case((), lambda app: app.palette_name == "light"),
    "redraw": Case((), lambda app: "ppo-top" in screen(app)),
    "palette": Case((), lambda app: type(app.screen).__name__ == "CommandPalette"),
    "suspend": Case((), lambda app: "suspended" in app.calls),
}


def chosen(app: PpoTop) -> str:
    """The name of the chosen run."""
    return app.desk.run.name if app.desk.run is not None else ""


class Watched(PpoTop):
    """The app, noting what would leave the test."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.calls: list[str] = []

    def action_suspend_process(self) -> None:
        """Note that the process would be suspended."""
        self.calls.append("suspended")


@pytest.fixture
def app(tmp_path: Path, make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """The app over a red and a healthy run."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    write_sick(tmp_path / "runs" / "alpha" / "progress.csv", broken_from=99)
    write_sick(tmp_path / "runs" / "omega" / "progress.csv")
    desk = make_desk(tmp_path / "runs")
    desk.choose(next(run.id for run in desk.session.runs.values() if run.name == "omega"))
    desk.picked = True
    return Watched(desk, None, theme="dark")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        await pilot.press(key)
    await pilot.pause()


@pytest.mark.parametrize(("key", "name"), [(key, name) for key in KEYS for name in key.keys])
async def test_each_key_does_what_the_table_says(app: Watched, key: Key, name: str) -> None:
    """The key, pressed in the running app, changes what its line of the table promises."""
    case = CASES[key.action]
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        app.draw()
        await press(pilot, *case.before)
        await press(pilot, name)
        assert case.holds(app)  # type: ignore[arg-type]


def test_no_key_stands_twice_and_every_action_is_tried() -> None:
    """A key name means one thing; each action has its case."""
    names = [name for key in KEYS for name in key.keys]
    assert len(names) == len(set(names)) == len(BY_KEY)
    assert {key.action for key in KEYS} == set(CASES)
    assert {key.group for key in KEYS} == set(GROUPS)


def test_the_table_for_the_readme_holds_every_key() -> None:
    """Each line of the key table is a row of the Markdown table."""
    written = table()
    assert all(f"`{key.shown}` | {key.text} |" in written for key in KEYS)


async def test_the_filter_narrows_while_it_is_typed(app: Watched) -> None:
    """Typing `omg` would match nothing, `om` one run; Enter keeps it, Esc in the end clears it."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "slash", "o", "m")
        assert "[1/2]" in screen(app)
        await press(pilot, "g")
        assert "no run matches" in screen(app)
        await press(pilot, "backspace", "enter")
        assert app.desk.roster.filter == "om"
        assert "1 of 2 shown" in screen(app)
        await press(pilot, "slash", "x", "escape")
        assert app.desk.roster.filter == "om"
        await press(pilot, "escape")
        assert app.desk.roster.filter == ""


async def test_jumping_to_a_share(app: Watched) -> None:
    """`g 50%` puts the cursor on the middle of the run, and the screen shows that moment."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "g", "2", "5", "percent_sign", "enter")
        assert app.desk.player.row == 10
        assert "Healthy" in screen(app) or "Warming up" in screen(app)
        assert "past" in screen(app).splitlines()[0]


async def test_acknowledging_a_finding_calms_the_list(app: Watched) -> None:
    """With its finding acknowledged a run is no longer red in the list, and the reason is kept."""
    async with app.run_test(size=(140, 40)) as pilot:
        for _ in range(6):
            view = app.desk.view()
            assert view is not None
            await press(pilot, "m", "o", "k", "enter")
            if app.desk.verdict_of(app.desk.run) != "crit":  # type: ignore[arg-type]
                break
        assert "ok" in app.desk.frame().acknowledged.values()
        assert app.desk.verdict_of(app.desk.run) != "crit"  # type: ignore[arg-type]
        assert "✗" not in screen(app).splitlines()[0]


def test_a_held_key_accelerates() -> None:
    """Thirty presses in quick succession go farther than thirty rows; after a pause it is one."""
    now = [0.0]
    held = Held(clock=lambda: now[0])
    steps = []
    for _ in range(30):
        now[0] += 0.03
        steps.append(held.times("right_square_bracket"))
    assert steps[0] == 1
    assert sum(steps) > 60
    now[0] += 1
    assert held.times("right_square_bracket") == 1


async def test_the_command_palette_covers_what_is_behind_it(app: Watched) -> None:
    """While it is open neither keys nor the wheel reach the runs."""
    async with app.run_test(size=(140, 40)) as pilot:
        await press(pilot, "ctrl+p")
        before = app.desk.concept
        app.on_mouse_scroll_down(None)  # type: ignore[arg-type]
        await press(pilot, "s", "t", "a", "c", "k")
        assert app.desk.concept == before and not app.desk.chart.stacked
        await press(pilot, "escape")
        assert isinstance(app.screen, Front)


async def test_the_mouse_can_do_what_the_keys_do(app: Watched) -> None:
    """A click chooses a run, a value, a place on the timeline; a second one zooms."""
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        app.draw()
        hits = {(hit.what, hit.arg): hit for hit in app.hits}
        other = next(
            hit for (what, _), hit in hits.items() if what == "run" and hit.arg != app.desk.chosen
        )
        await pilot.click(offset=(other.x + 2, other.y))
        assert app.desk.chosen == other.arg
        value = hits["concept", "clip_fraction"]
        await pilot.click(offset=(value.x + 2, value.y))
        assert app.desk.concept == "clip_fraction"
        time = next(hit for hit in app.hits if hit.what == "time")
        await pilot.click(offset=(time.x + time.width // 2, time.y))
        assert app.desk.player.row in range(15, 25)
        value = next(hit for hit in app.hits if hit.arg == "clip_fraction")
        await pilot.click(offset=(value.x + 2, value.y))
        assert app.desk.layer == "zoom"
