"""The best value of a track so far and where it is heading: what is said beside a sparkline."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ppo_top.runs.timeline import Track

TREND_POINTS = 30
"""Points that a trend is read from."""

MIN_TREND_POINTS = 6
"""Below this many points nothing is said about a trend."""

MIN_CHANGE_FACTOR = 2.0
"""A trend is a change of the median by this many times the usual step from point to point."""


class BestValue(NamedTuple):
    """The best value so far and the step at which it was reached."""

    value: float
    step: int


def best_value(track: Track, seen: int, direction: str) -> BestValue | None:
    """The best of the first `seen` points; None where no direction is better."""
    if direction not in ("up", "down"):
        return None
    records = track.highs if direction == "up" else track.lows
    at = records.index_of_best(track.values, seen)
    return None if at is None else BestValue(track.values[at], track.steps[at])


def trend(track: Track, seen: int) -> str:
    """`rising`, `falling` or `flat` over the last points; empty where it cannot be said."""
    values = [
        value for value in track.values[max(0, seen - TREND_POINTS) : seen] if value - value == 0
    ]
    if len(values) < MIN_TREND_POINTS:
        return ""
    third = len(values) // 3
    change = median(values[-third:]) - median(values[:third])
    usual = median(abs(later - earlier) for earlier, later in pairwise(values))
    floor = 1e-3 * max(map(abs, values))
    if abs(change) <= max(MIN_CHANGE_FACTOR * usual, floor):
        return "flat"
    return "rising" if change > 0 else "falling"
