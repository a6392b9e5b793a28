"""Reading everything once: the report does not depend on how many points are held at a time."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.model import Severity
from ppo_top.output.answers import answer_parts, answer_text
from ppo_top.output.check import judge_paths
from ppo_top.output.reports.overview import JSON, OutputStyle
from ppo_top.runs import session as sessions
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.load import load_session
from ppo_top.runs.run import Run
from ppo_top.settings import Settings
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.screens import write_unhealthy_run


def report_text(folder: Path, as_object: bool) -> str:
    """What `check` prints of a folder."""
    style = JSON if as_object else OutputStyle(verbose=True)
    answer = judge_paths([folder], Settings(), None, answer_parts(style), io.StringIO())
    assert answer is not None
    return re.sub(r"no new data for [\w ]+", "", answer_text(answer, Severity.CRIT, style))


@pytest.mark.parametrize("as_object", [False, True])
def test_the_report_does_not_depend_on_the_memory_limit(
    as_object: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run is reported when it is complete; then its points may be dropped."""
    usual = report_text(DEMO_LOGS_FOLDER, as_object)
    monkeypatch.setattr(sessions, "MAX_HELD_POINTS", 1)
    assert report_text(DEMO_LOGS_FOLDER, as_object) == usual
    if as_object:
        assert len(json.loads(usual)["runs"]) >= 9


def has_all_points(run: Run) -> bool:
    """Whether a report could be made of all points."""
    return run.is_whole and run.held_points == run.points


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of points held stays near the limit, however many runs there are."""
    monkeypatch.setattr(sessions, "MAX_HELD_POINTS", 30_000)
    for number in range(12):
        write_unhealthy_run(tmp_path / f"run{number:02}x" / "progress.csv", updates=2_000)
    reported: list[str] = []

    def add(run: Run, is_whole: bool) -> None:
        assert is_whole
        reported.append(run.id)

    session = load_session([tmp_path], Settings(), io.StringIO(), Reports(has_all_points, add))
    assert session is not None
    assert len(reported) == len(set(reported)) >= 8
    assert sum(run.held_points for run in session.runs.values()) < 60_000
    assert all(run.findings for run in session.runs.values())


def test_many_small_runs_do_not_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is reported once while it has all its points; of most only the findings are kept."""
    monkeypatch.setattr(sessions, "MAX_HELD_POINTS", 5 * sessions.RUN_COST_POINTS)
    for number in range(12):
        write_unhealthy_run(tmp_path / f"run{number:02}" / "progress.csv", updates=40 + number)
    reported: list[str] = []

    def add(run: Run, is_whole: bool) -> None:
        assert is_whole
        reported.append(run.id)

    session = load_session([tmp_path], Settings(), io.StringIO(), Reports(has_all_points, add))
    assert session is not None
    assert sorted(reported) == sorted(session.runs)
    assert all(run.findings for run in session.runs.values())
    released = [run for run in session.runs.values() if run.is_partial]
    assert len(released) >= 7
    assert not any(run.held_points or len(run.timeline) for run in released)


def late_file(folder: Path) -> Callable[[Run], None]:
    """A callback that writes another log of each run when that is reported."""

    def report(run: Run) -> None:
        log = folder / run.id / "console.log"
        if not log.exists():
            log.write_text("Traceback (most recent call last):\nRuntimeError: CUDA error\n")

    return report


def test_a_log_that_appears_late_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another log of a run whose points were already dropped is still judged with it."""
    monkeypatch.setattr(sessions, "MAX_HELD_POINTS", 1)
    for name in ("first", "second", "third"):
        write_unhealthy_run(tmp_path / name / "progress.csv", updates=2_000)
    session = load_session([tmp_path], Settings(), io.StringIO(), Reports(late_file(tmp_path)))
    assert session is not None
    assert len(session.runs) == 3
    assert all(run.judged and not run.awaiting_reread for run in session.runs.values())
