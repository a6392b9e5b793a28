"""The contents of the chart of one metric: curves, limits, marks of findings and the cursor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from ppo_top.catalogue import concept
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.text.format import compact, format_metric_value, tick_time
from ppo_top.tui.draw.charts.curve_columns import SPREAD_OF, style_of
from ppo_top.tui.graphics.axis_plot import (
    Chart,
    Curve,
    Ticks,
    axis_range,
    connected_curves,
    count_ticks,
    log_ticks,
    points_to_draw,
    ticks,
    time_ticks,
)
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.views.run_view import PanelTrack
from ppo_top.views.troubled_rows import column_statuses, meaningful


def x_axis(timeline: Timeline, axis: str) -> tuple[Callable[[int], float], Callable[[float], str]]:
    """Functions from a row to its x value, and from an x value to its label."""
    if axis == "time" and len(timeline.times) and timeline.times[0] == timeline.times[0]:
        start = timeline.times[0]

        def elapsed(row: int) -> float:
            when = timeline.times[row]
            return when - start if when == when else 0.0

        return elapsed, tick_time
    if axis == "step":
        return lambda row: float(timeline.steps[row]), compact
    return lambda row: float(row + 1), compact


def smoothed(values: list[float], weight: float) -> list[float]:
    """Exponential moving average with bias correction; non-finite values are skipped."""
    total = amount = 0.0
    means = []
    for each in values:
        if math.isfinite(each):
            total = total * weight + each
            amount = amount * weight + 1.0
        means.append(total / amount if amount else math.nan)
    return means


@dataclass(slots=True)
class ValueScale:
    """From values to places on the y axis and back to labels."""

    fmt: str
    log: bool

    def place(self, value: float) -> float:
        """Where a value is drawn; NaN: nowhere."""
        if not self.log:
            return value
        return math.log10(value) if value > 0 else math.nan

    def label(self, at: float) -> str:
        """The value at a place."""
        return format_metric_value(10.0**at if self.log else at, self.fmt)

    @property
    def ticks(self) -> Ticks:
        """What chooses the ticks: those of a logarithm are exponents of ten."""
        return log_ticks if self.log else count_ticks if self.fmt == "int" else ticks


def metric_chart(
    options: ChartOptions, run: Run, track: PanelTrack, row: int, cells: int, bad: str
) -> tuple[Chart, str]:
    """The chart of a metric up to a row, and notes on it; `bad` marks NaN and infinities."""
    to_x, x_label = x_axis(run.timeline, options.axis)
    drawn = track.track
    begin, seen = points_shown(options, drawn, row)
    values = list(drawn.values[:seen])
    positive = any(0 < each < math.inf for each in values[begin:])
    scale = ValueScale(track.fmt, options.log_scale and positive)
    kept = points_to_draw(drawn, seen, 2 * cells, begin)
    spread = _spread(run.timeline, drawn, kept)
    curves = _curves(options, run, track, kept, spread, scale)
    chart = Chart(curves, x_label=x_label, y_label=scale.label, y_ticks=scale.ticks)
    chart.x_ticks = time_ticks if x_label is tick_time else count_ticks
    chart.y_shares = track.fmt == "pct" and not scale.log
    chart.x_range = to_x(drawn.rows[begin]), to_x(drawn.rows[seen - 1])
    chart.y_range = axis_range([y for curve in curves for y in curve.ys])
    notes = _add_limits(chart, track, scale)
    if spread:
        notes.append(f"faint: ± {concept(SPREAD_OF[drawn.concept]).label}")
    if scale.log and any(each <= 0 for each in values):
        notes.append("log axis: values ≤ 0 hidden")
    elif options.log_scale and not scale.log:
        notes.append("no value > 0: linear axis")
    rows = range(drawn.rows[begin], drawn.rows[seen - 1] + 1)
    _mark_findings(chart, run, drawn.concept, row, rows, to_x)
    _mark_non_finite(chart, bad, drawn, range(begin, seen), to_x)
    at = under_cursor(options, drawn, seen)
    if at is not None and options.cursor_row is not None:
        chart.vertical_lines.append((to_x(drawn.rows[at]), "cursor"))
    return chart, " · ".join(notes)


def _curves(
    options: ChartOptions,
    run: Run,
    track: PanelTrack,
    kept: list[int],
    spread: Mapping[int, float],
    scale: ValueScale,
) -> list[Curve]:
    """The values at the points `kept`, between the curves of their spread, or behind their mean."""
    values = track.track.values
    to_x, _ = x_axis(run.timeline, options.axis)
    xs = [to_x(track.track.rows[at]) for at in kept]

    def joined(heights: Mapping[int, float], styles: list[str]) -> list[Curve]:
        ys = (scale.place(heights.get(at, math.nan)) for at in kept)
        return connected_curves(list(zip(xs, ys, strict=True)), styles)

    faint = ["faint"] * len(kept)
    curves: list[Curve] = []
    for sign in (1.0, -1.0) if spread else ():
        curves += joined({at: values[at] + sign * std for at, std in spread.items()}, faint)
    heights = {at: values[at] for at in kept}
    if not options.smoothing:
        return curves + joined(heights, point_styles(track, kept, run.timeline))
    means = smoothed(list(values[: kept[-1] + 1]), options.smoothing) if kept else []
    return curves + joined(heights, faint) + joined(dict(enumerate(means)), ["a"] * len(kept))


def _spread(timeline: Timeline, track: Track, kept: Sequence[int]) -> dict[int, float]:
    """The standard deviation beside some points of a mean, by index, where it was logged."""
    spread = timeline.tracks.get(SPREAD_OF.get(track.concept, ""))
    if spread is None:
        return {}
    found = {}
    for at in kept:
        there = spread.count_until(track.rows[at]) - 1
        if there >= 0 and spread.rows[there] == track.rows[at]:
            found[at] = spread.values[there]
    return found


def points_shown(chart: ChartOptions, track: Track, row: int) -> tuple[int, int]:
    """The points of a track in the rows shown, as a range; all where none is there."""
    first, last = chart.window(row) or (0, row)
    begin, end = track.count_until(first - 1), track.count_until(last)
    return (begin, end) if begin < end else (0, track.count_until(row))


def under_cursor(chart: ChartOptions, track: Track, seen: int) -> int | None:
    """The index of the point under the chart's cursor, of the first `seen`; None: there is none."""
    if not seen:
        return None
    if chart.cursor_row is None:
        return seen - 1
    return min(max(track.count_until(chart.cursor_row) - 1, 0), seen - 1)


