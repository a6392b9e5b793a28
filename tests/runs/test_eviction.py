"""Letting go: of runs that nobody looks at the points go, and come back when somebody does."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import Finding, Series
from ppo_top.runs.load import drain
from ppo_top.runs.run import KEEP_ROWS
from ppo_top.runs.session import Session
from ppo_top.runs.timeline import FEWEST, Column, Track
from ppo_top.settings import Settings
from ppo_top.views.run_view import look, verdict
from tests.support.growing_logs import Watched, demo_runs, growth, judged

RUNS = demo_runs()
PIPE = b"".join(b"step %d | reward %d | kl 0.01\n" % (row, row % 9) for row in range(3_000))


class Slim(Watched):
    """A watch that keeps next to nothing, packs every run, and reads again what is wanted."""

    def __init__(self, target: Path) -> None:
        super().__init__(target)
        self.session.most_points = 0
        self.asked = 0

    def look(self, *looked: str) -> None:
        """Judge, let go, and fetch what is asked for."""
        super().look()
        self.session.slim(looked)
        while keys := self.session.wanted(looked):
            self.asked += 1
            self.follower.again(keys)
            super().look()
        for run in self.session.runs.values():
            if run.id not in looked:
                run.pack()

    def look_closely(self) -> None:
        """Look at every run, as a user would who goes through the list."""
        self.look(*self.session.runs)


def said(finding: Finding) -> tuple[object, ...]:
    """What a finding says, as one comparable thing."""
    return (finding.rule, finding.since, finding.opened, finding.severity, finding.cleared,
            finding.message, finding.evidence)  # fmt: skip


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_a_run_that_was_let_go_and_looked_at_again_is_whole(run: Path, tmp_path: Path) -> None:
    """Letting go at every look on the way, then looking: all is said that `check` says."""
    slim = Slim(tmp_path / "live")
    for _ in growth(run, tmp_path / "live" / run.name, pieces=12, seed=5):
        slim.look()
    slim.look_closely()
    slim.finish()
    assert all(each.is_whole for each in slim.session.runs.values())
    whole = Watched(tmp_path / "live")
    whole.finish()
    assert judged(slim.session) == judged(whole.session)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_verdict_and_findings_stay_when_points_go(run: Path, packed: bool, tmp_path: Path) -> None:
    """What is said of a run does not depend on how much of it is held."""
    shutil.copytree(run, tmp_path / "logs" / run.name)
    watched = Watched(tmp_path / "logs")
    watched.look()
    before = {
        each.id: (look(each).verdict, look(each).progress, list(map(said, each.findings)))
        for each in watched.session.runs.values()
    }
    rows = {each.id: len(each.timeline) for each in watched.session.runs.values()}
    held = {each.id: each.held for each in watched.session.runs.values()}
    watched.session.most_points = 0
    watched.session.slim()
    for each in watched.session.runs.values():
        if packed:
            each.pack()
            assert each.weight == 0
            assert verdict(each) == before[each.id][0]  # what the list says needs no unpacking
        shown = look(each)
        assert (shown.verdict, shown.progress, list(map(said, each.findings))) == before[each.id]
        assert len(each.timeline) == rows[each.id]
        assert each.held < held[each.id] or held[each.id] < 4_000
    watched.finish()


def test_a_live_run_is_judged_on_without_its_past(tmp_path: Path) -> None:
    """New rows of a run that was let go need no second reading: the judge remembers."""
    log = tmp_path / "runs" / "progress.csv"
    log.parent.mkdir()
    slim = Slim(log.parent)
    with open(log, "w") as file:
        file.write("time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/loss\n")
        for row in range(2_000):
            file.write(f"{row * 2048},{10 + row % 7},0.01,{0.1 * (row % 5)}\n")
            if row % 100 == 99:
                file.flush()
                slim.look()
    slim.look()
    (run,) = slim.session.runs.values()
    assert slim.asked == 0
    assert len(run.timeline) == 2_000
    assert run.held < 4_000
    assert run.timeline.steps[-1] == 1_999 * 2048
    slim.look_closely()
    assert slim.asked == 1
    assert run.is_whole
    assert list(run.timeline.steps) == [row * 2048 for row in range(2_000)]
    slim.finish()


def test_while_it_is_read_again_a_run_shows_what_was_known(tmp_path: Path) -> None:
    """A second reading does not take the verdict away until it has caught up."""
    shutil.copytree(RUNS[0], tmp_path / "logs" / RUNS[0].name)
    watched = Watched(tmp_path / "logs")
    watched.look()
    (run,) = watched.session.runs.values()
    rows, verdict = len(run.timeline), look(run).verdict
    watched.session.most_points = 0
    watched.session.slim()
    watched.follower.again(watched.session.wanted([run.id]))
    while (piece := watched.follower.poll(limit=20, budget=0.0)).more or piece.gains:
        watched.session.reading = piece.more
        watched.session.apply(piece.gains)
        watched.session.judge(budget=0.0, first=run.id)
        assert len(run.timeline) == rows
        assert look(run).verdict == verdict
    watched.session.judge()
    assert run.is_whole
    watched.finish()


def test_what_cannot_be_read_again_is_kept() -> None:
    """The points of a pipe are nowhere else."""
    session = Session(Settings(), most_points=0)
    follower = Follower([], stdin=io.BytesIO(PIPE))
    drain(follower, session)
    session.judge()
    (run,) = session.runs.values()
    session.slim()
    assert run.is_whole
    assert run.held == run.points > 0
    follower.close()


def test_a_source_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    """Of a run some of whose logs were deleted the others are read again, and it is judged on."""
    run = next(each for each in RUNS if len(list(each.glob("*"))) > 2)
    logs = tmp_path / "logs"
    shutil.copytree(run, logs / run.name)
    slim = Slim(logs)
    slim.look()
    first, *_ = sorted(key for each in slim.session.runs.values() for key in each.sources)
    (logs / first).unlink()
    slim.look()
    slim.look_closely()
    (found,) = slim.session.runs.values()
    assert found.is_whole
    assert found.judged
    assert not found.awaited
    assert len(found.timeline)
    slim.finish()


def test_places_in_a_column_keep_their_numbers() -> None:
    """What is left has its old place; the first element is remembered."""
    column: Column[int] = Column("q")
    for number in range(100):
        column.append(number * 10)
    column.let_go(90)
    assert (len(column), column[0], column[95], column[-1]) == (100, 0, 950, 990)
    assert list(column[-3:]) == [970, 980, 990]
    assert column[50] == 900  # the oldest that is left
    column.append(1000)
    column.cut(100)
    assert len(column) == 100
    column.let_go(10)
    assert column[91] == 910


def test_a_track_keeps_a_few_points_of_a_rare_metric() -> None:
    """An evaluation each hundred updates still has a newest value, and a few before it."""
    from ppo_top.model import Mark

    track = Track("eval_reward_mean", "eval/mean_reward", "a")
    for row in range(0, 5_000, 100):
        track.append(Mark(row, row, 0.0), float(row))
    track.let_go(5_000 - KEEP_ROWS)
    assert len(track) == FEWEST
    assert track.values[-1] == 4_900.0


def test_a_series_counts_what_it_let_go() -> None:
    """Its length is that of the log; the newest point always stays."""
    from array import array

    from ppo_top.model import Points

    series = Series("x")
    series.extend(Points("x", array("q", range(50)), array("d", range(50)), array("d", range(50))))
    series.let_go(40)
    assert (len(series), series.steps[0], series.dropped) == (50, 40, 40)
    series.let_go(50)
    assert (len(series), list(series.steps)) == (50, [49])
