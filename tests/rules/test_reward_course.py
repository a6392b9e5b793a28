"""The course of rewards, drawn point by point: what was gained, lost, made good, or has stayed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pytest

from ppo_top.model import Mark, Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.reward.point_means import PointMeans
from tests.support.drawn_runs import jitter


def course_of(rewards: Iterable[float]) -> RewardCourse:
    """The course of rewards each of which is an update's mean."""
    history = History()
    course = RewardCourse(history, None, Sample("update"))
    for row, reward in enumerate(rewards):
        history.push(row, reward)
        course.add_reward(Mark(row, row, math.nan))
    return course


def drawn(curve: Callable[[int], float], count: int, noise: float = 1.0) -> RewardCourse:
    """A curve with a little noise."""
    return course_of(curve(i) + jitter(i, noise) for i in range(count))


# --- straight lines --------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [1e-3, 1.0, 1e3])
def test_a_straight_line_is_told_though_it_shows_no_noise(slope: float) -> None:
    """Once eight rewards differ: one that rises has gained, one that falls lies below its start."""
    assert course_of(slope * n for n in range(12)).gained
    falling = course_of(-slope * n for n in range(12))
    assert not falling.gained
    assert falling.below > 1000.0 * falling.sd
    assert course_of(slope * n for n in range(7)).sd == math.inf


@pytest.mark.parametrize(("first", "gained"), [(17.0, False), (11.0, True)])
def test_a_rise_from_a_fall_is_a_gain_only_above_where_it_began(first: float, gained: bool) -> None:
    """The first moments may be lost before a quarter of the run could tell of them."""

    def curve(i: int) -> float:
        return first if i < 8 else 9.5 if i < 500 else 12.0

    assert drawn(curve, 700, 0.3).gained is gained


@pytest.mark.parametrize(("first", "gained"), [(8.5, True), (11.0, False)])
def test_a_lucky_first_point_hides_no_rise(first: float, gained: bool) -> None:
    """Unless it lies as far above the newest quarter as chance does not reach."""

    def curve(i: int) -> float:
        return first if i == 0 else 3.0 * i / 400

    assert drawn(curve, 400, 3.0).gained is gained


def test_equal_rewards_show_no_noise() -> None:
    """Nothing can be compared with them, however long they stay."""
    assert course_of([5.0] * 30).sd == math.inf


# --- means of points -------------------------------------------------------------------------


def means_of(count: int) -> PointMeans:
    """Means of the numbers from 0 on."""
    means = PointMeans()
    for number in range(count):
        means.add(float(number))
    return means


def test_points_are_merged_two_by_two_when_there_are_too_many() -> None:
    """Up to 64 blocks of one point; then of two, and so on."""
    assert means_of(64).means == [float(n) for n in range(64)]
    merged = means_of(66)
    assert (merged.size, len(merged.means)) == (2, 33)
    assert merged.means == [2.0 * n + 0.5 for n in range(33)]
    assert means_of(200).size == 4


def test_a_point_tells_whether_it_begins_a_block() -> None:
    """What follows from blocks is computed then."""
    means = means_of(65)
    assert means.add(65.0) is False
    assert means.add(66.0) is True


@pytest.mark.parametrize(
    ("count", "quarters"),
    [
        (3, []),
        (4, [(1, 0.0), (1, 1.0), (1, 2.0), (1, 3.0)]),
        (8, [(2, 0.5), (2, 2.5), (2, 4.5), (2, 6.5)]),
        (6, [(1, 0.0), (2, 1.5), (1, 3.0), (2, 4.5)]),
    ],
)
def test_quarters_are_means_of_equally_many_points(
    count: int, quarters: list[tuple[float, float]]
) -> None:
    """How many points each holds, and their mean."""
    assert means_of(count).quarters() == quarters


# --- what was gained and lost ----------------------------------------------------------------


def test_levels_are_medians_of_three_points() -> None:
    """One point makes neither a best nor a start."""
    course = course_of([9.0, 1.0, 2.0, 3.0, 4.0, 90.0, 5.0, 6.0, 3.0, 4.0])
    assert (course.baseline, course.smooth, course.best) == (2.0, 4.0, 6.0)
    assert (course.gain, course.drawdown, course.best_row) == (4.0, 2.0, 7)


@pytest.mark.parametrize(("height", "gained"), [(1.0, False), (8.0, True)])
def test_a_gain_is_more_than_noise(height: float, gained: bool) -> None:
    """Three standard deviations of two measurements, and more than chance does in a long run."""
    assert drawn(lambda i: height * (i >= 20), 40).gained is gained


def test_nothing_is_gained_in_five_points() -> None:
    """However steep."""
    assert not course_of([0.0, 1.0, 20.0, 31.0, 39.0]).gained
    assert course_of([0.0, 1.0, 20.0, 31.0, 39.0, 50.0]).gained


@pytest.mark.parametrize(("loss", "low"), [(0.33, False), (0.38, True)])
def test_a_drawdown_is_real_beyond_a_share_of_the_gain(loss: float, low: bool) -> None:
    """Seven twentieths of what was gained."""
    course = drawn(lambda i: 100.0 * min(1.0, i / 20) * (1.0 if i < 30 else 1.0 - loss), 40)
    assert course.gained
    assert bool(course.low_points) is low
    assert course.falling is low


