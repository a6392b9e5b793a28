"""Curves several lines high: two columns per cell in braille, with limits, band and texts."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.tui.graphics.sparkline import Scale, SparkLimits, is_outside, merge_spans
from ppo_top.tui.graphics.styled_text import Span, StyledLine
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.views.downsample import Extent

BRAILLE_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell, from its top row to its bottom row, left and right column."""

OWN_STYLES = ("curve", "watch", "warn", "crit")

WORST_LAST = ("run6", "run5", "run4", "run3", "run2", "run1", *OWN_STYLES)
"""Styles of curves: a cell with several has the last of them. Other runs come first, the first one
chosen before the others; a cell with two columns has the style of the worse."""


Spread = tuple[float, float] | None
"""The lower and upper end of a band in one column; None: there is none."""


class OtherCurve(NamedTuple):
    """The columns of the same metric in another run, all of one style."""

    extents: Sequence[Extent]
    style: str


class PlotText(NamedTuple):
    """A text among the cells of a plot that are free in its row, at the left if possible.

    If none are free, the curve runs along this row, and the text covers its beginning. A text with
    words for a row `nearby` (after an arrow to its own) stands at the right and covers no curve.
    """

    text: str
    row: int
    style: str
    nearby: str = ""


def draw_braille_plot(
    columns: Sequence[Extent],
    styles: Sequence[str],
    size: tuple[int, int],
    limits: SparkLimits | None,
    symbols: Symbols,
    scale: Scale,
    marks: Mapping[int, Span] | None = None,
    texts: Sequence[PlotText] = (),
    dotted: Container[int] = (),
    spread: Sequence[Spread] = (),
    others: Sequence[OtherCurve] = (),
) -> list[StyledLine]:
    """A curve in `size` (cells, lines), before `others`: two columns per cell in braille, one in
    ASCII, where the curve of another run is drawn with its number.

    Each column has its style. The healthy range has a background and dotted ends; `marks` (cell ->
    symbol) appear on the lowest line where nothing else is drawn; `dotted` are rows of other lines.
    `spread` has the band around the curve, with a background too, for each column.
    """
    grid = _PlotCells(*size, 4 if symbols.braille else 1)
    _draw_curve(grid, columns, styles, symbols, scale)
    for extents, style in others:
        _draw_curve(grid, extents, [style] * len(extents), symbols, scale)
    for text in texts:
        grid.write(text, symbols)
    last, cell_spread = size[1] - 1, spread[:: 2 if symbols.braille else 1]
    lines = []
    for row in range(size[1]):
        signs = marks if row == last else None
        shaded = _shaded_cells(row, size, limits, scale, cell_spread)
        lines.append(_line_of(grid, row, limits, scale, symbols, signs, row in dotted, shaded))
    return lines


def _draw_curve(
    grid: _PlotCells,
    columns: Sequence[Extent],
    styles: Sequence[str],
    symbols: Symbols,
    scale: Scale,
) -> None:
    per_cell = 2 if symbols.braille else 1
    high = grid.height
    bottom, span = scale.low, scale.high - scale.low
    steps = high * grid.per_line
    before: float | None = None
    for number, (column, style) in enumerate(zip(columns, styles, strict=True)):
        low, top, last, bad = column
        cell = number // per_cell
        if cell >= grid.width:
            break
        if bad:
            tone = "bad" if style in OWN_STYLES else style
            grid.symbols.setdefault((cell, high - 1), (symbols.non_finite, tone))
        if low is None or top is None:
            continue
        if top > scale.high:
            grid.symbols.setdefault((cell, 0), (symbols.above_scale, style))
        if low < scale.low:
            grid.symbols.setdefault((cell, high - 1), (symbols.below_scale, style))
        if before is not None:  # connect the curve
            low = before if before < low else low
            top = before if before > top else top
        # as `Scale.level_of`, without its calls: this is the innermost loop of a drawing
        first, final = int((low - bottom) / span * steps), int((top - bottom) / span * steps)
        first = 0 if first < 0 else first if first < steps else steps - 1
        final = 0 if final < 0 else final if final < steps else steps - 1
        grid.stroke(cell, number % 2, (first, final), style)
        before = last


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

    def has_symbols(self, row: int) -> bool:
        """Whether a line has texts or signs."""
        return any(each == row for _, each in self.symbols)

    def stroke(self, cell: int, side: int, dots: tuple[int, int], style: str) -> None:
        """A vertical stroke between two heights in dots, counted from below."""
        low, high = dots
        per_line, bits, styles = self.per_line, self.bits, self.styles
        lowest, highest = low // per_line, high // per_line
        for line in range(lowest, highest + 1):
            row = self.height - 1 - line
            if per_line == 4:
                start = low & 3 if line == lowest else 0
                stop = high & 3 if line == highest else 3
                bits[row][cell] |= STROKE_BITS[side][start][stop]
            else:
                bits[row][cell] = 1
            here = styles[row][cell]
            if not here or (here != style and WORST_LAST.index(here) < WORST_LAST.index(style)):
                styles[row][cell] = style

    def write(self, text: PlotText, symbols: Symbols) -> None:
        """Put a text where nothing is drawn."""
        below, above = symbols.below_scale, symbols.above_scale
        places = [(text.row, text.text)]
        if text.nearby:
            places += [(text.row - 1, f"{below} {text.nearby}")] * (text.row > 0)
            places += [(text.row + 1, f"{above} {text.nearby}")] * (text.row + 1 < self.height)
        for row, words in places:
            start = self._free_cells(row, len(words), bool(text.nearby))
            if start is None and not text.nearby and len(words) <= self.width:
                start = 0
            if start is not None:
                for at, letter in enumerate(words):
                    self.symbols[start + at, row] = (letter, text.style)
                return

    def _free_cells(self, row: int, amount: int, right: bool) -> int | None:
        """Where `amount` cells are free, with blanks between them and curves.

        As far left as possible: at the right edge a number would read as the next panel's.
        """
        taken = "".join(
            "x" if bits or (cell, row) in self.symbols else " "
            for cell, bits in enumerate(self.bits[row])
        )
        row_text, wanted = f" {taken} ", " " * (amount + 2)
        if not right and row_text.startswith(wanted[1:]):
            return 0
        found = row_text.rfind(wanted) if right else row_text.find(wanted)
        return None if found < 0 else found


