"""The best value of a track so far and where it is heading: what is said beside a sparkline."""

from __future__ import annotations

from itertools import islice, pairwise
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


RECHECKED_POINTS = 128
"""The newest points are looked at afresh each time: a look ahead may have been taken back."""

_best_cache: dict[int, tuple[Track, int, int]] = {}
"""id of a track -> the track, how many of its points were looked at, and the index of the best."""


def best_value(track: Track, seen: int, direction: str) -> BestValue | None:
    """The best of the first `seen` points; None where no direction is better."""
    if direction not in ("up", "down"):
        return None
    sign = 1.0 if direction == "up" else -1.0
    settled = max(0, seen - RECHECKED_POINTS)
    kept = _best_cache.get(id(track))
    if kept is None or kept[0] is not track or kept[1] > settled:
        kept = (track, 0, -1)
    at = _highest(track, sign, kept[1], settled, kept[2])
    if len(_best_cache) > 2_000:
        _best_cache.clear()
    _best_cache[id(track)] = (track, settled, at)
    at = _highest(track, sign, settled, seen, at)
    return BestValue(track.values[at], track.steps[at]) if at >= 0 else None


def _highest(track: Track, sign: float, start: int, stop: int, at: int) -> int:
    """The index of the highest `sign * value` from `start` on, or `at` where that is higher."""
    top = sign * track.values[at] if at >= 0 else float("-inf")
    for number, value in enumerate(islice(track.values, start, stop), start):
        if top < sign * value < float("inf"):
            top, at = sign * value, number
    return at


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
