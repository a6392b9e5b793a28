"""The points of a track: its best value at any moment, whatever was cut off or dropped."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Mark, Series
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import MIN_TRACK_POINTS, Track
from ppo_top.views.trend import BestValue, best_value, trend
from ppo_top.views.troubled_rows import returns_settled

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


def extreme(track: Track, seen: int, direction: str) -> BestValue | None:
    """The highest or lowest of the first points, as the track has recorded it."""
    records = track.highs if direction == "up" else track.lows
    at = records.index_of_best(track.values, seen)
    return None if at is None else BestValue(track.values[at], track.steps[at])


@given(VALUES, st.lists(st.integers(0, 40)), st.sampled_from(["up", "down"]))
def test_the_best_of_every_beginning_is_by_definition(
    values: list[float], moments: list[int], direction: str
) -> None:
    """Asked in any order of moments, and in both directions of the same track."""
    track = track_of(values)
    other = "down" if direction == "up" else "up"
    for seen in (min(each, len(values)) for each in moments):
        assert extreme(track, seen, direction) == expected_best(values[:seen], direction)
        assert extreme(track, seen, other) == expected_best(values[:seen], other)


@given(VALUES, VALUES, st.integers(0, 20))
def test_a_best_that_was_cut_off_is_forgotten(
    values: list[float], later: list[float], length: int
) -> None:
    """The newest rows may come again with other values."""
    track = track_of(values)
    extreme(track, len(values), "up")
    track.truncate(length)
    kept = values[:length]
    for row, value in enumerate(later, len(kept)):
        track.append(Mark(row, 10 * row, NAN), value)
    assert extreme(track, len(track), "up") == expected_best(kept + later, "up")


def test_of_a_track_whose_beginning_was_dropped_the_rest_counts() -> None:
    """Rows keep their numbers; what was dropped cannot be the best any more."""
    values = [9.0] + [float(row) for row in range(20)]
    track = track_of(values)
    assert extreme(track, len(track), "up") == BestValue(19.0, 200)
    track.drop_before(21)
    assert len(track) == MIN_TRACK_POINTS
    assert extreme(track, len(track), "up") == BestValue(19.0, 200)
    assert extreme(track, len(track), "down") == BestValue(12.0, 130)


def settled_timeline() -> Timeline:
    """Returns whose value loss has fallen to nothing, the highest of it long ago."""
    timeline = Timeline()
    loss = timeline.tracks["value_loss"] = Track("value_loss", "loss", "log", (), timeline)
    for row in range(60):
        timeline.steps.append(row)
        timeline.times.append(NAN)
        loss.append(Mark(row, row, NAN), 50.0 / (row + 1) ** 4)
    return timeline


def test_what_is_said_of_a_run_does_not_hang_on_its_dropped_points() -> None:
    """Neither where only its newest rows are held, nor where it comes from the cache."""
    timeline = settled_timeline()
    assert returns_settled(timeline, 59)
    assert returns_settled(Timeline.restored(timeline.saved(keep=20)), 59)
    timeline.drop_before(50)
    assert returns_settled(timeline, 59)
    assert returns_settled(Timeline.restored(timeline.saved(keep=5)), 59)


@given(VALUES, st.lists(st.integers(0, 2), max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_a_track_over_a_series_holds_what_it_was_given(
    values: list[float], gaps: list[int], until: int, length: int
) -> None:
    """Rows without a point, points without a row, rows dropped with their points, rows cut off."""
    part, timeline = Series("reward"), Timeline()
    track = Track("reward_mean", "reward", "log", [part], timeline, -2.0, 1.0)
    expected: list[tuple[int, int, float]] = []
    for point, (value, gap) in enumerate(zip(values, gaps, strict=False)):
        part.steps.append(7)
        part.times.append(NAN)
        part.values.append(value)
        for _ in range(gap):
            timeline.steps.append(10 * len(timeline))
            timeline.times.append(NAN)
        if gap:
            row = len(timeline) - 1
            track.extend(row, 0, point)
            expected.append((row, 10 * row, 1.0 - 2.0 * value))
    kept = [each for each in expected if each[0] >= until]
    if len(kept) < MIN_TRACK_POINTS:
        kept = expected[-MIN_TRACK_POINTS:]
    if until:
        track.drop_before(until)
        part.drop_before(len(part))
        expected = kept
    track.truncate(length)
    found = list(zip(track.rows, track.steps, track.values, strict=True))
    assert repr(found) == repr(expected[:length])
    assert [track.values[at] for at in range(-len(track), 0)] == pytest.approx(
        [value for *_, value in expected[:length]], nan_ok=True
    )


def test_where_no_direction_is_better_there_is_no_best() -> None:
    """A learning rate has none; nor is a low loss an achievement, or a single point the best."""
    assert best_value(track_of([1.0, 2.0]), 2, "") is None
    assert best_value(track_of([1.0, 2.0]), 2, "down") is None
    assert best_value(track_of([1.0]), 1, "up") is None
    assert best_value(track_of([1.0, 2.0]), 2, "up") == BestValue(2.0, 10)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], ""),
        ([float(number) for number in range(12)], "rising"),
        ([float(-number) for number in range(12)], "falling"),
        ([3.0] * 12, "flat"),
        ([NAN] * 3 + [float(number) for number in range(12)], "rising"),
        ([float(number) for number in range(12)] + [NAN], ""),
        ([10.0 * number for number in range(18)] + [9.7, 9.3, 9.3], "falling"),
        ([200.0 + number % 3 for number in range(27)] + [9.7, 9.3, 9.3], "falling"),
        ([float(number) for number in range(18)] + [16.0, 17.0, 16.0], "rising"),
    ],
)
def test_where_a_curve_is_heading(values: list[float], shown: str) -> None:
    """Nowhere with few points, nor from a value that is no number; nor up once it has crashed."""
    assert trend(track_of(values), len(values)) == shown


def test_rows_of_a_profiler_are_no_updates() -> None:
    """TRL's writes times of the first step into W&B and Trackio before there is any metric."""
    timeline = Timeline()
    rows = [
        {"step", "stage_time{generate}"},
        {"step", "stage_time{generate}", "reward_mean"},
        {"step", "reward_mean"},
        {"step"},
        {"step_time", "reward_mean"},
    ]
    for number, concepts in enumerate(rows):
        timeline.steps.append(number)
        timeline.note_rows(number, 1, concepts)
    assert timeline.count_updates(len(rows) - 1) == 3
