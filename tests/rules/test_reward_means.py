"""A fall that is small beside the noise of single rows shows in means of several."""

from __future__ import annotations

import math
import random

import pytest

from ppo_top.model import Mark, Profile, Sample, Severity
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.reward.means import fall_at_end, mean_falls
from ppo_top.rules.judge import Judge
from tests.support.drawn_runs import draw_rows


def course(levels: list[float], noise: float, seed: int = 3) -> list[float]:
    """Rewards around levels, fifteen rows each."""
    draw = random.Random(seed)
    return [level + draw.gauss(0.0, noise) for level in levels for _ in range(15)]


def reward_of(values: list[float]) -> RewardCourse:
    """The course of rewards that are means of an update."""
    history = History()
    reward = RewardCourse(history, None, Sample("update"))
    for row, value in enumerate(values):
        history.push(row, value)
        reward.add_reward(Mark(row, row, math.nan))
    return reward


def worst_severity(values: list[float]) -> Severity | None:
    """The worst finding of a fallen reward at the end of a run."""
    judge = Judge(Profile("custom", "on-policy", samples={"reward_mean": Sample("update")}))
    for row in draw_rows({"reward_mean": lambda i: values[i]}, len(values)):
        judge.add_row(row)
    judge.end_run()
    found = [finding.severity for finding in judge.findings if finding.rule == "reward-crash"]
    return max(found, default=None)


def test_the_best_mean_is_compared_with_the_newest_one() -> None:
    """In standard deviations, beside what was gained before and what was ever made good."""
    widest = mean_falls(reward_of(course([0.0, 10.0, 3.0, 3.0], 1.0)))[-1]
    assert widest.start == pytest.approx(0.0, abs=0.7)
    assert widest.best == pytest.approx(10.0, abs=0.7)
    assert widest.now == pytest.approx(3.0, abs=0.7)
    assert widest.lost_share == pytest.approx(0.7, abs=0.1)
    assert widest.fall_noise > 10.0
    assert widest.made_good < 1.0


def test_a_fall_that_was_made_good_is_remembered() -> None:
    """The bar for the next one."""
    widest = mean_falls(reward_of(course([0.0, 10.0, 4.0, 10.0], 0.5)))[-1]
    assert widest.made_good == pytest.approx(6.0, abs=1.0)


def test_nothing_is_said_without_noise_or_of_a_few_points() -> None:
    """What cannot be measured cannot be compared."""
    assert mean_falls(reward_of([1.0] * 40)) == []
    assert mean_falls(reward_of([0.0, 1.0, 0.5, 2.0, 1.0])) == []


def test_a_fall_hidden_in_noise_is_found() -> None:
    """All that was gained is lost for a quarter of the run, in noise of 30 % of it."""
    fallen = course([0.0, 2.0, 2.0, 0.0], 0.6)
    kept = course([0.0, 2.0, 2.0, 2.0], 0.6)
    assert worst_severity(fallen) == Severity.WARN
    assert worst_severity(kept) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_short_dip_is_none(seed: int) -> None:
    """Five rows of 95, in noise."""
    values = course([0.0, 2.0, 2.0, 2.0, 2.0, 2.0], 0.8, seed)
    assert worst_severity([*values, *(each - 1.5 for each in values[-5:])]) is None


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("end", "severity"), [(1.6, None), (0.9, Severity.WARN)])
def test_what_was_learned_at_once_is_part_of_the_gain(
    end: float, severity: Severity | None, seed: int
) -> None:
    """Four rows of 118: a fifth of the gain is lost at the end, or more than half of it."""
    kept, lost = course([2.0] * 6, 0.4, seed), course([end] * 2, 0.4, seed + 9)[:24]
    assert worst_severity([0.0] * 4 + kept + lost) == severity


def test_the_level_at_the_start_is_no_best() -> None:
    """Random actions scored 9 once; what was learned since then is kept to the end."""
    fall = fall_at_end(reward_of([9.0, 2.0, 1.0, 1.2, 0.8, 1.5, 2.1, 1.7]))
    assert fall is not None
    assert fall[:3] == pytest.approx((2.0, 2.1, 1.7)), "start, best and now"
