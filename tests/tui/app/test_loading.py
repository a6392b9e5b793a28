"""While runs wait to be judged the screen says so: till then its counts are too low."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.files.update import PollResult
from ppo_top.tui.app.judging_loop import MANY_RUNS
from ppo_top.tui.app.screen import PollArrived
from ppo_top.tui.state.snapshot import LoadingProgress
from tests.support.running_app import app_over, screen, until
from tests.support.screens import write_unhealthy_run


async def test_the_bar_goes_when_all_runs_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the last byte was read."""
    for name in ("a", "b"):
        write_unhealthy_run(tmp_path / name / "progress.csv")
    app = app_over(tmp_path)
    async with app.run_test(size=(140, 40)):
        await until(lambda: app.judging.all_judged)
        monkeypatch.setattr(app.judging.pipeline, "step", lambda *_: False)  # something is left
        app.ui_state.loading = LoadingProgress(10**8, 10**8)
        app.judging._judge()
        assert app.ui_state.loading == LoadingProgress(10**8, 10**8, judged_runs=2, total_runs=2)
        await until(lambda: "verdicts 2 of 2" in screen(app))
        monkeypatch.undo()
        await until(lambda: app.ui_state.loading is None)
        await until(lambda: "verdicts" not in screen(app))


async def test_many_short_logs_are_worth_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read in a moment and judged for seconds; two of them need none."""
    for number in range(MANY_RUNS):
        write_unhealthy_run(tmp_path / f"run{number}" / "progress.csv")
    app = app_over(tmp_path)
    step = app.judging.pipeline.step
    monkeypatch.setattr(app.judging.pipeline, "step", lambda *_: False)  # something is left
    async with app.run_test(size=(140, 40)):
        await until(lambda: app.ui_state.loading is not None)
        assert app.ui_state.loading is not None
        assert app.ui_state.loading.total_runs == MANY_RUNS
        await until(lambda: f"verdicts 0 of {MANY_RUNS}" in screen(app))
        monkeypatch.setattr(app.judging.pipeline, "step", step)
        await until(lambda: app.ui_state.loading is None)


async def test_the_bar_stays_while_a_large_log_is_read_later(tmp_path: Path) -> None:
    """As when an old run is opened: what was read so far is judged at once, and more comes."""
    write_unhealthy_run(tmp_path / "a" / "progress.csv")
    app = app_over(tmp_path)
    async with app.run_test(size=(140, 40)):
        await until(lambda: app.judging.all_judged)
        app.on_poll_arrived(PollArrived(PollResult([], [], True, 10**6, 10**8)))
        assert app.ui_state.loading == LoadingProgress(10**6, 10**8, judged_runs=1, total_runs=1)
        await until(lambda: "1.0 of 100.0 MB" in screen(app))
        app.on_poll_arrived(PollArrived(PollResult([], [], False, 10**8, 10**8)))
        assert app.ui_state.loading is None
