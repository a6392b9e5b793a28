"""The plot of a panel: a curve with the numbers of its axis and the names of its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import compact, duration, format_metric_value, number, percent
from ppo_top.tui.draw.charts.curve_columns import (
    columns_by_step,
    curve_columns,
    spread_columns,
)
from ppo_top.tui.draw.charts.curve_scale import curve_scale
from ppo_top.tui.draw.charts.overlaid_curves import other_curves, shared_steps
from ppo_top.tui.draw.charts.step_axis import StepRange, step_axis
from ppo_top.tui.graphics import sparkline
from ppo_top.tui.graphics.braille_plot import PlotText, draw_braille_plot, in_band
from ppo_top.tui.graphics.styled_text import StyledLine, line
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.views.run_view import PanelTrack, RunView

AXIS_CELLS = 7
"""The widest number of an axis."""

MIN_LABELLED_CELLS = 20
"""The narrowest plot with numbers."""


def draw_panel_plot(
    snap: Snapshot, view: RunView, track: PanelTrack, size: tuple[int, int], has_steps: bool
) -> list[StyledLine]:
    """The curve in `size` (cells, lines); the last line has the steps if `has_steps`."""
    wide, high = size[0], size[1] - (1 if has_steps else 0)
    per_cell = 2 if snap.symbols.braille else 1
    shared = shared_steps(snap, view)
    if shared is None:
        columns, others = curve_columns(snap, view, track, wide * per_cell), []
    else:
        columns = columns_by_step(snap, view, track, shared, wide * per_cell)
        others = other_curves(snap, shared, track.track.concept, wide * per_cell)
    scale = curve_scale(snap, view, track, shared)
    named = [*limit_texts(track, scale, high, snap.symbols)]
    if track.goal is not None:
        named.append(goal_text(track.goal, track.fmt, scale, high, snap.symbols))
    x_axis = _x_axis(snap, view, columns.size * per_cell, wide, shared)
    marks = dict.fromkeys(x_axis.restarts, (snap.symbols.restart, "restart"))
    spread = spread_columns(snap, view, track, columns)
    texts = [*axis_texts(scale, track.fmt, high), *named]
    drawn = draw_braille_plot(
        columns.extents,
        columns.styles,
        (wide, high),
        track.healthy_range,
        snap.symbols,
        scale,
        marks,
        texts if wide >= MIN_LABELLED_CELLS else (),
        [each.row for each in named if each.text.startswith("goal")],
        spread,
        others,
    )
    if has_steps:
        drawn.append(line((x_axis.ticks, "dim")))
    return drawn


class XAxis(NamedTuple):
    """Below a plot: its ticks, and the cells at which the run was resumed."""

    ticks: str
    restarts: list[int]


def _x_axis(
    snap: Snapshot, view: RunView, rows_per_cell: float, wide: int, shared: StepRange | None
) -> XAxis:
    first, last = snap.window or (0, view.row or 0)
    rows = [row for row in view.timeline.restarts if first <= row <= last]
    if shared is None:
        ticks = step_axis(view.timeline, last, rows_per_cell, wide, first)
        return XAxis(ticks, [int((row - first) / rows_per_cell) for row in rows])
    places = (shared.place(view.timeline.steps[row]) for row in rows)
    return XAxis(shared.axis(wide), [int(place * wide) for place in places])


def axis_texts(scale: sparkline.Scale, fmt: str, high: int) -> list[PlotText]:
    """The values at the upper and the lower edge."""
    upper, lower = edge_labels(scale, fmt)
    if not upper:
        return []
    return [PlotText(upper, 0, "dim"), PlotText(lower, high - 1, "dim")]


def limit_texts(
    track: PanelTrack, scale: sparkline.Scale, high: int, symbols: Symbols
) -> Iterator[PlotText]:
    """The healthy range by name: at its limit, or with an arrow where it is off the scale.

    Of two limits in a row of the plot the one that is nearer to the newest value is named.
    """
    if track.healthy_range is None:
        return
    low, top = track.healthy_range.low, track.healthy_range.high
    shows_band = any(in_band(row, high, track.healthy_range, scale) for row in range(high))
    limits = [(limit, sign) for limit, sign in ((low, "≥"), (top, "≤")) if limit is not None]
    newest = track.newest_value
    if newest is not None and math.isfinite(newest):
        limits.sort(key=lambda each: abs(newest - each[0]))
    taken = set[int]()
    for limit, sign in limits:
        row = high - 1 - scale.level_of(limit, high)
        if row in taken:
            continue
        taken.add(row)
        name = f"limit {format_metric_value(limit, track.fmt)}"
        text = name
        if shows_band and (low is None or top is None):
            text = symbols.translate(f"healthy {sign} {format_metric_value(limit, track.fmt)}")
        elif limit > scale.high:
            text = f"{symbols.above_scale} {name}"
        elif limit < scale.low:
            text = f"{symbols.below_scale} {name}"
        yield PlotText(text, row, "limit", name)


def goal_text(
    goal: float, fmt: str, scale: sparkline.Scale, high: int, symbols: Symbols
) -> PlotText:
    """The user's goal by name, at its line, or with an arrow where it is off the scale."""
    name = f"goal {format_metric_value(goal, fmt)}"
    arrow = symbols.above_scale if goal > scale.high else symbols.below_scale
    off = not scale.low <= goal <= scale.high
    row = high - 1 - scale.level_of(goal, high)
    return PlotText(f"{arrow} {name}" if off else name, row, "info", name)


def edge_labels(scale: sparkline.Scale, fmt: str) -> tuple[str, str]:
    """Labels of the upper and lower edge, with enough digits to differ."""
    for digits in (2, 3, 4):
        upper, lower = _edge(scale.high, fmt, digits), _edge(scale.low, fmt, digits)
        if upper != lower:
            return upper, lower
    return "", ""


def _edge(amount: float, fmt: str, digits: int) -> str:
    """A number in the cells of the axis: rounded, never cut off."""
    if fmt in ("%", "pct") and len(share := percent(amount)) <= AXIS_CELLS:
        return share
    if fmt == "s" and digits == 2 and len(span := duration(amount)) <= AXIS_CELLS:
        return span
    spellings = [number(amount, digits), number(amount, 2)]
    if abs(amount) >= 1000:
        spellings.append(compact(amount))
    return next((text for text in spellings if len(text) <= AXIS_CELLS), f"{amount:.0e}")
