"""The screen over runs that an earlier session judged: shown at once, read when opened."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.runs.memory import run_memory
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.state.ui_state import MAX_RECENT_RUNS, UiState
from tests.support.remembered import NAMES, finished_runs, opened_files
from tests.support.running_app import app_over, screen, until
from tests.support.screens import read_session, write_unhealthy_run

RUNS = 3 * len(NAMES)
CHOSEN = f"b/{NAMES[0]}"


def make_app(folder: Path) -> PpoTop:
    """The program over some runs, as the command line makes it."""
    memory = run_memory([folder], Settings())
    ui = UiState(
        session=Session(Settings(), memory=memory), acknowledgements=Acknowledgements([folder])
    )
    return PpoTop(ui, Follower([folder], memory=memory))


def screen_without_clock(app: PpoTop) -> str:
    """What is on the canvas, without the clock at the right of its first line."""
    first, *others = screen(app).splitlines()
    return "\n".join([first[:60], *others])


def choose(app: PpoTop, run: str) -> None:
    """Go to a run, as a user does."""
    app.ui_state.chosen_by_user = True
    app.ui_state.choose_run(run)


def is_read(run: Run) -> bool:
    """Whether all of a run is here."""
    return run.is_whole and run.is_settled and run.held_points == run.points


async def test_remembered_runs_are_shown_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second session looks like the first; only runs that were in view are read."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "runs"
    for name in "abc":
        finished_runs(folder / name)
    app = make_app(folder)
    runs = app.ui_state.session.runs
    async with app.run_test(size=(120, 40)):
        await until(lambda: len(runs) == RUNS and all(run.saved for run in runs.values()))
        choose(app, CHOSEN)
        app.drawing.draw()
        await until(lambda: is_read(runs[CHOSEN]))
        app.drawing.draw()
        first = screen_without_clock(app)
    app = make_app(folder)
    runs = app.ui_state.session.runs
    with opened_files() as opened:
        async with app.run_test(size=(120, 40)):
            await until(lambda: app.judging.all_judged and len(runs) == RUNS)
            choose(app, CHOSEN)
            app.drawing.draw()
            await until(lambda: is_read(runs[CHOSEN]))
            app.drawing.draw()
            assert screen_without_clock(app) == first
            viewed = [runs[each] for each in app.ui_state.recent_run_ids]
            logs = {str(log.source.path) for run in viewed for log in run.sources.values()}
            assert opened <= logs
            assert len(viewed) <= MAX_RECENT_RUNS < RUNS


async def test_what_happened_since_the_last_session_is_told_until_a_key_is_pressed(
    tmp_path: Path,
) -> None:
    """That all runs are read and judged is no look at them."""
    write_unhealthy_run(tmp_path / "a" / "progress.csv")
    app = app_over(tmp_path)
    (run_id,) = (run.id for run in read_session([tmp_path]).runs.values())
    hours_ago = {"at": time.time() - 7200, "runs": {run_id: ["a", "healthy", "live"]}}
    app.ui_state.absence.restore(hours_ago)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.judging.all_judged)
        app.drawing.draw()
        assert "1 turned red" in screen_without_clock(app).splitlines()[-1]
        await pilot.press("down", "down")
        await until(lambda: "turned red" not in screen_without_clock(app))
