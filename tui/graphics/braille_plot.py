"""Curves of several lines: two columns a cell in braille, with limits, band and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.tui.graphics.sparkline import Colours, Limits, Scale, merge, outside
from ppo_top.tui.graphics.styled_text import Line, Span
from ppo_top.tui.graphics.symbols import Glyphs
from ppo_top.views.downsample import Extent

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell, from its top row to its bottom row, left and right column."""


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
