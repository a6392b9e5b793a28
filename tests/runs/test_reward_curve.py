"""The curve of a run's reward is the same however its rows came, and outlives its points."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ppo_top.model import Mark
from ppo_top.model.plain import from_plain, to_plain
from ppo_top.runs.evaluation import ClosedEvaluation, ClosedRun
from ppo_top.runs.reward_curve import MAX_BINS, RewardCurve, extended_curve
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from tests.support.growing_logs import grow_logs
from tests.support.screens import read_session, write_unhealthy_run

METRICS = ("reward_mean", "success_rate")


def timeline(values: list[float], stride: int = 100, metric: str = "reward_mean") -> Timeline:
    """A row for each value, `stride` steps apart."""
    rows, track = Timeline(), Track(metric, metric, "log")
    for number, value in enumerate(values):
        rows.steps.append(number * stride)
        rows.times.append(float("nan"))
        track.append(Mark(number, number * stride, float("nan")), value)
    track.timeline = rows
    rows.tracks[metric] = track
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_a_curve_does_not_depend_on_how_often_it_was_extended(seed: int) -> None:
    """Row by row, in a few parts or at once."""
    draw = random.Random(seed)
    values = [draw.gauss(0, 1) for _ in range(700)]
    rows = timeline(values, stride=draw.randrange(1, 5000))
    whole = extended_curve(RewardCurve(), rows, len(values), METRICS)
    grown = RewardCurve()
    for end in [*sorted(draw.sample(range(1, 700), draw.choice((3, 300)))), 700]:
        grown = extended_curve(grown, rows, end, METRICS)
    assert (grown.width, grown.numbers, grown.counts) == (whole.width, whole.numbers, whole.counts)
    assert grown.means == pytest.approx(whole.means)
    assert sum(whole.counts) == len(values)
    assert MAX_BINS // 2 <= len(whole.numbers) <= MAX_BINS


def test_values_that_are_no_numbers_are_left_out() -> None:
    """And steps below 0 are in the first bin."""
    curve = extended_curve(RewardCurve(), timeline([1.0, float("nan"), 3.0]), 3, METRICS)
    assert curve.means == (1.0, 3.0)
    assert curve.numbers == (0, 200 // curve.width)


def test_a_better_metric_that_is_found_later_starts_anew() -> None:
    """The first of the metrics that is logged."""
    rows = timeline([0.1] * 20, metric="success_rate")
    before = extended_curve(RewardCurve(), rows, 10, METRICS)
    assert before.metric == "success_rate"
    rows.tracks["reward_mean"] = timeline([5.0] * 20).tracks["reward_mean"]
    after = extended_curve(before, rows, 20, METRICS)
    assert (after.metric, sum(after.counts)) == ("reward_mean", 20)


def test_a_run_without_a_reward_has_no_curve() -> None:
    """It is compared with nobody."""
    assert extended_curve(RewardCurve(), timeline([1.0], metric="x"), 1, METRICS).end == 0


def test_a_curve_outlives_the_points(tmp_path: Path) -> None:
    """After they were dropped, and after the run was kept on disk and restored."""
    write_unhealthy_run(tmp_path / "run" / "progress.csv", updates=500, broken_from=300)
    (run,) = read_session([tmp_path]).runs.values()
    whole = run.evaluation.reward_curve()
    assert sum(whole.counts) == 500
    plain = json.loads(json.dumps(to_plain(run.evaluation.saved(keep=5))))
    run.drop_history()
    assert not run.is_whole
    assert run.evaluation.reward_curve() == whole
    restored = ClosedEvaluation(from_plain(ClosedRun, plain))
    assert restored.reward_curve() == whole


def test_a_live_run_has_the_curve_of_the_finished_log(tmp_path: Path) -> None:
    """Though its newest rows may still change."""
    write_unhealthy_run(tmp_path / "done" / "run" / "progress.csv", updates=200)
    (done,) = read_session([tmp_path / "done"]).runs.values()
    for _ in grow_logs(tmp_path / "done" / "run", tmp_path / "live" / "run", parts=9, seed=1):
        pass
    (live,) = read_session([tmp_path / "live"]).runs.values()
    assert live.evaluation.reward_curve() == done.evaluation.reward_curve()
