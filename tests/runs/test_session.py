"""One chain: a verdict depends on what the logs hold, not on how or when it was read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ppo_top.model import Severity
from ppo_top.rules.judge import Judge
from ppo_top.runs.run import Run
from tests.support.growing_logs import (
    JsonObject,
    WatchedDirectory,
    demo_runs,
    grow_logs,
    judged_objects,
    judged_rows,
)

DEMO_RUNS = demo_runs()


def whole(run: Path, folder: Path) -> list[JsonObject]:
    """What a run says when it is read at one stretch."""
    shutil.copytree(run, folder / run.name)
    watched = WatchedDirectory(folder)
    watched.finish()
    return judged_objects(watched.session)


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_live_says_what_check_says(run: Path, seed: int, tmp_path: Path) -> None:
    """Files that grow side by side, cut anywhere, end in the same metrics and findings."""
    watched = WatchedDirectory(tmp_path / "live")
    for _ in grow_logs(run, tmp_path / "live" / run.name, pieces=12, seed=seed):
        watched.read_and_judge()
    watched.finish()
    assert judged_objects(watched.session) == whole(run, tmp_path / "whole")


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_a_tool_that_starts_in_mid_run_says_the_same(run: Path, tmp_path: Path) -> None:
    """Whether it watched from the first byte or came late makes no difference."""
    pieces = grow_logs(run, tmp_path / "live" / run.name, pieces=6, seed=3)
    for _ in range(9):
        next(pieces, None)
    watched = WatchedDirectory(tmp_path / "live")
    for _ in pieces:
        watched.read_and_judge()
    watched.finish()
    assert judged_objects(watched.session) == whole(run, tmp_path / "whole")


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_a_slow_judge_says_what_a_fast_one_says(run: Path, tmp_path: Path) -> None:
    """Judging in the smallest slices ends in the same findings."""
    shutil.copytree(run, tmp_path / "slow" / run.name)
    watched = WatchedDirectory(tmp_path / "slow")
    while (piece := watched.follower.poll(limit=50, budget=0.0)).more or piece.updates:
        watched.session.apply(piece.updates)
        watched.session.judge(budget=0.0)
    watched.finish()
    assert judged_objects(watched.session) == whole(run, tmp_path / "whole")


def findings_as_of(run: Run, row: int) -> set[tuple[str, Severity]]:
    """Which rules were open at a row, and how severely."""
    return {
        (finding.rule, severity)
        for finding in run.findings
        if (severity := finding.severity_at(row)) is not None
    }


@pytest.mark.parametrize(
    "run", [r for r in DEMO_RUNS if "nan" not in r.name], ids=lambda run: run.name
)
def test_a_row_shows_what_was_known_when_it_was_the_newest(run: Path, tmp_path: Path) -> None:
    """Seen at any row, a whole run shows the findings that a live judge had open at that row."""
    shutil.copytree(run, tmp_path / run.name)
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (only,) = watched.session.runs.values()
    live = Judge(only.profile)
    for row in judged_rows(only):
        if row.mark.row in only.timeline.restarts:
            live.restart()
        live.add_row(row)
        open_now = {(each.rule, each.severity) for each in live.findings if each.cleared is None}
        assert findings_as_of(only, row.mark.row) == open_now


def test_a_run_that_is_gone_is_forgotten(tmp_path: Path) -> None:
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
