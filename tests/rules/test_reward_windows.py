"""The course of rewards whose rows overlap, hold single episodes or are few; its last points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from ppo_top.model import Mark, Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.course import FALLEN, GAINED, UNLEARNED, RewardCourse
from tests.rules.test_reward_course import course_of, drawn
from tests.rules.test_reward_rows import overlapping
from tests.support.drawn_runs import jitter

LENGTH = 100.0


def sampled(
    sample: Sample, rewards: Sequence[float], each: int = 0, ceiling: float | None = None
) -> RewardCourse:
    """The course of rows of some kind, of so many new episodes each; 0: nobody counts them."""
    history = History()
    course = RewardCourse(history, ceiling, sample)
    for row, reward in enumerate(rewards):
        history.push(row, reward)
        # a length that never divides the steps: what is new in a mean cannot be computed
        course.add_reward(
            Mark(row, row, math.nan),
            int(LENGTH * each * (row + 1)) - 37 * (each > 0),
            LENGTH if each else None,
        )
    return course


def window(rewards: Sequence[float], each: int) -> RewardCourse:
    """The course of means of a hundred episodes."""
    return sampled(Sample("window", 100), rewards, each)


def line(count: int) -> list[float]:
    """Rewards that rise by one each time."""
    return [float(row) for row in range(count)]


def noise(count: int, size: float = 1.0) -> list[float]:
    """Rewards around 0."""
    return [jitter(row, size) for row in range(count)]


# --- independent measurements ----------------------------------------------------------------


@pytest.mark.parametrize(("rows", "gained"), [(10, False), (11, True)])
def test_overlapping_rows_are_few_measurements(rows: int, gained: bool) -> None:
    """While the window fills, row n is worth 1/n; three are needed to tell a gain."""
    course = window(line(rows), 5)
    assert course.looks == pytest.approx(sum(1.0 / n for n in range(1, rows + 1)), rel=0.1)
    assert course.gained is gained


@pytest.mark.parametrize(
    ("each", "rows", "first", "last"), [(50, 60, 5.0, 7.5), (5, 200, 1.0, 2.5)]
)
def test_what_was_learned_at_once_is_told_by_independent_measurements(
    each: int, rows: int, first: float, last: float
) -> None:
    """Ten rows of the start beside a quarter of the run: windows that fill are less certain."""
    course = window([jitter(row) - 40.0 * (row < 10) for row in range(rows)], each)
    start = sum(course.first[:10]) / 10
    apart = course.noise * course.start_excess * math.sqrt(1.0 / first + 1.0 / last)
    assert course.rise == pytest.approx((course.quarters[-1][1] - start) / apart, rel=0.05)
    assert course.rise > course.change


@pytest.mark.parametrize(("each", "count"), [(50, 7.5), (5, 1.0)])
def test_a_quarter_is_at_least_one_measurement(each: int, count: float) -> None:
    """Fifteen rows of a mean that takes two to be renewed, or twenty."""
    course = window([jitter(row) + row for row in range(60)], each)
    gap = course.quarters[-1][1] - course.quarters[0][1]
    apart = course.noise * math.sqrt(2.0 / count)
    assert course.change == pytest.approx(gap / apart, rel=0.05)


@pytest.mark.parametrize(
    ("sample", "each", "points", "start"),
    [
        (Sample("update"), 50, 60, 3), (Sample("update"), 21, 60, 5), (Sample("update"), 0, 60, 10),
        (Sample("update"), 0, 4, 3), (Sample("window", 100), 50, 60, 6),
        (Sample("window", 100), 20, 60, 15), (Sample("window", 100), 5, 60, 20),
    ],
)  # fmt: skip
def test_a_start_is_a_hundred_episodes_ten_points_or_three_windows(
    sample: Sample, each: int, points: int, start: int
) -> None:
    """At least three points, and no more than half of a run, or twenty."""
    means = overlapping(points, each) if sample.kind == "window" else noise(points)
    assert sampled(sample, means, each).start_points == start


# --- single episodes ---------------------------------------------------------------------------


def test_single_episodes_are_noticed_on_the_way() -> None:
    """Their points are then blocks of ten, from the first row on."""
    course = sampled(Sample(), [float(row % 3 == 0) for row in range(19)])
    assert course.points == 19
    course = sampled(Sample(), [float(row % 3 == 0) for row in range(20)])
    assert course.points == len(course.levels) == 2
    assert course.first == pytest.approx([0.4, 0.3])


@pytest.mark.parametrize(("rows", "told"), [(59, False), (60, True)])
def test_flat_takes_six_blocks_of_episodes(rows: int, told: bool) -> None:
    """Fifteen rows are not enough."""
    assert sampled(Sample("episode"), noise(rows)).flat is told


@pytest.mark.parametrize(
    ("kind", "lowest", "highest", "alike"),
    [("step", 1.9902, 2.0, True), ("step", 1.9898, 2.0, False), ("update", 2.0, 2.0, False),
     ("step", 0.0, 0.0, False), ("step", -2.008, -2.0, True)],
)  # fmt: skip
def test_steps_pay_alike_if_their_means_hardly_differ(
    kind: str, lowest: float, highest: float, alike: bool
) -> None:
    """Half a per cent; nothing at all is no pay."""
    assert sampled(Sample(kind), [highest, *[lowest] * 30]).pays_alike is alike


@pytest.mark.parametrize(("kind", "flat"), [("step", False), ("update", True)])
def test_steps_that_pay_alike_are_not_flat(kind: str, flat: bool) -> None:
    """How long they last may change all the same."""
    assert sampled(Sample(kind), [2.0 + value for value in noise(40, 0.001)]).flat is flat


@pytest.mark.parametrize(("each", "climbs"), [(200, True), (5, False)])
def test_means_that_overlap_climb_by_rank_without_a_reason(each: int, climbs: bool) -> None:
    """Neighbours share most of their episodes."""
    assert window(line(60), each).climbs_by_rank is climbs


# --- gains and losses --------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "told"), [(20, False), (40, True)])
def test_flat_takes_three_measurements(rows: int, told: bool) -> None:
    """A log that begins midway: each row is the mean of 99 episodes of the row before, and one."""
    episodes = noise(100 + rows, 10.0)
    history = History()
    course = RewardCourse(history, None, Sample("window", 100))
    for row in range(rows):
        history.push(row, sum(episodes[row : row + 100]) / 100)
        course.add_reward(Mark(row, row, math.nan), int(LENGTH) * (100 + row), LENGTH)
    assert not course.rising
    assert (course.looks >= 3.0, course.flat) == (told, told)


@pytest.mark.parametrize("each", [51, 80])
def test_the_first_rows_of_many_episodes_count(each: int) -> None:
    """Means of 100 episodes, most of them new, are not taken apart; the first row is the start."""
    history = History()
    course = RewardCourse(history, None, Sample("window", 100))
    for row, reward in enumerate([3.0, 16.0, 22.0, 24.0, 26.0]):
        history.push(row, reward)
        course.add_reward(Mark(row, row, math.nan), int(LENGTH) * each * (row + 1), LENGTH)
    assert course.first == [3.0, 16.0, 22.0, 24.0, 26.0]


def kept(share: float, gain: float = 100.0, size: float = 1.0, rows: int = 60) -> RewardCourse:
    """A gain, half of which is lost for six updates, and of which a share is there in the end."""
    return drawn(
        lambda i: gain * min(1.0, i / 20) * (1.0 if i < 30 else 0.5 if i < 36 else share),
        rows,
        size,
    )


@pytest.mark.parametrize(
    ("share", "gain", "size", "good"),
    [(0.88, 100.0, 1.0, True), (0.82, 100.0, 1.0, False), (0.8, 40.0, 5.0, True),
     (0.6, 40.0, 5.0, False)],
)  # fmt: skip
def test_what_is_made_good_but_for_a_little_or_for_noise_is_made_good(
    share: float, gain: float, size: float, good: bool
) -> None:
    """A share of 0.15, or two standard deviations."""
    course = kept(share, gain, size)
    assert (course.low_points == 0) is good
    assert (course.falls == 1) is good


@pytest.mark.parametrize(
    ("share", "rows", "state"),
    [(1.0, 30, GAINED), (1.0, 60, GAINED | FALLEN), (0.75, 60, GAINED | FALLEN),
     (0.5, 32, GAINED | FALLEN)],
)  # fmt: skip
def test_its_state_remembers_a_fall_until_there_is_a_new_best(
    share: float, rows: int, state: int
) -> None:
    """One that was made good, one of which a quarter is left, one that has just begun."""
    assert kept(share, rows=rows).state == state
    assert drawn(lambda i: 5.0, 40).state == UNLEARNED


def test_an_early_dip_is_made_good_by_a_new_best() -> None:
    """The first three points are the start; what follows is measured."""
    assert course_of([10.0, 10.0, 2.0, 2.0, 12.0, 12.0]).made_good == 8.0


def level_noise(level: Callable[[int], float], count: int, size: float) -> RewardCourse:
    """Noise of which any three points have the level as their median."""
    return course_of(level(i) + size * (1, 0, -1)[i % 3] for i in range(count))


@pytest.mark.parametrize(("rows", "low"), [(7, False), (9, True)])
def test_what_stays_low_for_eight_points_needs_to_be_less_low(rows: int, low: bool) -> None:
    """3.1 standard deviations, where four are needed at once."""
    course = level_noise(lambda i: 4.0 if i < 10 else 10.0 if i < 30 else 7.3, 30 + rows, 0.3)
    assert 2.5 < course.depth / course.sd < 4.0
    assert (course.low_points > 0) is low


@pytest.mark.parametrize(("low", "rows", "falling"), [(0.55, 8, False), (0.55, 19, True),
                                                      (0.2, 11, True)])  # fmt: skip
def test_a_fall_is_deeper_than_before_or_lasts(low: float, rows: int, falling: bool) -> None:
    """Half of the gain was made good before."""
    course = drawn(
        lambda i: 5.0 * min(i, 20) * (0.5 if 25 <= i < 31 else low if i >= 45 else 1.0), 45 + rows
    )
    assert course.low_points > 0
    assert course.falling is falling


# --- the last points ---------------------------------------------------------------------------


def ending(last: Sequence[float], size: float = 2.0) -> RewardCourse:
    """A course that ends with these points, after noise around 0."""
    return course_of([*(jitter(row, size) for row in range(60 - len(last))), *last])


def test_fewer_than_fifteen_points_have_no_trend() -> None:
    """However steadily they fall."""
    assert not course_of([100.0 - 5.0 * n + jitter(n) for n in range(14)]).falling
    assert course_of([100.0 - 5.0 * n + jitter(n) for n in range(15)]).falling


@pytest.mark.parametrize(("fall", "falling"), [(4.5, False), (12.0, True)])
def test_a_fall_by_rank_is_more_than_noise(fall: float, falling: bool) -> None:
    """Three standard deviations of what the noise was before."""
    assert ending([-fall * n / 14 for n in range(15)]).falling is falling


@pytest.mark.parametrize("odd", [0, 14])
def test_a_single_odd_point_does_not_end_a_fall(odd: int) -> None:
    """Its ends are medians of three points."""
    last = [-20.0 - n for n in range(15)]
    last[odd] = -40.0 if odd == 0 else 0.0
    assert ending(last).falling


def test_ranks_that_rise_by_chance_are_no_rise() -> None:
    """Its ends are far apart, but what lies between falls."""
    between = [*range(1, 4), *range(12, 3, -1), *range(13, 16)]
    course = ending([3.0 * (n - 8) for n in between], 30.0)
    assert course.trend.tau > 0.3
    assert not course.rising
    assert ending([3.0 * (n - 8) for n in range(1, 16)], 30.0).rising


def test_the_newest_three_points_lie_below_the_start() -> None:
    """Two do not show it yet."""
    assert drawn(lambda i: 20.0 if i >= 37 else 50.0, 40).below > 25.0
    assert drawn(lambda i: 20.0 if i >= 38 else 50.0, 40).below < 5.0


def test_a_reward_at_its_ceiling_is_not_flat() -> None:
    """Nothing is left to gain."""
    rewards = [100.0 + value for value in noise(40, 0.1)]
    assert not sampled(Sample("update"), rewards, ceiling=100.0).flat
    assert sampled(Sample("update"), rewards, ceiling=200.0).flat


def test_a_reward_may_be_stuck_before_it_is_known_to_be_flat() -> None:
    """Where it lost within a few points what it had gained."""
    course = drawn(lambda i: 10.0 * min(i, 6) if i < 9 else 5.0, 13)
    assert not course.flat
    assert course.falling and course.stuck


def test_a_rise_has_not_levelled_off_while_points_or_quarters_rise() -> None:
    """A small rise that has just begun; or a large one in the third quarter of the run."""
    begun = ending([0.35 * (n - 7) for n in range(15)])
    assert begun.rising and begun.late_rise < 3.0
    assert not begun.levelled_off
    over = drawn(lambda i: 5.0 * min(i, 50) - 0.5 * max(0, i - 50), 80)
    assert not over.rising and over.late_rise > 3.0
    assert not over.levelled_off


@pytest.mark.parametrize(
    ("values", "gained"), [((-21, -20, -19), False), ((-21, -20, -19, -18.5), True)]
)
def test_a_few_different_rewards_of_unknown_kind_show_no_gain(
    values: Sequence[float], gained: bool
) -> None:
    """Pong's first episodes end at -21 or -20, whatever is played."""
    rewards = [values[min(row // 3, len(values) - 1)] + 0.0 for row in range(15)]
    rewards[1] = values[-1]
    assert sampled(Sample(), rewards[:12]).gained is gained
    assert sampled(Sample("update"), rewards[:12]).gained


def test_a_collapse_is_no_noise_however_far_apart_rows_are_compared() -> None:
    """Rows of unknown kind are compared over sixteen rows, too, and two thirds lie before it."""
    rewards = [200.0 * min(1.0, row / 90) + jitter(row, 10) for row in range(180)]
    for rows in range(10, 110, 10):
        course = sampled(Sample(), [*rewards, *noise(rows, 10)])
        assert course.state == GAINED | FALLEN
        assert course.noise < 30.0
