"""Statistics that are kept up to date value by value agree with their definitions."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.stats import (
    Noise,
    Trend,
    count_swings,
    median,
    noise_std,
    rises_over,
    robust_log_z,
    theil_sen_rise,
)

NUMBER_LISTS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=60)


@given(NUMBER_LISTS, st.integers(2, 25))
def test_the_trend_of_a_window_is_that_of_its_pairs(values: list[float], size: int) -> None:
    """Adding and removing by rank gives the same score as counting all pairs."""
    trend = Trend(size)
    for value in values:
        trend.push(value)
    window = values[-size:]
    pairs = [(a < b) - (a > b) for a, b in combinations(window, 2)]
    assert trend.values == window
    assert trend.score == sum(pairs)


@given(NUMBER_LISTS, st.integers(0, 59))
def test_a_trend_asked_for_late_is_the_same(values: list[float], at: int) -> None:
    """Whether a trend was kept from the start or asked for later makes no difference."""
    early, late = History(), History()
    early.trend(15)
    for row, value in enumerate(values):
        early.push(row, value)
        late.push(row, value)
        if row == at:
            late.trend(15)
    assert early.trend(15).score == late.trend(15).score
    assert early.trend(15).z == late.trend(15).z


def test_a_line_climbs_by_its_slope() -> None:
    """Theil-Sen's effect is that of the line, one outlier or not."""
    trend = Trend(11, [2.0 * n for n in range(11)])
    outlier = Trend(11, [2.0 * n if n != 5 else 900.0 for n in range(11)])
    assert theil_sen_rise(trend.values) == theil_sen_rise(outlier.values) == 20.0
    assert trend.tau == 1.0 and trend.z > 3.0


@given(st.lists(st.integers(-5, 5).map(float), min_size=17, max_size=17), st.integers(-20, 20))
def test_most_slopes_tell_whether_a_rise_is_larger(values: list[float], effect: int) -> None:
    """Counted by rank it is the same as from all slopes; sixteenths are exact."""
    pairs = list(combinations(enumerate(values), 2))
    steeper = sum((b - a) / (late - early) > effect / 16 for (early, a), (late, b) in pairs)
    assert rises_over(values, effect) == (2 * steeper > len(pairs))


@pytest.mark.parametrize("values", [[], [3.0]])
def test_less_than_two_values_do_not_rise(values: list[float]) -> None:
    """They have no slope."""
    assert not rises_over(values, -1.0)


@given(NUMBER_LISTS)
def test_the_surprise_of_a_trend_is_by_the_book(values: list[float]) -> None:
    """Mann-Kendall's z with the correction for ties (Kendall 1975), and tau over all pairs."""
    trend, size = Trend(60, values), len(values)
    score = sum((a < b) - (a > b) for a, b in combinations(values, 2))
    ties = sum(n * (n - 1) * (2 * n + 5) for n in Counter(values).values())
    variance = (size * (size - 1) * (2 * size + 5) - ties) / 18.0
    expected = (score - math.copysign(1.0, score)) / math.sqrt(variance) if score else 0.0
    assert trend.z == pytest.approx(expected)
    assert trend.tau == pytest.approx(score / max(1, math.comb(size, 2)))


@pytest.mark.parametrize(("values", "middle"), [([3.0], 3.0), ([5, 1, 3], 3), ([4, 1, 2, 9], 3)])
def test_a_median_is_the_middle(values: list[float], middle: float) -> None:
    """Of an even number of values the mean of both middle ones."""
    assert median(values) == middle


def test_nothing_has_no_median() -> None:
    """It is unknown, not 0."""
    assert math.isnan(median([]))


def test_a_slope_is_not_noise() -> None:
    """A straight climb has none; a zigzag by 1 has second differences of 2."""
    straight, zigzag, apart = Noise(), Noise(), Noise(2)
    for number in range(40):
        straight.push(3.0 * number)
        zigzag.push(float(number % 2))
        apart.push(float(number % 2))
    assert straight.std == straight.mean == apart.std == 0.0
    assert zigzag.std == pytest.approx(1.4826 * 2.0 / math.sqrt(6.0))
    assert zigzag.mean == pytest.approx(2.0 / math.sqrt(6.0))


def test_noise_is_that_of_the_last_sixty_values() -> None:
    """A second difference is forgotten when sixty newer ones are known."""
    noise = Noise()
    for number in range(111):
        noise.push(float(number % 2) if number < 50 else 0.0)
    assert noise.mean > 0.0
    noise.push(0.0)
    assert noise.mean == 0.0


