"""The zoomed chart: one metric, or a stack of related ones with a shared cursor."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise

from ppo_top.catalogue import concept
from ppo_top.model import Axis
from ppo_top.runs.run import Run
from ppo_top.runs.timeline import Timeline, Track
from ppo_top.text.format import (
    clean,
    compact,
    count,
    duration,
    format_metric_value,
    healthy_text,
    steps,
)
from ppo_top.tui.draw.compare_chart import compare_lines
from ppo_top.tui.draw.curve_columns import style_of
from ppo_top.tui.graphics.axis_plot import (
    Chart,
    Curve,
    axis_range,
    connected_curves,
    draw_chart,
    points_to_draw,
)
from ppo_top.tui.graphics.styled_text import StyledLine, join_fitting, line
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import PanelTrack
from ppo_top.views.troubled_rows import column_statuses, meaningful

MIN_STACKED_LINES = 9
"""Lines of a chart in a stack, title included."""


def chart_lines(ui: UiState, snap: Snapshot, cells: int, rows: int) -> list[StyledLine]:
    """The body of the chart overlay."""
    if ui.overlay == "compare":
        return compare_lines(ui, snap, cells, rows)
    run, view = ui.run, snap.view
    if run is None or view is None or view.row is None:
        return [line(("no data yet", "dim"))]
    tracks = [(panel, track) for panel in view.panels for track in panel.tracks]
    found = next((each for each in tracks if each[1].track.concept == snap.concept), None)
    if found is None:
        return [line((" this metric is not logged", "dim"))]
    panel, track = found
    chosen = [track]
    if ui.chart.stacked:
        chosen = list(panel.tracks[: max(1, rows // MIN_STACKED_LINES)])
    heights = [rows // len(chosen)] * len(chosen)
    heights[-1] += rows % len(chosen)
    lines: list[StyledLine] = []
    for each, height in zip(chosen, heights, strict=True):
        lines += _track_lines(ui, snap, run, each, view.row, (cells, height))
    return lines


def _track_lines(
    ui: UiState, snap: Snapshot, run: Run, track: PanelTrack, row: int, size: tuple[int, int]
) -> list[StyledLine]:
    cells, rows = size
    seen = track.track.count_until(row)
    chart, note = _chart(ui, snap, run, track, row, cells)
    head = [_facts(snap, track, run.timeline.axis, cells)]
    if rows >= 8:
        head.append(_readout(ui, run.timeline, track, seen, cells))
    marked = [style for _, style in chart.vertical_lines if style != "cursor"]
    foot = [_chart_keys(snap, ui.chart, note, marked, cells)] if rows >= 12 else []
    room = rows - len(head) - len(foot)
    return [*head, *draw_chart(chart, cells, room, snap.symbols.braille), *foot]


def _facts(snap: Snapshot, track: PanelTrack, axis: Axis, cells: int) -> StyledLine:
    newest = format_metric_value(track.newest_value, track.fmt)
    parts = [
        line((" " + clean(track.label), "title")),
        line(("now ", "dim"), (newest, track.status.value)),
    ]
    if track.best is not None:
        best = format_metric_value(track.best.value, track.fmt)
        where = f" at {steps(track.best.step, axis=axis)}"
        parts.append(line(("best ", "dim"), (best, "value"), (where, "dim")))
    if track.healthy_range is not None and track.healthy_range.text:
        origin = f" ({clean(track.healthy_range.origin)})" if track.healthy_range.origin else ""
        text = snap.display_text(track.healthy_range.text)
        lead = healthy_text(text).removesuffix(text)
        parts.append(line((lead, "dim"), text, (origin, "dim")))
    if track.goal is not None:
        goal = format_metric_value(track.goal, track.fmt)
        parts.append(line(("goal ", "dim"), (goal, "info")))
    if track.trend:
        parts.append(line((track.trend, "dim")))
    return join_fitting(parts, cells)


def _readout(
    ui: UiState, timeline: Timeline, track: PanelTrack, seen: int, cells: int
) -> StyledLine:
    """The value under the cursor."""
    at = _under_cursor(ui.chart, track.track, seen)
    if at is None:
        return line((" no data up to the cursor", "dim"))
    drawn = track.track
    parts = [
        line((f" at {timeline.axis} ", "dim"), (count(drawn.steps[at]), "cursor")),
    ]
    if timeline.axis is Axis.STEP:
        parts.append(line((f"update {count(drawn.rows[at] + 1)}", "dim")))
    if drawn.times[at] == drawn.times[at] and drawn.times[at] > 1e9:
        clock = time.strftime("%H:%M:%S", time.localtime(drawn.times[at]))
        parts.append(line((clock, "dim")))
    value = format_metric_value(drawn.values[at], track.fmt)
    parts.append(line((f"{clean(track.label)} = ", "dim"), (value, "value")))
    if ui.chart.smoothing:
        smooth = smoothed(list(drawn.values[: at + 1]), ui.chart.smoothing)[-1]
        parts.append(line(("smoothed ", "dim"), format_metric_value(smooth, track.fmt)))
    return join_fitting(parts, cells)


def _under_cursor(chart: ChartOptions, track: Track, seen: int) -> int | None:
    if not seen:
        return None
    if chart.cursor_row is None:
        return seen - 1
    return min(max(track.count_until(chart.cursor_row) - 1, 0), seen - 1)


def _chart_keys(
    snap: Snapshot, chart: ChartOptions, note: str, marked: list[str], cells: int
) -> StyledLine:
    """The keys, a note, and the legend: `marked` are the styles of the lines of findings."""
    smoothing = f"{chart.smoothing:g}" if chart.smoothing else "off"
    parts = [
        line((" x ", "key"), (f"by {chart.axis}", "dim")),
        line(("l ", "key"), ("log " + ("on" if chart.log_scale else "off"), "dim")),
        line(("+ - 0 ", "key"), (f"smoothing {smoothing}", "dim")),
        line(("← → ", "key"), ("cursor", "dim")),
        line(("s ", "key"), ("stack", "dim")),
        line(("i o ", "key"), ("zoom in, out", "dim")),
    ]
    if note:
        parts.append(line((note, "warn")))
    if marked:
        lines = [(snap.symbols.vertical_line, style) for style in dict.fromkeys(marked)]
        parts.append(line(*lines, (" finding detected", "dim")))
    return join_fitting(parts, cells)


# --- the chart ----------------------------------------------------------------------------------


def x_axis(timeline: Timeline, axis: str) -> tuple[Callable[[int], float], Callable[[float], str]]:
    """Functions from a row to its x value, and from an x value to its label."""
    if axis == "time" and len(timeline.times) and timeline.times[0] == timeline.times[0]:
        start = timeline.times[0]

        def elapsed(row: int) -> float:
            when = timeline.times[row]
            return when - start if when == when else 0.0

        return elapsed, duration
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


def _chart(
    ui: UiState, snap: Snapshot, run: Run, track: PanelTrack, row: int, cells: int
) -> tuple[Chart, str]:
    to_x, x_label = x_axis(run.timeline, ui.chart.axis)
    drawn = track.track
    begin, seen = _points_shown(ui.chart, drawn, row)
    values = list(drawn.values[:seen])
    log_scale = ui.chart.log_scale and any(0 < each < math.inf for each in values[begin:])

    def to_y(amount: float) -> float:
        if not log_scale:
            return amount
        return math.log10(amount) if amount > 0 else math.nan

    def y_label(at: float) -> str:
        return format_metric_value(10.0**at if log_scale else at, track.fmt)

    kept = points_to_draw(drawn, seen, 2 * cells, begin)
    xs = [to_x(drawn.rows[at]) for at in kept]

    def joined(heights: Mapping[int, float], style: str) -> list[Curve]:
        points = [(x, to_y(heights.get(at, math.nan))) for x, at in zip(xs, kept, strict=True)]
        return connected_curves(points, [style] * len(kept))

    spread = _spread(run.timeline, drawn, kept)
    curves = [
        curve
        for sign in ((1.0, -1.0) if spread else ())
        for curve in joined({at: values[at] + sign * std for at, std in spread.items()}, "faint")
    ]
    if ui.chart.smoothing:
        means = smoothed(values, ui.chart.smoothing)
        curves += joined(dict(enumerate(values)), "faint") + joined(dict(enumerate(means)), "a")
    else:
        points = [(x, to_y(values[at])) for x, at in zip(xs, kept, strict=True)]
        curves += connected_curves(points, point_styles(track, kept, run.timeline))
    by_time = x_label is duration
    chart = Chart(curves, x_label=x_label, y_label=y_label, log_y=log_scale, time_x=by_time)
    chart.x_range = to_x(drawn.rows[begin]), to_x(drawn.rows[seen - 1])
    chart.y_range = axis_range([y for curve in curves for y in curve.ys])
    notes = _add_limits(chart, track, to_y)
    if spread:
        notes.append(f"faint: ± {concept(SPREAD_OF[drawn.concept]).label}")
    if log_scale and any(each <= 0 for each in values):
        notes.append("log axis: values ≤ 0 hidden")
    elif ui.chart.log_scale and not log_scale:
        notes.append("no value > 0: linear axis")
    _mark_findings(
        chart, run, drawn.concept, row, range(drawn.rows[begin], drawn.rows[seen - 1] + 1), to_x
    )
    _mark_non_finite(chart, snap, drawn, range(begin, seen), to_x)
    at = _under_cursor(ui.chart, drawn, seen)
    if at is not None and ui.chart.cursor_row is not None:
        chart.vertical_lines.append((to_x(drawn.rows[at]), "cursor"))
    return chart, " · ".join(notes)


SPREAD_OF = {"reward_mean": "reward_std", "eval_reward_mean": "eval_reward_std"}
"""Metric -> the standard deviation of what it is the mean of."""


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


def _points_shown(chart: ChartOptions, track: Track, row: int) -> tuple[int, int]:
    """The points of a track in the rows shown, as a range; all where none is there."""
    first, last = chart.window(row) or (0, row)
    begin, end = track.count_until(first - 1), track.count_until(last)
    return (begin, end) if begin < end else (0, track.count_until(row))


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


def _add_limits(chart: Chart, track: PanelTrack, to_y: Callable[[float], float]) -> list[str]:
    """Add the ends of the healthy range near the values; others are returned in words."""
    if chart.y_range is None:
        return []
    limits = [(track.goal, "goal")]
    if track.healthy_range is not None:
        limits += [(track.healthy_range.low, "limit"), (track.healthy_range.high, "limit")]
    low, high = chart.y_range
    reach = (high - low) * (2 if chart.log_y else 0.5)
    margin = (high - low) * 0.02
    beyond = []
    for limit, name in limits:
        at = to_y(limit) if limit is not None else math.nan
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
    chart: Chart, snap: Snapshot, track: Track, shown: range, to_x: Callable[[int], float]
) -> None:
    """Mark NaN and Inf at the bottom of the chart."""
    if chart.y_range is None:
        return
    bottom = chart.y_range[0]
    bad = [at for at in shown if not math.isfinite(track.values[at])]
    for at in bad[:: max(1, len(bad) // 200)]:
        chart.markers.append((to_x(track.rows[at]), bottom, snap.symbols.non_finite, "bad"))
