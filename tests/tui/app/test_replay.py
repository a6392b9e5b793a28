"""Replay: the same screen, moved by the log's own clock through the same chain."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import Severity, State
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui import Replay
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.draw.timeline_bar import timeline_line
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import make_run_view
from tests.support.running_app import screen
from tests.support.screens import DEMO_LOGS, FakeClock, drawn_text, write_unhealthy_run
from tests.tui.conftest import MakeUiState


def replaying(path: Path, replay: Replay) -> PpoTop:
    """The app over some logs, with a follower of its own."""
    ui = UiState(
        session=Session(Settings()),
        acknowledgements=Acknowledgements(),
        replay=replay,
        clock=FakeClock(),
    )
    return PpoTop(ui, Follower([path]), theme="dark")


async def until(app: PpoTop, words: str) -> None:
    """Wait until some words are on the screen."""
    async with asyncio.timeout(60):
        while words not in screen(app):
            await asyncio.sleep(0.02)


async def test_it_plays_from_the_start_and_reports_findings(tmp_path: Path) -> None:
    """From a healthy first update through red at the right one to the last."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    app = replaying(tmp_path / "runs", Replay(speed=20.0))
    async with app.run_test(size=(120, 34)):
        await until(app, "▶ 20x")
        assert (app.ui_state.cursor.row or 0) < 20
        await until(app, "detected at step")
        await until(app, "Replay finished: Space restart")
        assert app.ui_state.cursor.playing is False
        assert "latest" in screen(app).splitlines()[-2]
        assert "✗" in screen(app).splitlines()[2]


async def test_nothing_of_a_run_is_shown_before_its_replay_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not how it ended, from which the screen would jump back to the first update."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    app = replaying(tmp_path / "runs", Replay(speed=5.0))
    monkeypatch.setattr(app, "_begin_replay", lambda: None)  # as while a long log is read
    async with app.run_test(size=(120, 34)) as pilot:
        await until(app, "Reading the log")
        async with asyncio.timeout(60):
            while app.ui_state.run is None or not app.ui_state.run.judged:
                await pilot.pause()
        app.drawing.draw()
        assert "Reading the log" in screen(app) and "reward" not in screen(app)
        monkeypatch.undo()
        await until(app, "▶ 5x")


