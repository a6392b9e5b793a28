"""A line of step ticks below curves that begin with the run and end at its newest row."""

from __future__ import annotations

from bisect import bisect_left

from ppo_top.runs.timeline import Timeline
from ppo_top.text.format import compact
from ppo_top.tui.graphics.axis_plot import ticks

TICK_CELLS = 9
"""There is about one tick in so many cells."""


def step_axis(
    timeline: Timeline, row: int, rows_per_cell: float, cells: int, first: int = 0
) -> str:
    """The steps 1, 2 or 5 times a power of ten from row `first` on, each above its row's cell.

    A run that counts no steps has an empty axis.
    """
    steps = timeline.steps
    low, high = steps[first], steps[row]
    if high <= low:
        return ""
    text = ""
    for tick in ticks(float(low), float(high), max(2, cells // TICK_CELLS)):
        label = compact(tick).replace(".0", "")
        middle = (bisect_left(steps, tick, first, row + 1) - first) / rows_per_cell
        start = min(max(0, round(middle - len(label) / 2)), cells - len(label))
        if start > len(text) or (not text and start == 0):
            text = text.ljust(start) + label
    return text
