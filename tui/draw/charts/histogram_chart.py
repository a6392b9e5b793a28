"""The newest histogram of a metric, below its curve."""

from __future__ import annotations

import re

from ppo_top.model import Histogram
from ppo_top.runs.run import Run
from ppo_top.text.format import compact, count, format_metric_value
from ppo_top.tui.graphics.axis_plot import Chart, Curve, draw_chart
from ppo_top.tui.graphics.styled_text import StyledLine, line
from ppo_top.views.run_view import PanelTrack

MAX_BINS = 60
"""The most bars; never more than the writer had bins."""

MIN_LINES = 7
"""The fewest lines of the drawing, title included."""

QUANTILE_SUFFIX = re.compile(r"[@/](?:p\d+|max|min)$")
"""What parsers append to the tag of a histogram for its quantiles."""


def histogram_lines(
    run: Run, track: PanelTrack, row: int, size: tuple[int, int], braille: bool
) -> list[StyledLine]:
    """The histogram in `size` (cells, lines); nothing where there is none, or no room.

    Only the newest one is kept of a log, so there is none in the past.
    """
    cells, lines = size
    source, drawn = run.sources.get(track.track.source), track.track
    if source is None or lines < MIN_LINES or drawn.count_until(row) < len(drawn):
        return []
    if (drawn.scale, drawn.offset) != (1.0, 0.0):  # the metric is not in the writer's unit
        return []
    found = source.histograms.get(QUANTILE_SUFFIX.sub("", drawn.tag))
    if found is None:
        return []
    counts = found.in_equal_bins(min(MAX_BINS, cells // 2, len(found.counts)))
    if not any(counts):
        return []
    chart = Chart([_bars(found, counts, 2 * cells)], y_label=compact)
    chart.x_label = lambda value: format_metric_value(value, track.fmt)
    chart.x_range, chart.y_range = (found.low, found.high), (0.0, 1.05 * max(counts))
    values = f"{compact(sum(counts))} values" if sum(counts) > 1 else "shares"
    title = line((" histogram ", "title"), (f"{values} at step {count(drawn.steps[-1])}", "dim"))
    return [title, *draw_chart(chart, cells, lines - 1, braille)]


def _bars(histogram: Histogram, counts: list[float], columns: int) -> Curve:
    """The counts as filled bars: a line that goes up and down in each column."""
    width = (histogram.high - histogram.low) / columns
    xs: list[float] = []
    ys: list[float] = []
    for column in range(columns):
        left, height = histogram.low + column * width, counts[column * len(counts) // columns]
        xs += [left, left, left + width, left + width]
        ys += [0.0, height, height, 0.0]
    return Curve(xs, ys, "a")
