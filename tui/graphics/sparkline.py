"""Sparklines: bars with a scale, arrows beyond it, crosses at NaN.

They are drawn from `Extent`s (lowest, highest and last value per column), so that a spike of a
single update stays visible, however long the history.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.rows.track import Track
from ppo_top.tui.graphics.styled_text import Span, StyledLine
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.views.downsample import Extent, MinMaxPyramid, bucket_extents, window_extents

OFF_SCALE_FACTOR = 3.0
"""Values further beyond the usual range than this many spreads are off the scale (arrow)."""


SPIKE_FACTOR = 2.0
"""A column whose extremes are this many times farther apart than usual contains a spike."""

SAMPLES_PER_OUTLIER = 30
"""One sample in this many may be off the scale: a spike, not a change of level."""


class SparkLimits(Protocol):
    """A healthy range; an open end is None."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class Scale(NamedTuple):
    """The values at the lower and the upper edge of a drawing."""

    low: float
    high: float

    def level_of(self, value: float, steps: int) -> int:
        """The level of a value among `steps`: 0 at the bottom; clipped at the edges."""
        share = (value - self.low) / (self.high - self.low)
        return min(steps - 1, max(0, int(share * steps)))


def column_extents(
    track: Track, pyramid: MinMaxPyramid, row: int, size: float, first: int | None = None
) -> list[Extent]:
    """A track up to a row (and from row `first` on), in columns of `size` rows.

    Columns without a point (a metric that is logged rarely) hold the last value.
    """
    pyramid.grow()
    if first is None:
        return _held(bucket_extents(pyramid, track.rows, row, size), None)
    extents = window_extents(pyramid, track.rows, first, row, size)
    return _held(extents, _value_before(track, pyramid, first))


def extents_between(track: Track, pyramid: MinMaxPyramid, bounds: Sequence[int]) -> list[Extent]:
    """A track in columns that begin at the rows `bounds`; the last of them ends the last column.

    Columns without a point hold the last value.
    """
    pyramid.grow()
    points = [bisect_left(track.rows, row) for row in bounds]
    extents = [pyramid.extent(start, stop) for start, stop in pairwise(points)]
    return _held(extents, _value_before(track, pyramid, bounds[0]))


def _value_before(track: Track, pyramid: MinMaxPyramid, row: int) -> float | None:
    """The last value before a row."""
    before = track.count_until(row - 1)
    return pyramid.extent(before - 1, before).last if before else None


def _held(extents: Sequence[Extent], last: float | None) -> list[Extent]:
    """Columns of which those without a point hold the value before them."""
    held: list[Extent] = []
    for extent in extents:
        if extent.last is None and not extent.non_finite and last is not None:
            extent = Extent(last, last, last, False)
        last = extent.last if extent.last is not None else last
        held.append(extent)
    return held


def is_outside(low: float, high: float, limits: SparkLimits | None) -> bool:
    """Whether any value between two extremes is outside a range."""
    if limits is None:
        return False
    too_low = limits.low is not None and low < limits.low
    return too_low or (limits.high is not None and high > limits.high)


def choose_scale(
    samples: Sequence[Extent], limits: SparkLimits | None = None, *, whole: bool = False
) -> Scale:
    """The range to draw: that of the values, without the few that would flatten the others.

    `whole`: with all of them. The edges are round numbers, so that they rarely move while values
    arrive.
    """
    lows = sorted(each.low for each in samples if each.low is not None)
    highs = sorted(each.high for each in samples if each.high is not None)
    if not lows:
        return Scale(0.0, 1.0)
    low, high = (lows[0], highs[-1]) if whole else _without_outliers(lows, highs)
    span = high - low
    zero = low == high == 0  # has no size of its own
    for limit in (limits.low, limits.high) if limits else ():
        if limit is not None and (zero or low - span <= limit <= high + span):
            low, high = min(low, limit), max(high, limit)
    return _rounded(low, high)


def _without_outliers(lows: list[float], highs: list[float]) -> tuple[float, float]:
    """The extremes, or the usual range if a few samples are far outside it."""
    edge = max(1, len(lows) // SAMPLES_PER_OUTLIER) if len(lows) >= 8 else 0
    usual_low, usual_high = lows[edge], highs[-1 - edge]
    spread = max(usual_high - usual_low, 0.05 * max(abs(usual_high), abs(usual_low)))
    most = OFF_SCALE_FACTOR * spread
    low = lows[0] if usual_low - lows[0] <= most else usual_low - spread / 2
    high = highs[-1] if highs[-1] - usual_high <= most else usual_high + spread / 2
    return low, high


def _rounded(low: float, high: float) -> Scale:
    span = high - low
    if low == high == 0:
        return Scale(0.0, 1.0)
    if not math.isfinite(span) or span <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = abs(low) * 0.1
        return Scale(low - half, low + half) if math.isfinite(span) else Scale(-1e308, 1e308)
    step = 10 ** math.floor(math.log10(span)) / 4
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


# --- one line --------------------------------------------------------------------------------


def draw_bars(
    columns: Sequence[Extent],
    styles: Sequence[str],
    symbols: Symbols,
    scale: Scale,
) -> StyledLine:
    """One character per column: its level, an arrow if off the scale, a cross for NaN.

    A column of many values is drawn at their middle, or at the extreme if it contains a spike:
    drawing only extremes would turn the noise of a long run into a comb.
    """
    usual = _usual_span(columns)
    spans: list[Span] = []
    before: float | None = None
    for column, style in zip(columns, styles, strict=True):
        value = _height(column, before, usual)
        spans.append(_bar(column, value, style, symbols, scale))
        before = column.last if column.last is not None else before
    return merge_spans(spans)


def _usual_span(columns: Sequence[Extent]) -> float:
    """The median distance between the extremes of the columns."""
    spans = sorted(
        column.high - column.low
        for column in columns
        if column.low is not None and column.high is not None
    )
    return spans[len(spans) // 2] if spans else 0.0


def _height(column: Extent, before: float | None, usual: float) -> float | None:
    """The value drawn for a column: the middle, or the extreme of a spike."""
    if column.low is None or column.high is None:
        return None
    if column.high - column.low <= SPIKE_FACTOR * usual:
        return column.low / 2 + column.high / 2
    start = column.last if before is None else before
    upwards = start is None or column.high - start >= start - column.low
    return column.high if upwards else column.low


def _bar(column: Extent, value: float | None, style: str, symbols: Symbols, scale: Scale) -> Span:
    if column.non_finite:
        return symbols.non_finite, "bad"
    if value is None or column.low is None or column.high is None:
        return " ", ""
    if column.high > scale.high:
        value = column.high
    elif column.low < scale.low:
        value = column.low
    if value > scale.high:
        return symbols.above_scale, style
    if value < scale.low:
        return symbols.below_scale, style
    return symbols.bars[scale.level_of(value, len(symbols.bars))], style


def merge_spans(spans: Sequence[Span]) -> StyledLine:
    """Merge neighbours of the same style; a blank takes the colour of its neighbour.

    Only the background of a blank is visible, and every change of style costs bytes.
    """
    merged: list[Span] = []
    for text, style in spans:
        if not merged:
            merged.append((text, style))
            continue
        before, style_before = merged[-1]
        if style == style_before or (
            text == " " and _background(style) == _background(style_before)
        ):
            merged[-1] = (before + text, style_before)
        elif before.isspace() and _background(style) == _background(style_before):
            merged[-1] = (before + text, style)
        else:
            merged.append((text, style))
    return tuple(merged)


def _background(style: str) -> str:
    """The part of a style that is visible on a blank."""
    return style.partition("+")[2]
