"""A line of step ticks below curves: by the rows of one run, or by the steps of several."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.text.format import compact
from ppo_top.tui.graphics.axis_plot import count_ticks

TICK_CELLS = 9
"""There is about one tick in so many cells."""


def step_axis(
    timeline: Timeline, row: int, rows_per_cell: float, cells: int, first: int = 0
) -> str:
    """The steps 1, 2 or 5 times a power of ten from row `first` on, each below its row's middle.

    One between the steps of two rows stands between these. A run that counts no steps has an empty
    axis.
    """
    steps = timeline.steps
    low, high = steps[first], steps[row]
    if high <= low:
        return ""

    def cell_of(tick: float) -> float:
        after = bisect_left(steps, tick, first, row + 1)
        gap = steps[after] - steps[max(after - 1, first)]
        back = min((steps[after] - tick) / gap, 1.0) if gap > 0 else 0.0  # a resumed run may repeat
        return (after - first + 0.5 - back) / rows_per_cell

    return _ticks_at(float(low), float(high), cells, cell_of)


class StepRange(NamedTuple):
    """The steps that charts of several runs show, from edge to edge."""

    low: float
    high: float

    def place(self, step: float) -> float:
        """Where a step stands: 0 at the left edge, 1 at the right."""
        return (step - self.low) / (self.high - self.low)

    def axis(self, cells: int) -> str:
        """A line of ticks."""
        return _ticks_at(self.low, self.high, cells, lambda tick: self.place(tick) * cells)


def _ticks_at(low: float, high: float, cells: int, cell_of: Callable[[float], float]) -> str:
    """Round numbers between two steps, each over its cell."""
    text = ""
    for tick in count_ticks(low, high, max(2, cells // TICK_CELLS)):
        label = compact(tick).replace(".0", "")
        middle = cell_of(tick)
        start = min(max(0, round(middle - len(label) / 2)), cells - len(label))
        if start > len(text) or (not text and start == 0):
            text = text.ljust(start) + label
    return text
