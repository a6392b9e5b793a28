"""Several runs on one metric: seeds as mean and band, and this run against its other seeds."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from statistics import mean, stdev

from ppo_top.catalogue import concept
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.text.format import (
    clean,
    compact,
    dated,
    format_metric_value,
    number,
    plural,
    tick_time,
)
from ppo_top.tui.draw.charts.metric_chart import ValueScale
from ppo_top.tui.graphics.axis_plot import (
    Chart,
    Curve,
    connected_curves,
    count_ticks,
    draw_chart,
    points_to_draw,
    time_ticks,
)
from ppo_top.tui.graphics.styled_text import StyledLine, join_fitting, line, shorten
from ppo_top.tui.state.comparison import (
    comparable_groups,
    compared_runs,
    groups_that_fit,
    seeds_among,
)
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.ui_state import UiState

GROUP_STYLES = "abcdefgh"
"""A style for each of `MAX_GROUPS` curves."""


def value_at(track: Track, xs: Sequence[float], x: float, seen: int | None = None) -> float:
    """The last finite value of a track at or before `x`; NaN before the first.

    `xs` are the positions of its points, `seen` how many of them count (None: all).
    """
    at = _last_finite(track, bisect_right(xs, x, 0, len(track) if seen is None else seen))
    return track.values[at] if at is not None else math.nan


def _last_finite(track: Track, seen: int) -> int | None:
    """The index of the last finite value among the first `seen`."""
    return next((at for at in reversed(range(seen)) if math.isfinite(track.values[at])), None)


class ComparedRun(NamedTuple):
    """A run on the chart: its track, the x values of its points, and how many are shown."""

    run: Run
    track: Track
    xs: Sequence[float]
    seen: int


def compare_lines(ui: UiState, snap: Snapshot, cells: int, rows: int) -> list[StyledLine]:
    """The overlay's body: title, chart, legend."""
    name, axis = snap.concept, ui.chart.axis
    groups = comparable_groups(ui, name)
    if not groups:
        return [line((" no run logs this metric", "dim"))]
    fitting = groups_that_fit(groups, rows)
    loading = sum(not run.is_whole for run in compared_runs(fitting))
    metric = concept(name)
    x_label = tick_time if axis == "time" else compact
    scale = ValueScale(metric.fmt, log=False)
    chart = Chart(x_label=x_label, y_label=scale.label, y_ticks=scale.ticks)
    chart.x_ticks = time_ticks if axis == "time" else count_ticks
    chart.y_shares = metric.fmt == "pct"
    legend: list[StyledLine] = []
    styles = iter(GROUP_STYLES)
    for group, members in fitting:
        loaded = _loaded(members, name)
        if not loaded:
            continue
        style = next(styles)
        shown = [_compared_run(ui, run, name, axis) for run in loaded]
        chart.curves += _curves(shown, style, 2 * cells)
        legend.append(_legend(snap, group, shown, name, style, cells))
    amount = sum(len(members) for _, members in groups)
    some = sum(len(members) for _, members in fitting)
    which = plural(amount, "run") if some == amount else f"{some} of {plural(amount, 'run')}"
    tracks = snap.view.tracks if snap.view is not None else []
    label = next((each.label for each in tracks if each.track.concept == name), "")
    parts = [line((f" {clean(label or metric.label)} of {which} by {axis}", "title"))]
    if some < amount:
        parts.append(line(("/ ", "key"), ("filter", "dim")))
    if loading:
        parts.append(line((f"loading {loading}", "info")))
    parts.append(line(("x ", "key"), ("step, time, update", "dim")))
    siblings = _loaded(seeds_among(ui, fitting), name)
    head = [join_fitting(parts, cells), _compared_with_seeds(ui, siblings, name, cells)]
    room = rows - len(head) - len(legend)
    return [*head, *draw_chart(chart, cells, room, snap.symbols.braille), *legend]


def _loaded(runs: list[Run], name: str) -> list[Run]:
    """Those that have all points in memory, and some of this metric."""
    return [run for run in runs if run.is_whole and run.timeline.tracks.get(name)]


def _compared_run(ui: UiState, run: Run, name: str, axis: str) -> ComparedRun:
    """A run as shown now: in a replay, up to the time at the cursor."""
    track = run.timeline.tracks[name]
    row = ui.row_of(run)
    seen = len(track) if row is None else track.count_until(row)
    return ComparedRun(run, track, x_values(run, track, axis), seen)


