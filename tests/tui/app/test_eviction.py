"""The screen over more runs than fit: only what is looked at is held whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui import Replay
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.state.comparison import MAX_GROUPS
from ppo_top.tui.state.replay_time import row_at
from ppo_top.tui.state.run_list import RunList
from ppo_top.tui.state.ui_state import MAX_RECENT_RUNS, UiState
from tests.support.running_app import screen, until
from tests.support.screens import write_unhealthy_run

RUN_NAMES = "abcdefghij"
RUNS, UPDATES = len(RUN_NAMES), 1_500


def make_app(folder: Path, replay: Replay | None = None) -> PpoTop:
    """The program over finished runs, with room for next to nothing."""
    hour_ago = time.time() - 3600
    for name in RUN_NAMES:
        log = folder / name / "progress.csv"
        write_unhealthy_run(log, updates=UPDATES, broken_from=UPDATES // 2)
        os.utime(log, (hour_ago, hour_ago))
    ui = UiState(
        session=Session(Settings(), max_points=1),
        acknowledgements=Acknowledgements(),
        replay=replay,
    )
    return PpoTop(ui, Follower([folder]))


async def test_evicted_runs_look_the_same_in_the_list(tmp_path: Path) -> None:
    """Step and newest reward do not depend on who was looked at, nor on when."""
    app = make_app(tmp_path)
    session = app.ui_state.session
    async with app.run_test(size=(120, 36)):
        await until(lambda: len(session.runs) == RUNS and app.judging.all_judged)
        await until(lambda: sum(run.is_whole for run in session.runs.values()) <= MAX_RECENT_RUNS)
        listed = {(each.reward, each.step) for each in RunList().listed_runs(session, time.time())}
    (row,) = listed  # the runs are alike
    assert all(row)


@pytest.mark.parametrize("replay", [None, Replay(paused=True)])
async def test_only_what_is_looked_at_is_held(tmp_path: Path, replay: Replay | None) -> None:
    """Every run gets its verdict; going to one brings all its rows back, and others go."""
    app = make_app(tmp_path, replay)
    session = app.ui_state.session
    async with app.run_test(size=(120, 36)) as pilot:
        await until(lambda: len(session.runs) == RUNS and app.judging.all_judged)
        others = [
            each
            for each in app.ui_state.listed_runs()
            if replay is None or each.id != app.ui_state.chosen_run_id
        ]
        assert {each.verdict for each in others} == {"crit"}  # a replay's own run is at its start
        assert sum(run.is_whole for run in session.runs.values()) <= MAX_RECENT_RUNS
        for _ in range(RUNS):
            await pilot.press("tab", "down")
            await until(lambda: app.ui_state.run is not None and app.ui_state.run.is_whole)
            run = app.ui_state.run
            assert run is not None
            assert run.held_points == run.points
            assert run.timeline.steps[700] == 701 * 2048
            await pilot.press("tab")
        await until(lambda: sum(run.is_whole for run in session.runs.values()) <= MAX_RECENT_RUNS)


async def test_a_held_up_thread_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Textual's timers for one call may never fire under load; judging and drawing go on."""

    class Lost:
        def stop(self) -> None:
            """There is nothing to stop."""

    monkeypatch.setattr(PpoTop, "set_timer", lambda *_, **__: Lost())
    app = make_app(tmp_path)
    async with app.run_test(size=(120, 36)):
        await until(lambda: app.judging.all_judged)
        await until(lambda: "10 stalled" in screen(app))
        assert all(run.judged for run in app.ui_state.session.runs.values())


async def test_compared_runs_are_fetched(tmp_path: Path) -> None:
    """Comparing needs the points of each; a curve appears when its run was read again."""
    app = make_app(tmp_path)
    session = app.ui_state.session
    async with app.run_test(size=(140, 60)) as pilot:
        await until(lambda: len(session.runs) == RUNS and app.judging.all_judged)
        await pilot.press("c")
        await until(lambda: sum(run.is_whole for run in session.runs.values()) >= MAX_GROUPS)
        await until(lambda: "loading" not in screen(app))
        assert f"of {RUNS} runs" in screen(app)
        assert screen(app).count("last ") == MAX_GROUPS
        await pilot.press("escape")
        await until(lambda: sum(run.is_whole for run in session.runs.values()) <= MAX_RECENT_RUNS)


def test_a_time_before_the_kept_rows_shows_the_last_row() -> None:
    """In a replay the list shows such a run as it ended, not as it began."""
    run = Run("r", "r", "", Settings())
    for row in range(200):
        run.timeline.steps.append(row)
        run.timeline.times.append(1.7e9 + row)
    assert row_at(run, 1.7e9 + 50.5) == 50
    run.timeline.drop_before(180)
    assert row_at(run, 1.7e9 + 50.5) is None
    assert row_at(run, 1.7e9 + 190.5) == 190
    assert row_at(run, 1.7e9 - 1.0) == -1
