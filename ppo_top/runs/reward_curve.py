"""The reward of a run over its steps in few numbers, which are kept when its points are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ppo_top.model import Axis
from ppo_top.model.named_tuple import NamedTuple

if TYPE_CHECKING:  # a report that is printed again needs no timeline
    from ppo_top.runs.rows.timeline import Timeline

MAX_BINS = 128
"""Bins of a curve."""


class RewardCurve(NamedTuple):
    """Means of the reward in bins of `width` steps (a power of two), those that are not empty.

    Bin `numbers[i]` begins at step `numbers[i] * width`, and is the mean of `counts[i]` values.
    Because each width divides the next, a curve does not depend on how often it was extended.
    `rows` are the rows of the timeline that it covers, `axis` is that of its steps.
    """

    metric: str = ""
    width: int = 1
    numbers: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    rows: int = 0
    axis: Axis = Axis.STEP

    @property
    def end(self) -> int:
        """The step at which it ends; 0 if it is empty."""
        return (self.numbers[-1] + 1) * self.width if self.numbers else 0

    @property
    def bins(self) -> Iterator[tuple[int, float, int]]:
        """Number, mean and count of each bin."""
        return zip(self.numbers, self.means, self.counts, strict=True)


def extended_curve(
    before: RewardCurve, timeline: Timeline, rows: int, metrics: Iterable[str]
) -> RewardCurve:
    """A curve with the values of further rows of a timeline, up to `rows`.

    It is of the first of these metrics that is logged; of another one than before, from the start.
    """
    metric = next((name for name in metrics if len(timeline.tracks.get(name, ()))), "")
    if not metric or rows <= before.rows:
        return before
    if metric != before.metric:
        before = RewardCurve(metric)
    track = timeline.tracks[metric]
    first, last = (track.count_until(row - 1) for row in (before.rows, rows))
    bins, width = list(before.bins), before.width
    new = zip(track.steps[first:last], track.values[first:last], strict=True)
    bins += ((max(step, 0) // width, value, 1) for step, value in new if math.isfinite(value))
    shift, highest = 0, max((number for number, _, _ in bins), default=0)
    while highest >> shift >= MAX_BINS:
        shift += 1
    sums: dict[int, tuple[float, int]] = {}
    for number, mean, count in bins:
        total, counted = sums.get(number >> shift, (0.0, 0))
        sums[number >> shift] = total + mean * count, counted + count
    numbers = sorted(sums)
    return RewardCurve(
        metric,
        width << shift,
        tuple(numbers),
        tuple(sums[number][0] / sums[number][1] for number in numbers),
        tuple(sums[number][1] for number in numbers),
        rows,
        timeline.axis,
    )
