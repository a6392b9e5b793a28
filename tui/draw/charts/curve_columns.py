"""The columns of a curve: extremes of the values, and the colour of what was true there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from ppo_top.model import Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.tui.draw.charts.step_axis import StepRange
from ppo_top.tui.graphics.braille_plot import Spread
from ppo_top.tui.graphics.sparkline import column_extents, extents_between
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.views.downsample import Extent, first_rows, stride
from ppo_top.views.run_view import PanelTrack, RunView
from ppo_top.views.troubled_rows import column_statuses, meaningful


class CurveColumns(NamedTuple):
    """The columns of a curve and the style of each.

    A column holds `size` rows, the first of them from row `first` on. Where several runs share an
    axis of steps, `bounds` are the rows at which columns begin.
    """

    extents: list[Extent]
    styles: list[str]
    size: float
    first: int = 0
    bounds: Sequence[int] = ()


def style_of(status: Status) -> str:
    """The style of a curve where a metric had a status."""
    return status.value if status.is_trouble else "curve"


def curve_columns(snap: Snapshot, view: RunView, track: PanelTrack, columns: int) -> CurveColumns:
    """A track up to the view's row, or in the rows shown, in about `columns` columns."""
    row, window = view.row or 0, snap.window
    first, last = window or (0, row)
    size = stride(last - first + 1, columns, snap.is_growing and window is None)
    pyramid = snap.drawing_cache.pyramid_for(track.track)
    extents = column_extents(track.track, pyramid, last, size, None if window is None else first)
    if track.band is None and not track.troubled:
        return CurveColumns(extents, ["curve"] * len(extents), size, first)
    starts = [first + row for row in first_rows(len(extents) + 1, size)]
    return CurveColumns(extents, _styles(view, track, extents, starts, last), size, first)


def _styles(
    view: RunView, track: PanelTrack, extents: list[Extent], starts: list[int], last: int
) -> list[str]:
    """The style of each column; `starts` are their first rows and the row after the last."""
    extremes = [each.extremes for each in extents]
    troubled = [each for each in track.troubled if each.first <= last]
    last_rows = [max(start, after - 1) for start, after in pairwise(starts)]
    shown = meaningful(track.track.concept, extremes, last_rows, view.timeline)
    statuses = column_statuses(starts[:-1], shown, track.band, troubled)
    return [style_of(status) for status in statuses]


def columns_by_step(
    snap: Snapshot, view: RunView, track: PanelTrack, steps: StepRange, columns: int
) -> CurveColumns:
    """A track in columns of as many steps each, as other runs share them."""
    first, last = snap.window or (0, view.row or 0)
    bounds = step_bounds(view.timeline, steps, columns, first, last)
    extents = extents_between(track.track, snap.drawing_cache.pyramid_for(track.track), bounds)
    filled = [at for at, (start, stop) in enumerate(pairwise(bounds)) if start < stop]
    starts = [*(bounds[at] for at in filled), last + 1]
    found = _styles(view, track, [extents[at] for at in filled], starts, last)
    by_column = dict(zip(filled, found, strict=True))
    styles, style = [], "curve"
    for at in range(len(extents)):
        style = by_column.get(at, style)
        styles.append(style)
    return CurveColumns(extents, styles, 0.0, first, bounds)


def step_bounds(
    timeline: Timeline, steps: StepRange, columns: int, first: int, last: int
) -> list[int]:
    """The row at which each column of a range of steps begins, and the row after the last one.

    Columns beyond row `last` are left out.
    """
    wide = (steps.high - steps.low) / columns
    edges = (steps.low + at * wide for at in range(columns))
    bounds = [bisect_left(timeline.steps, edge, first, last + 1) for edge in edges]
    return [*bounds[: bisect_left(bounds, last + 1)], last + 1]


SPREAD_OF = {"reward_mean": "reward_std", "eval_reward_mean": "eval_reward_std"}
"""Metric -> the standard deviation of what it is the mean of."""


def spread_columns(
    snap: Snapshot, view: RunView, track: PanelTrack, drawn: CurveColumns
) -> list[Spread]:
    """One standard deviation below and above a mean in each of its columns, where it is logged."""
    spread = view.timeline.tracks.get(SPREAD_OF.get(track.track.concept, ""))
    if spread is None:
        return []
    last = snap.window.last if snap.window is not None else view.row or 0
    first = drawn.first if snap.window is not None else None
    pyramid = snap.drawing_cache.pyramid_for(spread)
    if drawn.bounds:
        spreads = extents_between(spread, pyramid, drawn.bounds)
    else:
        spreads = column_extents(spread, pyramid, last, drawn.size, first)
    return [
        (mean.last - std.last, mean.last + std.last)
        if mean.last is not None and std.last is not None
        else None
        for mean, std in zip(drawn.extents, spreads, strict=False)
    ]
