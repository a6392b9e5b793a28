"""The zoomed chart: one metric, or a stack of related ones with a shared cursor."""

from __future__ import annotations

import time

from ppo_top.model import Axis
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.run import Run
from ppo_top.text.format import clean, count, format_metric_value, healthy_text, steps
from ppo_top.tui.draw.charts.compare_chart import compare_lines
from ppo_top.tui.draw.charts.histogram_chart import histogram_lines
from ppo_top.tui.draw.charts.metric_chart import metric_chart, smoothed, under_cursor
from ppo_top.tui.graphics.axis_plot import draw_chart
from ppo_top.tui.graphics.styled_text import StyledLine, join_fitting, line
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import PanelTrack

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
    chart, note = metric_chart(ui.chart, run, track, row, cells, snap.symbols.non_finite)
    head = [_facts(snap, track, run.timeline.axis, cells)]
    if rows >= 8:
        head.append(_readout(ui, run.timeline, track, seen, cells))
    marked = [style for _, style in chart.vertical_lines if style != "cursor"]
    foot = [_chart_keys(snap, ui.chart, note, marked, cells)] if rows >= 12 else []
    room = rows - len(head) - len(foot)
    below = histogram_lines(run, track, row, (cells, room // 3), snap.symbols.braille)
    drawn = draw_chart(chart, cells, room - len(below), snap.symbols.braille)
    return [*head, *drawn, *below, *foot]


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
    if track.healthy_range is not None and track.healthy_range.text and not _contradicts(track):
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


def _contradicts(track: PanelTrack) -> bool:
    """Whether the range is only words, and a finding says that the metric is not like that."""
    limits = track.healthy_range
    return track.status.is_trouble and limits is not None and limits.low is limits.high is None


def _readout(
    ui: UiState, timeline: Timeline, track: PanelTrack, seen: int, cells: int
) -> StyledLine:
    """The value under the cursor."""
    at = under_cursor(ui.chart, track.track, seen)
    if at is None:
        return line((" no data up to the cursor", "dim"))
    drawn = track.track
    parts = [
        line((f" at {timeline.axis} ", "dim"), (count(drawn.steps[at]), "cursor")),
    ]
    if timeline.axis.value != timeline.row_kind.value:
        parts.append(line((f"{timeline.row_kind} {count(drawn.rows[at] + 1)}", "dim")))
    if drawn.times[at] == drawn.times[at] and drawn.times[at] > 1e9:
        clock = time.strftime("%H:%M:%S", time.localtime(drawn.times[at]))
        parts.append(line((clock, "dim")))
    value = format_metric_value(drawn.values[at], track.fmt)
    parts.append(line((f"{clean(track.label)} = ", "dim"), (value, "value")))
    if ui.chart.smoothing:
        smooth = smoothed(list(drawn.values[: at + 1]), ui.chart.smoothing)[-1]
        parts.append(line(("smoothed ", "dim"), format_metric_value(smooth, track.fmt)))
    return join_fitting(parts, cells)


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