def x_values(run: Run, track: Track, axis: str) -> Sequence[float]:
    """The x values of a track: steps, update numbers, or seconds since the run began."""
    start = run.timeline.times[0] if len(run.timeline) else math.nan
    if axis == "time" and start == start:
        return [time - start if time == time else 0.0 for time in track.times]
    return track.steps if axis == "step" else [row + 1 for row in track.rows]


def _curves(shown: list[ComparedRun], style: str, points: int) -> list[Curve]:
    """One run as it is; several as their mean and, faintly, their minimum and maximum."""
    started = [each for each in shown if each.seen]
    if len(started) < 2:
        return [curve for each in started for curve in _single(each, style, points)]
    first = min(each.xs[0] for each in started)
    last = max(each.xs[each.seen - 1] for each in started)
    grid = [first + (last - first) * at / max(points - 1, 1) for at in range(points)]
    middle, low, high = Curve([], [], style), Curve([], [], "faint"), Curve([], [], "faint")
    for x in grid:
        here = [each for each in started if x <= each.xs[each.seen - 1] + 1e-9]
        values = [value_at(each.track, each.xs, x, each.seen) for each in here]
        finite = [each for each in values if math.isfinite(each)]
        if not finite:
            continue
        for curve, y in ((middle, mean(finite)), (low, min(finite)), (high, max(finite))):
            curve.xs.append(x)
            curve.ys.append(y)
    return [low, high, middle]


def _single(shown: ComparedRun, style: str, points: int) -> list[Curve]:
    """The curve of one run, with a gap where a value is not finite."""
    kept = points_to_draw(shown.track, shown.seen, points)
    values = [(shown.xs[at], shown.track.values[at]) for at in kept]
    return connected_curves(values, [style] * len(kept))


def _legend(
    snap: Snapshot, group: str, shown: list[ComparedRun], name: str, style: str, cells: int
) -> StyledLine:
    last = [(each.track, _last_finite(each.track, each.seen)) for each in shown]
    told = [(track, at) for track, at in last if at is not None]
    newest = [track.values[at] for track, at in told]
    fmt = concept(name).fmt
    alone = len(shown) == 1
    label = shown[0].run.name if alone else f"{group} ({plural(len(shown), 'seed')})"
    bar = "=" if snap.symbols.ascii_only else "━━"
    parts = [line((f" {bar} ", style), shorten(clean(label), max(cells // 2, 12)))]
    if not newest:
        return join_fitting([*parts, line(("no data yet", "dim"))], cells)
    parts.append(line(("last ", "dim"), (format_metric_value(mean(newest), fmt), "value")))
    if len(newest) > 1:
        low, high = (format_metric_value(each, fmt) for each in (min(newest), max(newest)))
        parts.append(line((f"{low} to {high}", "dim")))
    step = max(track.steps[at] for track, at in told)
    parts.append(line((f"at {dated(shown[0].run.timeline.axis, step)}", "dim")))
    return join_fitting(parts, cells)


def _compared_with_seeds(ui: UiState, siblings: list[Run], name: str, cells: int) -> StyledLine:
    """The selected run against the other seeds of its group at the same step."""
    run = ui.run
    track = run.timeline.tracks.get(name) if run is not None else None
    others = [each for each in siblings if run is not None and each.id != run.id]
    if run is None or track is None or not others:
        return line((" no other seeds", "dim"))
    step = run.timeline.steps[ui.cursor.current_row(run.timeline)]
    here = value_at(track, track.steps, step)
    tracks = [each.timeline.tracks[name] for each in others]
    there = [value_at(each, each.steps, step) for each in tracks]
    there = [each for each in there if math.isfinite(each)]
    if not there or not math.isfinite(here):
        return line((f" other seeds: no data at this {run.timeline.axis}", "dim"))
    fmt = concept(name).fmt
    others_text = "other seed" if len(there) == 1 else f"{len(there)} other seeds"
    text = f" this seed {format_metric_value(here, fmt)}, {others_text} "
    spread = stdev(there) if len(there) > 1 else 0.0
    text += format_metric_value(mean(there), fmt)
    if spread > 0:
        z_score = (here - mean(there)) / spread
        text += f" ± {format_metric_value(spread, fmt)} ({number(abs(z_score), 2)} sd "
        text += "above)" if z_score > 0 else "below)"
    return line((shorten(f"{text} ({dated(run.timeline.axis, step)})", cells), "value"))