MAX_STYLE_CHANGES = 120
"""A curve that changes its style more often is coloured in blocks of points, by their worst."""


def point_styles(track: PanelTrack, kept: list[int], timeline: Timeline) -> list[str]:
    """The style of each of some points of a track: what was true there."""
    values = [track.track.values[at] for at in kept]
    extremes = [(each, each) if math.isfinite(each) else None for each in values]
    rows = [track.track.rows[at] for at in kept]
    shown = meaningful(track.track.concept, extremes, rows, timeline)
    troubled = [each for each in track.troubled if each.first <= rows[-1]]
    statuses = column_statuses(rows, shown, track.band, troubled)
    if sum(one is not other for one, other in pairwise(statuses)) > MAX_STYLE_CHANGES:
        size = -(-len(statuses) // MAX_STYLE_CHANGES)
        blocks = (statuses[at : at + size] for at in range(0, len(statuses), size))
        worst = ([max(block, key=lambda each: each.rank)] * len(block) for block in blocks)
        statuses = list(chain.from_iterable(worst))
    return [style_of(status) for status in statuses]


def _mark_findings(
    chart: Chart, run: Run, name: str, row: int, shown: range, to_x: Callable[[int], float]
) -> None:
    """A line where each finding was detected, in the colour of its severity as known at a row."""
    for finding in run.findings:
        if name in finding.concepts and finding.opened.row in shown:
            severity = max(each.severity for each in finding.changes if each.mark.row <= row)
            chart.vertical_lines.append((to_x(finding.opened.row), severity.word))


def _add_limits(chart: Chart, track: PanelTrack, scale: ValueScale) -> list[str]:
    """Add the ends of the healthy range near the values; others are returned in words."""
    if chart.y_range is None:
        return []
    limits = [(track.goal, "goal")]
    if track.healthy_range is not None:
        limits += [(track.healthy_range.low, "limit"), (track.healthy_range.high, "limit")]
    low, high = chart.y_range
    reach = (high - low) * (2 if scale.log else 0.5)
    margin = (high - low) * 0.02
    beyond = []
    for limit, name in limits:
        at = scale.place(limit) if limit is not None else math.nan
        if not math.isfinite(at):
            continue
        if low - reach <= at <= high + reach:
            chart.horizontal_lines.append((at, "ok" if name == "limit" else "info"))
            chart.y_range = min(chart.y_range[0], at - margin), max(chart.y_range[1], at + margin)
        else:
            side = "below" if at < low else "above"
            beyond.append(f"{name} {format_metric_value(limit, track.fmt)} is {side} the axis")
    return beyond


def _mark_non_finite(
    chart: Chart, bad: str, track: Track, shown: range, to_x: Callable[[int], float]
) -> None:
    """Mark NaN and Inf at the bottom of the chart."""
    if chart.y_range is None:
        return
    bottom = chart.y_range[0]
    found = [at for at in shown if not math.isfinite(track.values[at])]
    for at in found[:: max(1, len(found) // 200)]:
        chart.markers.append((to_x(track.rows[at]), bottom, bad, "bad"))