def _sign_of(bits: int, symbols: Symbols, style: str) -> str:
    """The sign of a cell with these dots."""
    if not bits:
        return " "
    if symbols.braille:
        return chr(0x2800 + bits)
    return "*" if style in OWN_STYLES else style.removeprefix("run")


def _line_of(
    grid: _PlotCells,
    row: int,
    limits: SparkLimits | None,
    scale: Scale,
    symbols: Symbols,
    marks: Mapping[int, Span] | None,
    is_dotted: bool,
    shaded: Sequence[bool],
) -> StyledLine:
    edge = limits is not None and any(
        limit is not None
        and scale.low < limit < scale.high
        and grid.height - 1 - scale.level_of(limit, grid.height) == row
        for limit in (limits.low, limits.high)
    )
    if not (edge or is_dotted or marks) and len(set(shaded)) == 1 and not grid.has_symbols(row):
        styles = {style for style in grid.styles[row] if style}
        if len(styles) < 2:  # mostly: the curve alone, whose style its blanks take
            style = "".join(styles)
            text = "".join([_sign_of(bits, symbols, style) for bits in grid.bits[row]])
            return ((text, style + ("+band" if shaded[0] else "")),)
    spans: list[Span] = []
    for cell in range(grid.width):
        if (cell, row) in grid.symbols:
            sign, style = grid.symbols[cell, row]
        elif bits := grid.bits[row][cell]:
            style = grid.styles[row][cell]
            sign = _sign_of(bits, symbols, style)
        elif marks and cell in marks:
            sign, style = marks[cell]
        else:
            sign, style = (symbols.limit_line, "limit") if edge or is_dotted else (" ", "")
        spans.append((sign, style + "+band" if shaded[cell] else style))
    return merge_spans(spans)


def _shaded_cells(
    row: int,
    size: tuple[int, int],
    limits: SparkLimits | None,
    scale: Scale,
    spread: Sequence[Spread],
) -> list[bool]:
    """Which cells of a line have a background: healthy range or spread reach to their middle."""
    wide, high = size
    if in_band(row, high, limits, scale):
        return [True] * wide
    middle = _middle(row, high, scale)
    inside = [each is not None and each[0] <= middle <= each[1] for each in spread[:wide]]
    return inside + [False] * (wide - len(inside))


def _middle(row: int, high: int, scale: Scale) -> float:
    """The value at the middle of a line of a plot."""
    return scale.high - (row + 0.5) / high * (scale.high - scale.low)


def in_band(row: int, high: int, limits: SparkLimits | None, scale: Scale) -> bool:
    """Whether the middle of a line of a plot is in the healthy range."""
    if limits is None or (limits.low is None and limits.high is None):
        return False
    middle = _middle(row, high, scale)
    return not is_outside(middle, middle, limits)
