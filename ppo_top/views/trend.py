"""The best value of a track so far, and its trend: shown next to a sparkline."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.stats import median
from ppo_top.runs.rows.track import Track

TREND_POINTS = 30
"""Newest points that a trend is computed from."""

MIN_TREND_POINTS = 6
"""With fewer points there is no trend."""

MIN_BEST_POINTS = 2
"""A single point is not the best of any."""

MIN_CHANGE_FACTOR = 2.0
"""A trend changes the median by more than this many typical steps between points."""


TURN_POINTS, MIN_TURN_SHARE = 3, 0.5
"""So many newest points show that a trend is over, if they undo so much of it: a reward that has
just crashed does not rise."""


class BestValue(NamedTuple):
    """The best value so far, and the step that reached it."""

    value: float
    step: int


def best_value(track: Track, seen: int, direction: str) -> BestValue | None:
    """The best of the first `seen` points, where higher is better and there are others.

    The lowest loss, gradient or share of cut completions is no achievement: a dead policy has it.
    """
    if direction != "up" or seen < MIN_BEST_POINTS:
        return None
    best = track.highs.index_of_best(track.values, seen)
    return None if best is None else BestValue(track.values[best], track.steps[best])


def trend(track: Track, seen: int) -> str:
    """`rising`, `falling` or `flat` over the last points; empty with too few of them, or if the
    newest is not finite.
    """
    newest = track.values[max(0, seen - TREND_POINTS) : seen]
    values = [value for value in newest if value - value == 0]  # the finite ones
    if len(values) < MIN_TREND_POINTS or newest[-1] - newest[-1] != 0:
        return ""
    third = len(values) // 3
    change = median(values[-third:]) - median(values[:third])
    turn = median(values[-TURN_POINTS:]) - median(values[-third - TURN_POINTS : -TURN_POINTS])
    typical = median([abs(later - earlier) for earlier, later in pairwise(values)])
    least = max(MIN_CHANGE_FACTOR * typical, 1e-3 * max(map(abs, values)))
    if abs(turn) > max(least, MIN_TURN_SHARE * abs(change)):
        change = turn
    if abs(change) <= least:
        return "flat"
    return "rising" if change > 0 else "falling"
