"""Eviction: runs out of view lose their points, and are read again when they are needed."""

from __future__ import annotations

import io
import shutil
from array import array
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import Finding, Mark, Points, Series
from ppo_top.runs.rows.timeline_column import TimelineColumn
from ppo_top.runs.rows.track import MIN_TRACK_POINTS, Track
from ppo_top.runs.run import KEEP_ROWS
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.views.run_view import make_run_view
from tests.support.growing_logs import (
    WatchedDirectory,
    demo_runs,
    drain,
    grow_logs,
    judged_objects,
)

DEMO_RUNS = demo_runs()
CONSOLE_BYTES = b"".join(
    b"step %d | reward %d | kl 0.01\n" % (row, row % 9) for row in range(3_000)
)


class EvictingDirectory(WatchedDirectory):
    """Keeps as few points as possible, and reads again what is in view."""

    def __init__(self, target: Path) -> None:
        super().__init__(target)
        self.session.max_points = 0
        self.reread_count = 0

    def read_and_judge(self, *in_view: str) -> None:
        """Judge, evict, and read the runs in view again."""
        super().read_and_judge()
        self.session.free_memory(in_view)
        while keys := self.session.sources_to_reread(in_view):
            self.reread_count += 1
            self.follower.reread(keys)
            super().read_and_judge()

    def judge_all_runs(self) -> None:
        """Bring every run into view."""
        self.read_and_judge(*self.session.runs)


def finding_content(finding: Finding) -> tuple[object, ...]:
    """The content of a finding, for comparison."""
    return (finding.rule, finding.since, finding.opened, finding.severity, finding.cleared,
            finding.message, finding.evidence)  # fmt: skip


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_an_evicted_run_is_complete_when_read_again(run: Path, tmp_path: Path) -> None:
    """Evicted after every poll and then read again, a run gives the report of `check`."""
    watched = EvictingDirectory(tmp_path / "live")
    for _ in grow_logs(run, tmp_path / "live" / run.name, parts=12, seed=5):
        watched.read_and_judge()
    watched.judge_all_runs()
    watched.finish()
    assert all(each.is_whole for each in watched.session.runs.values())
    expected = WatchedDirectory(tmp_path / "live")
    expected.finish()
    assert judged_objects(watched.session) == judged_objects(expected.session)


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_verdict_and_findings_outlive_the_points(run: Path, tmp_path: Path) -> None:
    """They do not depend on how many points are held."""
    shutil.copytree(run, tmp_path / "logs" / run.name)
    watched = WatchedDirectory(tmp_path / "logs")
    watched.read_and_judge()
    before = {
        each.id: (
            make_run_view(each).verdict,
            make_run_view(each).progress,
            list(map(finding_content, each.findings)),
        )
        for each in watched.session.runs.values()
    }
    rows = {each.id: len(each.timeline) for each in watched.session.runs.values()}
    held = {each.id: each.held_points for each in watched.session.runs.values()}
    watched.session.max_points = 0
    watched.session.free_memory()
    for each in watched.session.runs.values():
        shown = make_run_view(each)
        assert (shown.verdict, shown.progress, list(map(finding_content, each.findings))) == before[
            each.id
        ]
        assert len(each.timeline) == rows[each.id]
        assert each.held_points < held[each.id] or held[each.id] < 4_000
    watched.finish()


def test_new_rows_are_judged_without_reading_again(tmp_path: Path) -> None:
    """The judge of an evicted run keeps what it needs."""
    log = tmp_path / "runs" / "progress.csv"
    log.parent.mkdir()
    watched = EvictingDirectory(log.parent)
    with open(log, "w") as file:
        file.write("time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/loss\n")
        for row in range(2_000):
            file.write(f"{row * 2048},{10 + row % 7},0.01,{0.1 * (row % 5)}\n")
            if row % 100 == 99:
                file.flush()
                watched.read_and_judge()
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    assert watched.reread_count == 0
    assert len(run.timeline) == 2_000
    assert run.held_points < 4_000
    assert run.timeline.steps[-1] == 1_999 * 2048
    watched.judge_all_runs()
    assert watched.reread_count == 1
    assert run.is_whole
    assert list(run.timeline.steps) == [row * 2048 for row in range(2_000)]
    watched.finish()


