"""Statistics that are kept up to date value by value agree with their definitions."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.stats import Noise, Trend, count_swings

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
    assert trend.effect() == outlier.effect() == 20.0
    assert trend.tau == 1.0 and trend.z > 3.0


def test_a_slope_is_not_noise() -> None:
    """A straight climb has none, a zigzag has its own size."""
    straight, zigzag = Noise(), Noise()
    for number in range(40):
        straight.push(3.0 * number)
        zigzag.push(float(number % 2))
    assert straight.std == 0.0
    assert 0.5 < zigzag.std < 2.0


def test_swings_count_turns_beyond_a_leg() -> None:
    """Small turns do not count, large ones do."""
    values = [0.0, 10, 9, 10, 0, 1, 0, 10, 0]
    assert count_swings(values, 5.0) == 3
    assert count_swings(values, 20.0) == 0
