"""A curve as inline SVG: mean and range of columns, healthy limits, colours of what was true."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

from ppo_top.model import Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.ranges import Band
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.text.format import clean, compact, format_metric_value
from ppo_top.views.curves import PanelTrack
from ppo_top.views.downsample import MinMaxPyramid, bucket_extents, first_rows, stride
from ppo_top.views.troubled_rows import column_statuses, meaningful

COLUMNS = 240
WIDTH, HEIGHT = 360, 120
"""Size of the drawing in user units; a page scales it."""
LEFT, RIGHT, TOP, BOTTOM = 50, 6, 8, 16
"""Margins; the numbers of the axes stand in them, beside the curve."""
_NEAR_LIMIT = 0.5
"""A limit farther from the curve than this share of its range is not drawn to scale."""


class _Frame(NamedTuple):
    """Maps columns and values to the drawing."""

    columns: int
    low: float
    high: float

    def x(self, column: float) -> str:
        span = WIDTH - LEFT - RIGHT
        return f"{LEFT + span * column / max(self.columns - 1, 1):.1f}"

    def y(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM):.1f}"


def svg_chart(drawn: PanelTrack, timeline: Timeline, row: int) -> str:
    """The curve of a metric up to a row; "" if it has no finite value.

    Where a column stands for several rows, a line shows their mean and an area their range.
    """
    track = drawn.track
    size = stride(row + 1, min(COLUMNS, row + 1))
    extents = bucket_extents(MinMaxPyramid(track.values), track.rows, row, size)
    starts = first_rows(len(extents), size)
    last_rows = [*(start - 1 for start in starts[1:]), row]
    pairs = meaningful(track.concept, [each.extremes for each in extents], last_rows, timeline)
    known = [pair for pair in pairs if pair is not None]
    if not known:
        return ""
    limits = list(_near_limits(drawn.band, known))
    frame = _Frame(len(pairs), *value_axis(known, limits))
    statuses = column_statuses(starts, pairs, drawn.band, drawn.troubled)
    steps = timeline.steps
    parts = [
        *_limit_lines(frame, limits),
        *_pieces(frame, pairs, column_means(track, starts, row), statuses),
        *_limit_labels(frame, limits, drawn.fmt),
        *axis_numbers((WIDTH, HEIGHT), (frame.low, frame.high), (steps[0], steps[row]), drawn.fmt),
    ]
    title = escape(clean(f"{drawn.label}: {format_metric_value(drawn.newest_value, drawn.fmt)}"))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def _near_limits(band: Band | None, known: Sequence[tuple[float, float]]) -> Iterator[float]:
    """The limits that are within sight of the curve."""
    low, high = min(low for low, _ in known), max(high for _, high in known)
    reach = _NEAR_LIMIT * (high - low)
    for limit in () if band is None else (band.low, band.high):
        if limit is not None and low - reach <= limit <= high + reach:
            yield limit


def value_axis(
    known: Sequence[tuple[float, float]], limits: Sequence[float]
) -> tuple[float, float]:
    """The lowest and the highest value drawn."""
    low = min([*(low for low, _ in known), *limits])
    high = max([*(high for _, high in known), *limits])
    if high > low:
        return low, high
    space = abs(low) * 0.1 or 1.0
    return low - space, high + space


def column_means(track: Track, starts: Sequence[int], row: int) -> list[float]:
    """The mean of the finite values of each column; NaN where it has none."""
    ends = [bisect_left(track.rows, start) for start in (*starts, row + 1)]
    return [_finite_mean(track.values[first:last]) for first, last in pairwise(ends)]


def _finite_mean(values: Sequence[float]) -> float:
    total = sum(values)
    if values and math.isfinite(total):
        return total / len(values)
    finite = [value for value in values if math.isfinite(value)]
    return sum(value / len(finite) for value in finite) if finite else math.nan


def _limit_lines(frame: _Frame, limits: Sequence[float]) -> Iterator[str]:
    for limit in limits:
        yield f'<path class="limit" d="M{LEFT} {frame.y(limit)}H{WIDTH - RIGHT}"/>'


def _limit_labels(frame: _Frame, limits: Sequence[float], fmt: str) -> Iterator[str]:
    for limit in limits:
        y = float(frame.y(limit)) - 2
        yield _label(WIDTH - RIGHT, y, f"limit {format_metric_value(limit, fmt)}", "end")


def _pieces(
    frame: _Frame,
    pairs: Sequence[tuple[float, float] | None],
    means: Sequence[float],
    statuses: Sequence[Status],
) -> Iterator[str]:
    """A line for each stretch of columns of one status, and an area if it has a range; stretches
    touch each other.
    """
    drawn = [at for at, pair in enumerate(pairs) if pair is not None]
    before: int | None = None
    for status, group in groupby(drawn, key=lambda at: statuses[at]):
        columns = list(group)
        joined = columns if before is None else [before, *columns]
        lows, line, highs = [], [], []
        for at in joined:
            low, high = pairs[at] or (0.0, 0.0)
            mean = min(max(means[at], low), high)
            x, y = frame.x(at), frame.y(mean)
            line.append(f"{x} {y}")
            highs.append(f"{x} {frame.y(high)}")
            lows.append(f"{x} {frame.y(low)}")
        if highs != lows:
            yield f'<path class="{status.value} range" d="M{"L".join([*highs, *reversed(lows)])}"/>'
        if len(line) > 1:
            yield f'<path class="{status.value}" d="M{"L".join(line)}"/>'
        elif len(drawn) == 1:
            yield f'<path class="{status.value} dot" d="M{line[0]}h0"/>'
        before = columns[-1]


def axis_numbers(
    size: tuple[int, int], values: tuple[float, float], steps: tuple[int, int], fmt: str
) -> Iterator[str]:
    """The lowest and highest value, the first and last step, in the margins of a drawing."""
    width, height = size
    low, high = (format_metric_value(value, fmt) for value in values)
    yield _label(LEFT - 4, TOP + 6, high, "end")
    yield _label(LEFT - 4, height - BOTTOM, low, "end")
    yield _label(LEFT, height - 3, compact(steps[0]), "start")
    yield _label(width - RIGHT, height - 3, compact(steps[1]), "end")


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