def test_a_run_keeps_its_verdict_while_it_is_read_again(tmp_path: Path) -> None:
    """The old evaluation is shown until the new one has caught up."""
    shutil.copytree(DEMO_RUNS[0], tmp_path / "logs" / DEMO_RUNS[0].name)
    watched = WatchedDirectory(tmp_path / "logs")
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    rows, verdict = len(run.timeline), make_run_view(run).verdict
    watched.session.max_points = 0
    watched.session.free_memory()
    watched.follower.reread(watched.session.sources_to_reread([run.id]))
    while (polled := watched.follower.poll(limit=20, budget=0.0)).more or polled.updates:
        watched.session.apply(polled)
        watched.session.judge(budget=0.0, first=run.id)
        assert len(run.timeline) == rows
        assert make_run_view(run).verdict == verdict
    watched.session.judge()
    assert run.is_whole
    watched.finish()


def test_the_points_of_a_pipe_are_kept() -> None:
    """They cannot be read again."""
    session = Session(Settings(), max_points=0)
    follower = Follower([], stdin=io.BytesIO(CONSOLE_BYTES))
    drain(follower, session)
    session.judge()
    (run,) = session.runs.values()
    session.free_memory()
    assert run.is_whole
    assert run.held_points == run.points > 0
    follower.close()


def test_a_deleted_source_is_not_waited_for(tmp_path: Path) -> None:
    """The remaining logs of the run are read again and judged."""
    run = next(each for each in DEMO_RUNS if len(list(each.glob("*"))) > 2)
    logs = tmp_path / "logs"
    shutil.copytree(run, logs / run.name)
    watched = EvictingDirectory(logs)
    watched.read_and_judge()
    first, *_ = sorted(key for each in watched.session.runs.values() for key in each.sources)
    (logs / first).unlink()
    watched.read_and_judge()
    watched.judge_all_runs()
    (found,) = watched.session.runs.values()
    assert found.is_whole
    assert found.judged
    assert not found.awaiting_reread
    assert len(found.timeline)
    watched.finish()


def test_indices_of_a_column_do_not_change() -> None:
    """The remaining elements keep their indices; the first element is remembered."""
    column: TimelineColumn[int] = TimelineColumn("q")
    for number in range(100):
        column.append(number * 10)
    column.drop_before(90)
    assert (len(column), column[0], column[95], column[-1]) == (100, 0, 950, 990)
    assert list(column[-3:]) == [970, 980, 990]
    assert column[50] == 900  # the oldest one left
    column.append(1000)
    column.truncate(100)
    assert len(column) == 100
    column.drop_before(10)
    assert column[91] == 910


def test_a_track_keeps_a_few_points_of_a_rare_metric() -> None:
    """An evaluation every hundred updates keeps its newest value and a few before it."""
    track = Track("eval_reward_mean", "eval/mean_reward", "a")
    for row in range(0, 5_000, 100):
        track.append(Mark(row, row, 0.0), float(row))
    track.drop_before(5_000 - KEEP_ROWS)
    assert len(track) == MIN_TRACK_POINTS
    assert track.values[-1] == 4_900.0


def test_the_length_of_a_series_includes_dropped_points() -> None:
    """Its length is that of the log; the newest point always stays."""
    series = Series("x")
    series.extend(Points("x", array("q", range(50)), array("d", range(50)), array("d", range(50))))
    series.drop_before(40)
    assert (len(series), series.steps[0], series.dropped) == (50, 40, 40)
    series.drop_before(50)
    assert (len(series), list(series.steps)) == (50, [49])
