"""A curve as inline SVG: its range at each column, healthy limits, colours of what was true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from ppo_top.model import Status
from ppo_top.rules.engine.ranges import Band
from ppo_top.runs.timeline import Timeline
from ppo_top.text.format import clean, compact, format_metric_value
from ppo_top.views.curves import PanelTrack
from ppo_top.views.downsample import MinMaxPyramid, bucket_extents, first_rows, stride
from ppo_top.views.troubled_rows import column_statuses, meaningful

COLUMNS = 240
WIDTH, HEIGHT = 360, 120
"""Size of the drawing in user units; a page scales it."""
LEFT, RIGHT, TOP, BOTTOM = 4, 4, 14, 14
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

    Steps stand below it, the ends of the value axis inside.
    """
    track = drawn.track
    size = stride(row + 1, min(COLUMNS, row + 1))
    extents = bucket_extents(MinMaxPyramid(track.values), track.rows, row, size)
    starts = first_rows(len(extents), size)
    last_rows = [*(start - 1 for start in starts[1:]), row]
    ends = [(e.low, e.high) if e.low is not None and e.high is not None else None for e in extents]
    pairs = meaningful(track.concept, ends, last_rows, timeline)
    known = [pair for pair in pairs if pair is not None]
    if not known:
        return ""
    limits = list(_near_limits(drawn.band, known))
    frame = _Frame(len(pairs), *_value_axis(known, limits))
    statuses = column_statuses(starts, pairs, drawn.band, drawn.troubled)
    steps = timeline.steps
    parts = [
        *_limit_lines(frame, limits, drawn.fmt),
        *_pieces(frame, pairs, statuses),
        _label(LEFT, TOP - 4, format_metric_value(frame.high, drawn.fmt), "start"),
        _label(LEFT, HEIGHT - BOTTOM - 2, format_metric_value(frame.low, drawn.fmt), "start"),
        _label(LEFT, HEIGHT - 3, compact(steps[0]), "start"),
        _label(WIDTH - RIGHT, HEIGHT - 3, compact(steps[row]), "end"),
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


def _value_axis(
    known: Sequence[tuple[float, float]], limits: Sequence[float]
) -> tuple[float, float]:
    low = min([*(low for low, _ in known), *limits])
    high = max([*(high for _, high in known), *limits])
    if high > low:
        return low, high
    space = abs(low) * 0.1 or 1.0
    return low - space, high + space


def _limit_lines(frame: _Frame, limits: Sequence[float], fmt: str) -> Iterator[str]:
    for limit in limits:
        y = frame.y(limit)
        yield f'<path class="limit" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield _label(WIDTH - RIGHT, float(y) - 2, f"limit {format_metric_value(limit, fmt)}", "end")


def _pieces(
    frame: _Frame, pairs: Sequence[tuple[float, float] | None], statuses: Sequence[Status]
) -> Iterator[str]:
    """One path for each stretch of columns of one status; stretches touch each other."""
    drawn = [at for at, pair in enumerate(pairs) if pair is not None]
    before: int | None = None
    for status, group in groupby(drawn, key=lambda at: statuses[at]):
        columns = list(group)
        joined = columns if before is None else [before, *columns]
        points = []
        for at in joined:
            low, high = pairs[at] or (0.0, 0.0)
            y = frame.y(high)
            points.append(f"{frame.x(at)} {y}" + (f"V{frame.y(low)}" if low < high else ""))
        path = "L".join(points) if len(points) > 1 else f"{points[0]}h1"
        yield f'<path class="{status.value}" d="M{path}"/>'
        before = columns[-1]


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