@pytest.mark.parametrize("count", [0, 2, 3, 4, 61, 62, 63, 90])
def test_noise_is_the_same_value_by_value_and_at_once(count: int) -> None:
    """To the last digit, with ties and a jump among the values."""
    values = [math.sin(7.0 * number) // 0.1 + (number > 30) * 50.0 for number in range(count)]
    noise = Noise()
    for value in values:
        noise.push(value)
    assert noise_std(values) == noise.std


def test_a_jump_is_measured_in_the_usual_steps_of_the_logarithm() -> None:
    """Steps no smaller than the floor; too few values before it measure nothing."""
    doubled = [math.exp(-1.0), math.exp(1.0)] * 5
    assert robust_log_z(math.e, [1.0] * 10) == pytest.approx(4.0)
    assert robust_log_z(math.e, [1.0] * 10, floor=0.5) == pytest.approx(2.0)
    assert robust_log_z(math.e, doubled) == pytest.approx(1.0 / 1.4826)
    assert robust_log_z(math.e, [1.0] * 9) == robust_log_z(math.e, [*[1.0] * 9, -1.0]) == 0.0
    assert robust_log_z(-1.0, [1.0] * 10) == 0.0


@pytest.mark.parametrize(
    ("values", "leg", "swings"),
    [
        ([0.0, 10, 9, 10, 0, 1, 0, 10, 0], 5.0, 3),
        ([0.0, 10, 9, 10, 0, 1, 0, 10, 0], 20.0, 0),
        ([0.0, 10, 0], 10.0, 0),
        ([0.0, 10, 0], 9.0, 1),
        ([10.0, 0, 10], 9.0, 1),
        ([0.0, 10], 5.0, 0),
        ([0.0, 6, 3, 9, 6, 12], 5.0, 0),
        ([12.0, 6, 9, 3, 6, 0], 5.0, 0),
        ([0.0, 10, 0], 0.0, 0),
        ([], 5.0, 0),
    ],
)
def test_swings_count_turns_beyond_a_leg(values: list[float], leg: float, swings: int) -> None:
    """Small turns do not count, large ones do; without a size of legs there are none."""
    assert count_swings(values, leg) == swings


# --- histories -------------------------------------------------------------------------------


def history_of(values: list[float]) -> History:
    """A history of one value in each row."""
    history = History()
    for row, value in enumerate(values):
        history.push(row, value)
    return history


def with_inversions(count: int) -> list[float]:
    """Fifteen different values of which so many pairs fall, and all others rise."""
    values: list[float] = []
    for value in range(15):
        back = min(count, len(values))
        values.insert(len(values) - back, float(value))
        count -= back
    return values


@pytest.mark.parametrize(("falling_pairs", "rises"), [(32, True), (33, False)])
def test_a_rise_is_one_that_chance_makes_once_in_forty(falling_pairs: int, rises: bool) -> None:
    """Of 15 values 73 pairs must rise and 32 fall: z is 1.98, and with one pair less 1.88."""
    values = with_inversions(falling_pairs)
    assert history_of(values).rising() is rises
    assert history_of([-value for value in values]).falling() is rises
    assert not history_of(values).falling()
    assert not history_of([-value for value in values]).rising()


@pytest.mark.parametrize(("high", "rises"), [(2, False), (3, True)])
def test_a_rise_of_few_values_is_none(high: int, rises: bool) -> None:
    """Two values above thirteen equal ones surprise, but hardly a pair in four rises."""
    steps = [0.0] * (15 - high) + [1.0] * high
    assert history_of(steps).rising() is rises
    assert history_of([-value for value in steps]).falling() is rises


def test_a_rise_takes_fifteen_values() -> None:
    """Fewer say nothing, however straight they climb."""
    assert not history_of([float(n) for n in range(14)]).rising()
    assert not history_of([-float(n) for n in range(14)]).falling()
    assert history_of([float(n) for n in range(15)]).rising()


def test_a_history_keeps_its_first_values_and_its_last() -> None:
    """Twenty and sixty-four of them; extremes and counts are of all."""
    history = history_of([float(n) for n in range(300)])
    assert history.first == [float(n) for n in range(20)]
    assert history.recent == history.newest(100) == [float(n) for n in range(236, 300)]
    assert history.newest(3) == [297.0, 298.0, 299.0]
    assert history.previous(3) == [296.0, 297.0, 298.0]
    assert (history.count, history.low, history.high) == (300, 0.0, 299.0)
    assert (history.last, history.last_row) == (299.0, 299)
    assert (history.initial_level, history.level) == (2.0, 297.0)


def test_an_empty_history_has_no_value() -> None:
    """Neither a newest one nor any before it."""
    history = History()
    assert math.isnan(history.last) and history.last_row == -1
    assert history.first == history.recent == history.previous(3) == []
    assert history_of([1.0]).previous(3) == []


@pytest.mark.parametrize(("rise", "steeper"), [(8.99, True), (9.01, False)])
def test_a_straight_line_rises_from_its_first_value_to_its_last(rise: float, steeper: bool) -> None:
    """By nine in ten values one apart."""
    assert rises_over([float(n) for n in range(10)], rise) is steeper


@pytest.mark.parametrize(("last", "steeper"), [(0.5, True), (-0.5, False)])
def test_more_than_half_of_all_slopes_decide(last: float, steeper: bool) -> None:
    """Four of six; three are not enough."""
    assert rises_over([0.0, 1.0, 2.0, last], 0.0) is steeper


def test_two_values_make_a_line() -> None:
    """And no noise: that takes three."""
    assert theil_sen_rise([0.0, 5.0]) == 5.0
    noise = Noise()
    noise.push(0.0)
    noise.push(5.0)
    assert noise.std == 0.0
    noise.push(0.0)
    assert noise.std > 0.0


def test_rare_jumps_are_noise_that_most_values_do_not_show() -> None:
    """One of ten among forty zeros: bends of 10, 20 and 10 in 39."""
    noise = Noise()
    for number in range(41):
        noise.push(10.0 * (number == 20))
    assert noise.std == 0.0
    assert noise.robust == pytest.approx(0.75 * 40 / 39 / 6**0.5)


@pytest.mark.parametrize(
    ("before", "now", "back"), [(1.0, 1.0, True), (9.0, 1.0, False), (1.0, 9.0, False)]
)
def test_a_metric_is_back_if_it_is_now_and_mostly_was(
    before: float, now: float, back: bool
) -> None:
    """A few good values are none yet."""
    history = History()
    for row in range(40):
        history.push(row, before if row < 30 else now)
    assert history.is_back_below(5.0) is back