async def test_it_can_begin_anywhere_and_paused(tmp_path: Path) -> None:
    """`--from 50% --paused` stands in the middle and waits for the space bar."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    app = replaying(tmp_path / "runs", Replay(speed=5.0, start="50%", paused=True))
    async with app.run_test(size=(120, 34)) as pilot:
        await until(app, "paused")
        assert app.ui_state.cursor.row == 19  # the twentieth of forty
        await pilot.press("space")
        await until(app, "▶ 5x")


@pytest.mark.parametrize("row", [0, 10, 19, 21, 30, 39])
def test_the_screen_at_a_cursor_is_that_of_a_log_ending_there(
    tmp_path: Path, make_ui_state: MakeUiState, row: int
) -> None:
    """Verdict and values at an update are those of a log that ended there."""
    whole = tmp_path / "whole" / "sick" / "progress.csv"
    part = tmp_path / "part" / "sick" / "progress.csv"
    write_unhealthy_run(whole)
    part.parent.mkdir(parents=True)
    part.write_text("".join(whole.read_text().splitlines(keepends=True)[: row + 2]))
    ui = make_ui_state(tmp_path / "whole")
    ui.cursor.row = row
    there, then = ui.view(), make_ui_state(tmp_path / "part").view()
    assert there is not None and then is not None
    assert (there.verdict, there.headline) == (then.verdict, then.headline)
    assert [(r.concept, r.status, r.text) for r in there.checklist] == [
        (r.concept, r.status, r.text) for r in then.checklist
    ]


def test_of_several_runs_the_one_with_a_story_is_shown(
    tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """Not the one that was red from its beginning, nor the healthy one."""
    for name, broken in (("always-bad", 1), ("good-then-bad", 18), ("good", 99)):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv", broken_from=broken)
    ui = make_ui_state(tmp_path / "runs", replay=Replay())
    assert ui.run is not None and ui.run.name == "good-then-bad"


def test_the_past_of_a_live_run_shows_later_marks_and_a_replay_does_not(sick: UiState) -> None:
    """Looking back, the timeline still shows what came; a replay keeps it for later."""
    sick.cursor.row = 5
    assert "✗" in drawn_text(sick, 120, 34)[-2]
    sick.cursor.replay = True
    assert "✗" not in drawn_text(sick, 120, 34)[-2]
    run = sick.run
    assert run is not None and make_run_view(run, 5).verdict != "crit"


def test_a_replay_marks_a_finding_as_severe_as_it_was_then(make_ui_state: MakeUiState) -> None:
    """One that gets worse later has its first mark on the timeline until then."""
    ui = make_ui_state(DEMO_LOGS, replay=Replay())
    worsened = [
        (run, finding)
        for run in ui.session.runs.values()
        for finding in run.findings
        if len(finding.changes) > 1 and finding.changes[1].mark.row > finding.opened.row
    ]
    assert worsened
    for run, finding in worsened:
        ui.choose_run(run.id)
        ui.start_replay()
        row = ui.cursor.row = finding.changes[1].mark.row - 1
        snap = take_snapshot(ui)
        assert snap.view is not None
        styles = {style for _, style in timeline_line(snap, snap.view, len(run.timeline), 400)}
        changes = (change for each in run.findings for change in each.changes)
        known = {change.severity.word for change in changes if change.mark.row <= row}
        assert styles & {each.word for each in Severity} <= known


def test_the_other_runs_are_shown_as_they_were_at_that_time(make_ui_state: MakeUiState) -> None:
    """By the clock: what is over by then has its verdict, what has not begun has none."""
    names = ("torch_cartpole_nan", "torch_cartpole_lr", "torch_cartpole_critic")
    ui = make_ui_state(
        *(DEMO_LOGS / name for name in names), replay=Replay(run="torch_cartpole_lr")
    )
    ui.start_replay()
    assert ui.run is not None and ui.run.name == "torch_cartpole_lr"
    ui.cursor.row = 2
    listed = {each.name: (each.verdict, each.state) for each in ui.listed_runs()}
    assert listed["torch_cartpole_nan"] == ("crit", State.DIED)
    assert listed["torch_cartpole_critic"] == ("unjudged", State.STARTING)
    assert listed["torch_cartpole_lr"][1] is State.LIVE
    assert listed["torch_cartpole_lr"][0] != "crit"
    assert "at replay time" in "\n".join(drawn_text(ui, 140, 40))
    ui.cursor.row = len(ui.run.timeline) - 1
    assert {each.name: each.verdict for each in ui.listed_runs()}["torch_cartpole_lr"] == "crit"


def test_looking_back_on_a_live_run_leaves_the_list_as_it_is(sick: UiState) -> None:
    """Time travel concerns the chosen run; the list goes on telling how things are."""
    sick.cursor.row = 3
    assert [each.verdict for each in sick.listed_runs()] == ["crit"]


async def test_the_demo_plays_its_runs_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are shown with their verdicts; no path of the installation is."""
    monkeypatch.setattr("ppo_top.tui.state.playback.NEXT_RUN_S", 0.01)
    for name in ("first", "second"):
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv")
    app = replaying(tmp_path / "runs", Replay(speed=100.0, one_by_one=True, title="demo"))
    async with app.run_test(size=(120, 34)):
        await until(app, "Replay finished")
        await until(app, "second · ")
        assert app.ui_state.run is not None
        listed = {each.name: each.verdict for each in app.ui_state.listed_runs()}
        assert listed["first"] == "crit"
