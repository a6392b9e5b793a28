"""The best value of a track up to any row, also after truncating and dropping."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Mark, Series
from ppo_top.runs.timeline import MIN_TRACK_POINTS, Timeline, Track
from ppo_top.views.trend import BestValue, best_value

NAN = math.nan
VALUES = st.lists(st.one_of(st.floats(-9, 9), st.sampled_from([NAN, math.inf, -math.inf])))


def track_of(values: list[float]) -> Track:
    """A track with a value in every row, at steps of ten."""
    track = Track("reward_mean", "reward", "log")
    for row, value in enumerate(values):
        track.append(Mark(row, 10 * row, NAN), value)
    return track


def expected_best(values: list[float], direction: str) -> BestValue | None:
    """The first of the best finite values, by definition."""
    finite = [(value, -row) for row, value in enumerate(values) if math.isfinite(value)]
    if not finite:
        return None
    choose = max(finite) if direction == "up" else min(finite, key=lambda pair: (pair[0], -pair[1]))
    return BestValue(choose[0], -10 * choose[1])


@given(VALUES, st.lists(st.integers(0, 40)), st.sampled_from(["up", "down"]))
def test_the_best_of_every_prefix(values: list[float], lengths: list[int], direction: str) -> None:
    """For prefixes in any order, and in both directions of the same track."""
    track = track_of(values)
    other = "down" if direction == "up" else "up"
    for seen in (min(each, len(values)) for each in lengths):
        assert best_value(track, seen, direction) == expected_best(values[:seen], direction)
        assert best_value(track, seen, other) == expected_best(values[:seen], other)


@given(VALUES, VALUES, st.integers(0, 20))
def test_a_truncated_best_value_is_forgotten(
    values: list[float], later: list[float], length: int
) -> None:
    """The newest rows may be added again with other values."""
    track = track_of(values)
    best_value(track, len(values), "up")
    track.truncate(length)
    kept = values[:length]
    for row, value in enumerate(later, len(kept)):
        track.append(Mark(row, 10 * row, NAN), value)
    assert best_value(track, len(track), "up") == expected_best(kept + later, "up")


def test_dropped_points_cannot_be_the_best() -> None:
    """The remaining rows keep their numbers."""
    values = [9.0] + [float(row) for row in range(20)]
    track = track_of(values)
    assert best_value(track, len(track), "up") == BestValue(19.0, 200)
    track.drop_before(21)
    assert len(track) == MIN_TRACK_POINTS
    assert best_value(track, len(track), "up") == BestValue(19.0, 200)
    assert best_value(track, len(track), "down") == BestValue(12.0, 130)


def test_no_best_value_without_a_better_direction() -> None:
    """Neither a high nor a low learning rate is better."""
    assert best_value(track_of([1.0, 2.0]), 2, "") is None
