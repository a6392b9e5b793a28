"""A verdict depends on what the logs hold, not on how or when they were read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import Severity
from ppo_top.rules.judge import Judge
from ppo_top.runs import log_assignment
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.growing_logs import (
    JsonObject,
    WatchedDirectory,
    demo_runs,
    grow_logs,
    judged_objects,
    judged_rows,
)
from tests.support.screens import write_unhealthy_run

DEMO_RUNS = demo_runs()


def expected_objects(run: Path, folder: Path) -> list[JsonObject]:
    """The report on a run that is read in one go."""
    shutil.copytree(run, folder / run.name)
    watched = WatchedDirectory(folder)
    watched.finish()
    return judged_objects(watched.session)


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_live_and_check_agree(run: Path, tmp_path: Path) -> None:
    """Files that grow in turn, split anywhere, lead to the same metrics and findings."""
    watched = WatchedDirectory(tmp_path / "live")
    for _ in grow_logs(run, tmp_path / "live" / run.name, parts=9, seed=1):
        watched.read_and_judge()
    watched.finish()
    assert judged_objects(watched.session) == expected_objects(run, tmp_path / "expected")


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_starting_in_the_middle_of_a_run_changes_nothing(run: Path, tmp_path: Path) -> None:
    """A late start leads to the same report as watching from the first byte."""
    growth = grow_logs(run, tmp_path / "live" / run.name, parts=6, seed=3)
    for _ in range(9):
        next(growth, None)
    watched = WatchedDirectory(tmp_path / "live")
    for _ in growth:
        watched.read_and_judge()
    watched.finish()
    assert judged_objects(watched.session) == expected_objects(run, tmp_path / "expected")


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_judging_in_small_slices_changes_nothing(run: Path, tmp_path: Path) -> None:
    """The smallest time budget leads to the same findings."""
    shutil.copytree(run, tmp_path / "slow" / run.name)
    watched = WatchedDirectory(tmp_path / "slow")
    while (polled := watched.follower.poll(limit=50, budget=0.0)).more or polled.updates:
        watched.session.apply(polled)
        watched.session.judge(budget=0.0)
    watched.finish()
    assert judged_objects(watched.session) == expected_objects(run, tmp_path / "expected")


def findings_as_of(run: Run, row: int) -> set[tuple[str, Severity]]:
    """The open rules at a row, with their severities."""
    return {
        (finding.rule, severity)
        for finding in run.findings
        if (severity := finding.severity_at(row)) is not None
    }


@pytest.mark.parametrize(
    "run", [r for r in DEMO_RUNS if "nan" not in r.name], ids=lambda run: run.name
)
def test_each_row_shows_the_findings_of_its_time(run: Path, tmp_path: Path) -> None:
    """At any row, a complete run shows the findings that a live judge had open there.

    At the last row the judge knows that it is complete, if the log says so.
    """
    shutil.copytree(run, tmp_path / run.name)
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (only,) = watched.session.runs.values()
    live = Judge(only.profile)
    for row in judged_rows(only):
        if row.mark.row in only.timeline.restarts:
            live.restart()
        live.add_row(row)
        if row.mark.row + 1 == len(only.timeline) and only.first_ended() is not None:
            live.end_run()
        open_now = {(each.rule, each.severity) for each in live.findings if each.cleared is None}
        assert findings_as_of(only, row.mark.row) == open_now


def test_what_waits_to_become_runs_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While there is more to read it is seldom asked which logs are one run, unless much waits."""
    monkeypatch.setattr(log_assignment, "GROUPING_PAUSE_FACTOR", 1e9)
    monkeypatch.setattr(log_assignment, "MAX_UNGROUPED_POINTS", 300)
    for number in range(5):
        write_unhealthy_run(tmp_path / str(number) / "progress.csv")  # 160 points
    follower, session = Follower([tmp_path], once=True), Session(Settings())
    known = []
    for _ in range(4):
        result = follower.poll(1)
        assert result.more
        session.apply(result)
        known.append(len(session.runs))
    follower.close()
    assert known == [1, 1, 3, 3]


def test_a_deleted_run_is_forgotten(tmp_path: Path) -> None:
    """A deleted run leaves the list; one that comes back is read from the start."""
    shutil.copytree(DEMO_RUNS[0], tmp_path / "a")
    watched = WatchedDirectory(tmp_path)
    watched.read_and_judge()
    assert len(watched.session.runs) == 1
    shutil.rmtree(tmp_path / "a")
    watched.read_and_judge()
    assert not watched.session.runs
    shutil.copytree(DEMO_RUNS[0], tmp_path / "a")
    watched.finish()
    assert len(watched.session.runs) == 1