def test_a_dip_of_two_points_is_no_fall() -> None:
    """All of the newest three points must be low."""
    course = drawn(lambda i: 5.0 * min(i, 20) * (0.3 if i >= 38 else 1.0), 40)
    assert not course.low_points
    assert course.depth < 5.0


def test_what_was_made_good_before_is_no_fall() -> None:
    """A run that always wobbles is measured by its own wobble."""
    wobble = drawn(
        lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 30 else 0.55 if i >= 45 else 1.0), 50
    )
    deeper = drawn(
        lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 30 else 0.2 if i >= 45 else 1.0), 50
    )
    assert wobble.low_points and not wobble.falling
    assert deeper.falling
    assert wobble.made_good == pytest.approx(50.0, abs=4.0)
    assert wobble.is_unprecedented(0.8) and not wobble.is_unprecedented(1.0)


@pytest.mark.parametrize(("rows", "lasting"), [(13, False), (17, True)])
def test_a_low_that_lasts_longer_than_before_is_a_fall(rows: int, lasting: bool) -> None:
    """Three times as long as the longest before, which was four points."""
    course = drawn(
        lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 31 or i >= 45 else 1.0), 45 + rows
    )
    assert course.longest_low == 4
    assert course.lasting is lasting


def test_a_drawdown_that_was_made_good_is_counted() -> None:
    """Until there is a new best."""
    fell = drawn(lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 31 else 1.0), 33)
    better = drawn(lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 31 else 1.0) + (i > 32) * 9, 40)
    assert (fell.falls, better.falls) == (1, 0)
    assert fell.longest_low == better.longest_low > 0


def test_a_best_is_notable_if_it_beats_the_last_one_by_a_share_of_the_gain() -> None:
    """A reward that has been learned and still creeps up sets no new best to speak of."""
    assert drawn(lambda i: 5.0 * min(i, 20) + 0.01 * i, 60).notable_best_count < 30
    assert drawn(lambda i: 5.0 * i, 60).notable_best_count > 55


@pytest.mark.parametrize(("height", "up"), [(0.0, False), (5.0, True), (-5.0, False)])
def test_a_reward_is_up_if_it_is_above_its_start_by_its_noise(height: float, up: bool) -> None:
    """Which is less than a gain; of equal rewards nobody knows."""
    assert drawn(lambda i: height * (i >= 10), 20, 0.5).is_up is up
    assert not course_of([1.0] * 20).is_up


# --- trends ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slope", "rising", "falling"), [(1.0, True, False), (0.0, False, False), (-1.0, False, True)]
)
def test_a_trend_is_of_the_last_fifteen_points(slope: float, rising: bool, falling: bool) -> None:
    """A rise, a fall, or neither."""
    course = drawn(lambda i: 100.0 + slope * i, 40, 2.0)
    assert (course.rising, course.falling) == (rising, falling)
    assert course.stuck is not rising


def test_two_good_rewards_after_equal_ones_are_no_trend() -> None:
    """They are no chance, but too few of the pairs rise."""
    before = [(0.8 + 0.001 * i) * (-1) ** i for i in range(30)] + [0.0] * 27
    course = course_of([*before, 0.0, 1.0, 1.0])
    assert course.trend.z > 1.96
    assert not course.rising
    assert course_of([*before, 1.0, 1.0, 1.0]).rising


@pytest.mark.parametrize(("count", "told"), [(14, False), (15, True)])
def test_flat_takes_fifteen_rewards(count: int, told: bool) -> None:
    """With fewer nothing is said."""
    assert drawn(lambda i: 100.0, count).flat is told


def test_a_rise_that_ended_has_levelled_off() -> None:
    """The second half brought no more."""
    assert drawn(lambda i: 5.0 * min(i, 20), 80).levelled_off
    assert not drawn(lambda i: 5.0 * i, 80).levelled_off


@pytest.mark.parametrize(("count", "told"), [(5, False), (6, True)])
def test_few_points_have_not_levelled_off(count: int, told: bool) -> None:
    """Nor risen: it is too early."""
    assert drawn(lambda i: 100.0, count).levelled_off is told


def test_a_short_run_has_no_start_apart_from_its_first_quarter() -> None:
    """A dip after the first seven of 28 points makes no rise of what is where it began."""
    assert drawn(lambda i: -50.0 if 7 <= i < 10 else 10.0, 28).rise < 3.0


def test_below_its_start_is_below_what_was_held_there() -> None:
    """Ten points make the start, half of them in a short run; all of the newest must be lower."""
    course = drawn(lambda i: 50.0 if i < 15 else 20.0, 30, 0.5)
    assert course.start_points == 10
    assert course.below == pytest.approx(30.0, abs=1.5)
    assert drawn(lambda i: 50.0, 12, 0.5).start_points == 6
    assert drawn(lambda i: 50.0 if i != 29 else 90.0, 30, 0.5).below < 0.0


def test_rises_are_counted_in_standard_deviations() -> None:
    """Of the means of quarters: twice the noise is half of it."""
    calm, noisy = drawn(lambda i: float(i), 64, 1.0), drawn(lambda i: float(i), 64, 4.0)
    quarter = 48.0 * math.sqrt(16 / 2)
    assert calm.change == pytest.approx(quarter / calm.noise, rel=0.05)
    assert noisy.change == pytest.approx(quarter / noisy.noise, rel=0.08)
    assert calm.late_rise == pytest.approx(calm.change / 3, rel=0.1)
