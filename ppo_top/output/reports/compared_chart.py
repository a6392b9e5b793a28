"""The reward of several runs in one drawing: what a page of a few runs begins with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape
from statistics import mean, stdev

from ppo_top.catalogue import concept
from ppo_top.model import Axis
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.reports.svg_chart import (
    BOTTOM,
    COLUMNS,
    LEFT,
    RIGHT,
    TOP,
    axis_numbers,
    column_means,
    value_axis,
)
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.text.format import clean, dated, format_metric_value
from ppo_top.views.downsample import first_rows, stride
from ppo_top.views.seed_groups import RunTraits, group_seeds, run_traits

MAX_COMPARED = 10
"""More curves than these cannot be told apart."""

WIDTH, HEIGHT = 720, 220
"""Twice as wide as the charts below it, with the same margins."""


class ComparedCurve(NamedTuple):
    """The reward of a run: means of columns of its rows, each at the step of its last row."""

    name: str
    traits: RunTraits
    metric: str
    axis: Axis
    points: Sequence[tuple[int, float]]
    newest: float
    """The last value of all, which the checklist shows, too."""


def compared_curve(run: Run) -> ComparedCurve | None:
    """The curve of a run; None without a reward."""
    timeline = run.timeline
    names = (name for name in REWARD_CONCEPTS if timeline.tracks.get(name))
    metric = next(names, "")
    if not metric:
        return None
    track, last = timeline.tracks[metric], len(timeline) - 1
    size = stride(last + 1, min(COLUMNS, last + 1))
    starts = first_rows(math.ceil((last + 1) / size - 1e-9), size)
    means = column_means(track, starts, last)
    rows = [*(start - 1 for start in starts[1:]), last]
    points = [(timeline.steps[row], y) for row, y in zip(rows, means, strict=True) if y == y]
    traits = run_traits(run.name, run.evaluation.config)
    newest = track.values[len(track) - 1]
    return (
        ComparedCurve(run.name, traits, metric, timeline.axis, points, newest) if points else None
    )


def compared_chart(curves: Sequence[ComparedCurve]) -> str:
    """A figure of the runs that log the same reward; "" if they are fewer than two, or too many."""
    kinds = Counter((curve.metric, curve.axis) for curve in curves)
    if not kinds:
        return ""
    metric, axis = kinds.most_common(1)[0][0]
    shown = [curve for curve in curves if (curve.metric, curve.axis) == (metric, axis)]
    if not 2 <= len(shown) <= MAX_COMPARED:
        return ""
    about = concept(metric)
    title = escape(f"{about.label} of {len(shown)} runs by {axis}")
    legend = "".join(
        f'<li class="run{at}"><span class="dim">{escape(clean(curve.name))}</span> '
        f"{format_metric_value(curve.newest, about.fmt)}</li>"
        for at, curve in enumerate(shown)
    )
    return (
        f"<h3>Compared</h3><figure><figcaption><span>{title}</span>"
        f'<span class="dim">{escape(_spread(shown))}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f'<title>{title}</title>{_drawing(shown, about.fmt)}</svg><ul class="runs">{legend}</ul>'
        "</figure>"
    )


def _spread(curves: Sequence[ComparedCurve]) -> str:
    """`at step 26,624: 196.3 ± 3.6 (mean and standard deviation of 5 seeds)`."""
    steps = {curve.points[-1][0] for curve in curves}
    groups = group_seeds({str(at): curve.traits for at, curve in enumerate(curves)})
    if len(groups) > 1 or len(steps) > 1 or not all(math.isfinite(each.newest) for each in curves):
        return ""
    last, fmt = [curve.newest for curve in curves], concept(curves[0].metric).fmt
    around = f"{format_metric_value(mean(last), fmt)} ± {format_metric_value(stdev(last), fmt)}"
    at = dated(curves[0].axis, steps.pop())
    return f"at {at}: {around} (mean and standard deviation of {len(last)} seeds)"


def _drawing(curves: Sequence[ComparedCurve], fmt: str) -> str:
    xs = [x for curve in curves for x, _ in curve.points]
    low, high = value_axis([(y, y) for curve in curves for _, y in curve.points], [])
    first, last = min(xs), max(xs)

    def place(x: float, y: float) -> str:
        across = (x - first) / max(last - first, 1) * (WIDTH - LEFT - RIGHT)
        up = (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return f"{LEFT + across:.1f} {HEIGHT - BOTTOM - up:.1f}"

    paths = [
        f'<path class="run{at}" d="M{"L".join(place(*point) for point in curve.points)}"/>'
        for at, curve in enumerate(curves)
    ]
    numbers = axis_numbers((WIDTH, HEIGHT), (low, high), (first, last), fmt)
    return "".join((*paths, *numbers))
