"""Curves several lines high: two columns per cell in braille, with limits, band and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.tui.graphics.sparkline import CurveColours, Scale, SparkLimits, is_outside, merge_spans
from ppo_top.tui.graphics.styled_text import Span, StyledLine
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.views.downsample import Extent

BRAILLE_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell, from its top row to its bottom row, left and right column."""


def draw_braille_plot(
    columns: Sequence[Extent],
    size: tuple[int, int],
    limits: SparkLimits | None,
    symbols: Symbols,
    colours: CurveColours,
    scale: Scale,
    marks: Mapping[int, Span] | None = None,
) -> list[StyledLine]:
    """A curve in `size` (cells, lines): two columns per cell in braille, one in ASCII.

    The healthy range has a background and dotted ends; `marks` (cell -> symbol) appear on the
    lowest line where nothing else is drawn.
    """
    wide, high = size
    per_cell = 2 if symbols.braille else 1
    grid = _PlotCells(wide, high, 4 if symbols.braille else 1)
    before: float | None = None
    for number, column in enumerate(columns[: wide * per_cell]):
        low, top, last, bad = column
        cell = number // per_cell
        if bad:
            grid.symbols.setdefault((cell, high - 1), (symbols.non_finite, "bad"))
        if low is None or top is None:
            continue
        style = colours.outside if is_outside(low, top, limits) else colours.inside
        if top > scale.high:
            grid.symbols.setdefault((cell, 0), (symbols.above_scale, style))
        if low < scale.low:
            grid.symbols.setdefault((cell, high - 1), (symbols.below_scale, style))
        if before is not None:  # connect the curve
            low, top = min(low, before), max(top, before)
        dots = scale.level_of(low, high * grid.per_line), scale.level_of(top, high * grid.per_line)
        grid.stroke(cell, number % 2, dots, style)
        before = last
    return [
        _line_of(grid, row, limits, scale, symbols, marks if row == high - 1 else None)
        for row in range(high)
    ]


STROKE_BITS = [
    [
        [sum(BRAILLE_BITS[3 - dot][side] for dot in range(low, high + 1)) for high in range(4)]
        for low in range(4)
    ]
    for side in range(2)
]
"""Bits of a vertical stroke in one braille cell: by side, lowest and highest dot from below."""


class _PlotCells:
    """Dots, styles and symbols of a plot, by cell."""

    def __init__(self, wide: int, high: int, per_line: int) -> None:
        self.width, self.height, self.per_line = wide, high, per_line
        self.bits = [[0] * wide for _ in range(high)]
        self.styles = [[""] * wide for _ in range(high)]
        self.symbols: dict[tuple[int, int], Span] = {}

    def stroke(self, cell: int, side: int, dots: tuple[int, int], style: str) -> None:
        """A vertical stroke between two heights in dots, counted from below."""
        low, high = dots
        for line in range(low // self.per_line, high // self.per_line + 1):
            row = self.height - 1 - line
            if self.per_line == 4:
                start = low - line * 4 if low > line * 4 else 0
                stop = high - line * 4 if high < line * 4 + 3 else 3
                self.bits[row][cell] |= STROKE_BITS[side][start][stop]
            else:
                self.bits[row][cell] = 1
            if self.styles[row][cell] in ("", "curve"):
                self.styles[row][cell] = style


def _line_of(
    grid: _PlotCells,
    row: int,
    limits: SparkLimits | None,
    scale: Scale,
    symbols: Symbols,
    marks: Mapping[int, Span] | None,
) -> StyledLine:
    edge = limits is not None and any(
        limit is not None
        and scale.low < limit < scale.high
        and grid.height - 1 - scale.level_of(limit, grid.height) == row
        for limit in (limits.low, limits.high)
    )
    tint = "+band" if _in_band(row, grid.height, limits, scale) else ""
    spans: list[Span] = []
    for cell in range(grid.width):
        if (cell, row) in grid.symbols:
            sign, style = grid.symbols[cell, row]
        elif bits := grid.bits[row][cell]:
            sign, style = chr(0x2800 + bits) if symbols.braille else "*", grid.styles[row][cell]
        elif marks and cell in marks:
            sign, style = marks[cell]
        else:
            sign, style = (symbols.limit_line, "limit") if edge else (" ", "")
        spans.append((sign, style + tint))
    return merge_spans(spans)


def _in_band(row: int, high: int, limits: SparkLimits | None, scale: Scale) -> bool:
    """Whether the middle of a line of the plot is in the healthy range."""
    if limits is None or (limits.low is None and limits.high is None):
        return False
    middle = scale.high - (row + 0.5) / high * (scale.high - scale.low)
    return not is_outside(middle, middle, limits)
