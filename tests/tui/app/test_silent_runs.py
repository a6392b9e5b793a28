"""A training that ends while it is watched, and after which no log grows any more."""

from __future__ import annotations

import random
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ppo_top.runs import judge_run
from tests.support.running_app import app_over, screen, until
from tests.support.screens import PROGRESS_CSV_HEADER

DAYS_S = 2 * 86_400.0


def write_rising_log(log: Path) -> None:
    """A training that was stopped on its way up."""
    draw, rows = random.Random(3), [PROGRESS_CSV_HEADER]
    rows += [f"{n * 2048},{20 + 4 * n + draw.gauss(0, 2)},0.008,0.1" for n in range(1, 61)]
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(rows) + "\n")


async def test_what_only_an_end_shows_is_found_without_new_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a program that is started later finds it: the clock alone tells that the run is over."""
    write_rising_log(tmp_path / "a" / "progress.csv")
    app = app_over(tmp_path)
    async with app.run_test(size=(140, 40)):
        await until(lambda: app.judging.all_judged)
        (run,) = app.ui_state.session.runs.values()
        assert [finding.rule for finding in run.findings] == []
        later = SimpleNamespace(time=lambda: time.time() + DAYS_S)
        monkeypatch.setattr(judge_run, "time", later)
        app.ui_state.session.queue._next_look_at_ends = 0.0
        app.judging.check_states()
        await until(lambda: "Stopped while still improving" in screen(app))
