"""Curves in a few cells: bars of one line and braille plots of several, with limits and NaN marks.

What is drawn is a list of `Extent`s (lowest, highest and last value per column), so a spike that
lasted one update is as visible as a plateau, however long the history.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ppo_top.pyramid import WIDEST, Extent, Pyramid, buckets, stride
from ppo_top.timeline import Track
from ppo_top.tui.glyphs import Glyphs
from ppo_top.tui.spans import Line, Span

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell, from its top row to its bottom row, left and right column."""

FAR = 3.0
"""A value this many times the usual spread beyond it is off the scale and gets an arrow."""


FEW = 30
"""One column in so many may lie off the scale: a spike, not a change of level."""


class Limits(Protocol):
    """A healthy range; an open end is None."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class Scale(NamedTuple):
    """The values at the lower and the upper edge of a drawing."""

    low: float
    high: float

    def place(self, value: float, steps: int) -> int:
        """Which of so many steps a value falls on: 0 at the bottom; beyond the edges clipped."""
        share = (value - self.low) / (self.high - self.low)
        return min(steps - 1, max(0, int(share * steps)))


class Colours(NamedTuple):
    """The styles of a curve inside and outside its healthy range."""

    inside: str = "curve"
    outside: str = "warn"


def extents(
    track: Track, pyramid: Pyramid, row: int, columns: int, widest: int = WIDEST
) -> list[Extent]:
    """A track up to a row of its timeline, in at most so many columns; `widest`: of one row.

    Columns without a point of their own (a metric that is logged seldom) hold the last value.
    """
    pyramid.grow()
    held: list[Extent] = []
    last: float | None = None
    for extent in buckets(pyramid, track.rows, row, stride(row + 1, columns, widest)):
        if extent.last is None and not extent.non_finite and last is not None:
            extent = Extent(last, last, last, False)
        last = extent.last if extent.last is not None else last
        held.append(extent)
    return held


def outside(low: float, high: float, limits: Limits | None) -> bool:
    """Whether some value between two extremes is outside a range."""
    if limits is None:
        return False
    too_low = limits.low is not None and low < limits.low
    return too_low or (limits.high is not None and high > limits.high)


def scale(columns: Sequence[Extent], limits: Limits | None = None) -> Scale:
    """The range to draw: that of the values, without the few that would flatten all others.

    The edges are round numbers, so that they stay where they are while values come in.
    """
    lows = sorted(column.low for column in columns if column.low is not None)
    highs = sorted(column.high for column in columns if column.high is not None)
    if not lows:
        return Scale(0.0, 1.0)
    low, high = _without_far(lows, highs)
    span = high - low
    for limit in (limits.low, limits.high) if limits else ():
        if limit is not None and low - span <= limit <= high + span:
            low, high = min(low, limit), max(high, limit)
    return _rounded(low, high)


def _without_far(lows: list[float], highs: list[float]) -> tuple[float, float]:
    """The extremes, or the edge of the usual where a few columns lie far beyond it."""
    edge = max(1, len(lows) // FEW) if len(lows) >= 8 else 0
    usual_low, usual_high = lows[edge], highs[-1 - edge]
    spread = max(usual_high - usual_low, 0.05 * max(abs(usual_high), abs(usual_low)))
    low = lows[0] if usual_low - lows[0] <= FAR * spread else usual_low - spread / 2
    high = highs[-1] if highs[-1] - usual_high <= FAR * spread else usual_high + spread / 2
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


def bars(
    columns: Sequence[Extent],
    limits: Limits | None,
    glyphs: Glyphs,
    colours: Colours,
    at: Scale | None = None,
) -> Line:
    """One character a column: its height, an arrow where it is off the scale, a cross for NaN."""
    reach = at or scale(columns, limits)
    spans: list[Span] = []
    before: float | None = None
    for column in columns:
        spans.append(_bar(column, before, limits, glyphs, colours, reach))
        before = column.last if column.last is not None else before
    return merge(spans)


def _bar(
    column: Extent,
    before: float | None,
    limits: Limits | None,
    glyphs: Glyphs,
    colours: Colours,
    reach: Scale,
) -> Span:
    if column.non_finite:
        return glyphs.bad, "bad"
    if column.low is None or column.high is None:
        return " ", ""
    start = column.last if before is None else before
    upwards = start is None or column.high - start >= start - column.low
    value = column.high if upwards else column.low
    style = colours.outside if outside(column.low, column.high, limits) else colours.inside
    if value > reach.high:
        return glyphs.above, style
    if value < reach.low:
        return glyphs.below, style
    return glyphs.bars[reach.place(value, len(glyphs.bars))], style


def merge(spans: Sequence[Span]) -> Line:
    """Neighbours of the same style in one span; a blank takes the colour of what is beside it.

    On a blank only the background is seen, and every change of style costs bytes on the line.
    """
    merged: list[Span] = []
    for text, style in spans:
        if not merged:
            merged.append((text, style))
            continue
        before, style_before = merged[-1]
        if style == style_before or (text == " " and _ground(style) == _ground(style_before)):
            merged[-1] = (before + text, style_before)
        elif before.isspace() and _ground(style) == _ground(style_before):
            merged[-1] = (before + text, style)
        else:
            merged.append((text, style))
    return tuple(merged)


def _ground(style: str) -> str:
    """The part of a style that is seen on a blank."""
    return style.partition("+")[2]


# --- several lines ---------------------------------------------------------------------------


def plot(
    columns: Sequence[Extent],
    size: tuple[int, int],
    limits: Limits | None,
    glyphs: Glyphs,
    colours: Colours,
    reach: Scale,
    marks: Mapping[int, Span] | None = None,
) -> list[Line]:
    """A curve in `size` (cells wide, lines high): two columns a cell in braille, one in ASCII.

    The healthy range has a background and its ends a dotted line; `marks` (cell -> sign) stand on
    the lowest line where nothing else is drawn.
    """
    wide, high = size
    per_cell = 2 if glyphs.braille else 1
    grid = _Grid(wide, high, 4 if glyphs.braille else 1)
    before: float | None = None
    for number, column in enumerate(columns[: wide * per_cell]):
        low, top, last, bad = column
        cell = number // per_cell
        if bad:
            grid.signs.setdefault((cell, high - 1), (glyphs.bad, "bad"))
        if low is None or top is None:
            continue
        style = colours.outside if outside(low, top, limits) else colours.inside
        if top > reach.high:
            grid.signs.setdefault((cell, 0), (glyphs.above, style))
        if low < reach.low:
            grid.signs.setdefault((cell, high - 1), (glyphs.below, style))
        if before is not None:  # so that the curve hangs together
            low, top = min(low, before), max(top, before)
        dots = reach.place(low, high * grid.per_line), reach.place(top, high * grid.per_line)
        grid.stroke(cell, number % 2, dots, style)
        before = last
    return [
        _drawn(grid, row, limits, reach, glyphs, marks if row == high - 1 else None)
        for row in range(high)
    ]


STROKES = [
    [
        [sum(DOTS[3 - dot][side] for dot in range(low, high + 1)) for high in range(4)]
        for low in range(4)
    ]
    for side in range(2)
]
"""Bits of a stroke inside one braille cell: by side, lowest dot and highest dot, from below."""


class _Grid:
    """Dots, styles and signs of a plot, cell by cell."""

    def __init__(self, wide: int, high: int, per_line: int) -> None:
        self.wide, self.high, self.per_line = wide, high, per_line
        self.bits = [[0] * wide for _ in range(high)]
        self.styles = [[""] * wide for _ in range(high)]
        self.signs: dict[tuple[int, int], Span] = {}

    def stroke(self, cell: int, side: int, dots: tuple[int, int], style: str) -> None:
        """A vertical stroke between two heights in dots, counted from below."""
        low, high = dots
        for line in range(low // self.per_line, high // self.per_line + 1):
            row = self.high - 1 - line
            if self.per_line == 4:
                start = low - line * 4 if low > line * 4 else 0
                stop = high - line * 4 if high < line * 4 + 3 else 3
                self.bits[row][cell] |= STROKES[side][start][stop]
            else:
                self.bits[row][cell] = 1
            if self.styles[row][cell] in ("", "curve"):
                self.styles[row][cell] = style


def _drawn(
    grid: _Grid,
    row: int,
    limits: Limits | None,
    reach: Scale,
    glyphs: Glyphs,
    marks: Mapping[int, Span] | None,
) -> Line:
    edge = limits is not None and any(
        limit is not None
        and reach.low < limit < reach.high
        and grid.high - 1 - reach.place(limit, grid.high) == row
        for limit in (limits.low, limits.high)
    )
    tint = "+band" if _in_band(row, grid.high, limits, reach) else ""
    spans: list[Span] = []
    for cell in range(grid.wide):
        if (cell, row) in grid.signs:
            sign, style = grid.signs[cell, row]
        elif bits := grid.bits[row][cell]:
            sign, style = chr(0x2800 + bits) if glyphs.braille else "*", grid.styles[row][cell]
        elif marks and cell in marks:
            sign, style = marks[cell]
        else:
            sign, style = (glyphs.limit, "limit") if edge else (" ", "")
        spans.append((sign, style + tint))
    return merge(spans)


def _in_band(row: int, high: int, limits: Limits | None, reach: Scale) -> bool:
    """Whether the middle of a line of the plot lies in the healthy range."""
    if limits is None or (limits.low is None and limits.high is None):
        return False
    middle = reach.high - (row + 0.5) / high * (reach.high - reach.low)
    return not outside(middle, middle, limits)
