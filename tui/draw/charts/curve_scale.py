"""The axis of a metric: one for its sparkline and its charts, whatever their width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppo_top.catalogue import concept
from ppo_top.rules.engine.ranges import HealthyRange
from ppo_top.tui.draw.charts.curve_columns import step_bounds
from ppo_top.tui.draw.charts.overlaid_curves import other_curves
from ppo_top.tui.draw.charts.step_axis import StepRange
from ppo_top.tui.graphics.sparkline import Scale, choose_scale, extents_between
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.views.downsample import Extent, bucket_extents, stride, window_extents
from ppo_top.views.run_view import PanelTrack, RunView

MAX_SAMPLES = 240
"""An axis is chosen from so many equal parts of the rows; of fewer rows, from each of them."""

WHOLE_GROUPS = ("Reward", "Exploration")
"""Metrics whose extremes are levels, not spikes: where they began, and where they fell from."""


def curve_scale(
    snap: Snapshot, view: RunView, track: PanelTrack, shared: StepRange | None = None
) -> Scale:
    """The axis of a track, and of other runs' where they share an axis of steps.

    Spikes are off the scale, but not those of metrics whose extremes are levels.
    """
    if shared is None:
        samples = _samples_of_rows(snap, view, track)
    else:
        samples = _samples_of_steps(snap, view, track, shared)
    goal = HealthyRange(None, track.goal, "", "") if track.goal is not None else None
    metric = concept(track.track.concept)
    whole = metric.group in WHOLE_GROUPS or metric.fmt == "pct"  # a share has ends of its own
    scale = choose_scale(samples, goal or track.healthy_range, whole=whole)
    if metric.fmt == "int":
        return Scale(float(math.floor(scale.low)), float(math.ceil(scale.high)))
    return within_share(scale, samples) if metric.fmt == "pct" else scale


def within_share(scale: Scale, samples: Sequence[Extent]) -> Scale:
    """The axis of a share: from none to all of it at most, unless a value says otherwise."""
    lows = [each.low for each in samples if each.low is not None]
    highs = [each.high for each in samples if each.high is not None]
    low = max(scale.low, 0.0) if min(lows, default=0.0) >= 0.0 else scale.low
    high = min(scale.high, 1.0) if max(highs, default=1.0) <= 1.0 else scale.high
    return Scale(low, high) if low < high else scale


def _samples_of_rows(snap: Snapshot, view: RunView, track: PanelTrack) -> Sequence[Extent]:
    """The extremes of a track in the rows shown."""
    first, last = snap.window or (0, view.row or 0)
    rows = last - first + 1
    pyramid = snap.drawing_cache.pyramid_for(track.track)
    pyramid.grow()
    if snap.window is not None:
        size = stride(rows, min(rows, MAX_SAMPLES))
        return window_extents(pyramid, track.track.rows, first, last, size)
    size = stride(rows, MAX_SAMPLES, snap.is_growing) if rows > MAX_SAMPLES else 1.0
    return bucket_extents(pyramid, track.track.rows, last, size)


def _samples_of_steps(
    snap: Snapshot, view: RunView, track: PanelTrack, steps: StepRange
) -> Sequence[Extent]:
    """The extremes of a track and of the same metric in other runs, by equal ranges of steps."""
    first, last = snap.window or (0, view.row or 0)
    bounds = step_bounds(view.timeline, steps, MAX_SAMPLES, first, last)
    own = extents_between(track.track, snap.drawing_cache.pyramid_for(track.track), bounds)
    others = other_curves(snap, steps, track.track.concept, MAX_SAMPLES)
    return [*own, *(extent for other in others for extent in other.extents)]
