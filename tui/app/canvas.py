"""A widget that shows styled lines and repaints only the cells that changed.

Textual repaints from the start of a widget's line to the last changed cell. For a widget as wide as
the screen that is most of the line, so `CellCompositor` crops each update to the changed cells. It
depends on a private class of Textual; if that changes, Textual's own compositor is used
(tests/tui/app/test_canvas.py shows which one is).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from ppo_top.text.format import clean
from ppo_top.tui.graphics.ansi import AnsiWriter
from ppo_top.tui.graphics.styled_text import StyledLine
from ppo_top.tui.graphics.theme import THEMES, Theme

if TYPE_CHECKING:
    from rich.console import Console

StyledCells = list[tuple[str, str]]
"""A line cell by cell: character and style; the second cell of a wide character is empty."""

JUMP_BYTES = 6
"""Bytes of a cursor jump; unchanged cells that cost no more are rewritten instead."""

RESTYLE_BYTES = 10
"""Bytes of a colour change."""


class CellUpdate(ChopsUpdate):
    """An update that writes exactly the cells of its spans."""

    def render_segments(self, console: Console) -> str:
        """The escape sequences: a cursor jump and the cells of each span."""
        writer = AnsiWriter(console._color_system)
        for y, first, last in self.spans:
            for end, (start, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or start >= last or end <= first:
                    continue
                begin, stop = max(start, first), min(end, last)
                writer.move_to(begin, y)
                for text, style, _ in strip.crop(begin - start, stop - start):
                    writer.write(text, style)
        return writer.getvalue()


class CellCompositor(Compositor):
    """Textual's compositor with updates cropped on both sides.

    Nothing is written until `is_ready`: the first page, drawn before Textual was loaded, stays.
    """

    def __init__(self, ready: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self.is_ready = ready

    def render_update(self, *arguments: Any, **options: Any) -> Any:
        """The update to write, or None."""
        return super().render_update(*arguments, **options) if self.is_ready() else None

    def render_partial_update(self) -> ChopsUpdate | None:
        """The changed cells, or None."""
        update = super().render_partial_update()
        if update is None:
            return None
        return CellUpdate(update.chops, update.spans, update.chop_ends)


def use_cell_compositor(screen: Any, ready: Callable[[], bool] = lambda: True) -> bool:
    """Make a screen write changed cells only; False if this Textual has another compositor."""
    if type(getattr(screen, "_compositor", None)) is not Compositor:
        return False
    screen._compositor = CellCompositor(ready)
    return True


def to_cells(row: StyledLine, width: int) -> StyledCells:
    """A line cell by cell, padded with blanks."""
    cells: StyledCells = []
    for text, style in row:
        if cell_len(text) == len(text):  # no wide character
            cells += [(character, style) for character in text]
            continue
        for character in text:
            cells.append((character, style))
            if not character.isascii() and cell_len(character) == 2:
                cells.append(("", style))
    cells.extend([(" ", "")] * (width - len(cells)))
    return cells


def changed_ranges(old: StyledCells, new: StyledCells) -> Iterator[tuple[int, int]]:
    """Ranges (start, stop) of cells that differ; near ones are joined."""
    if len(old) != len(new):
        yield 0, len(new)
        return
    start = stop = -1
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        if start >= 0 and _costs_more_than_jump(new[stop - 1 : at + 1]):
            yield start, stop
            start = -1
        if start < 0:
            start = at - 1 if at and not (before[0] and after[0]) else at
        stop = at + 1
    if start >= 0:
        wide = stop < len(new) and not (old[stop][0] and new[stop][0])
        yield start, stop + 1 if wide else stop


def _costs_more_than_jump(between: StyledCells) -> bool:
    """Whether rewriting the cells between two changed ones (first and last here) costs more."""
    size = 0
    for before, cell in pairwise(between):
        size += len(cell[0].encode()) + RESTYLE_BYTES * (cell[1] != before[1])
    last, first = between[-1], between[0]
    return size - len(last[0].encode()) > JUMP_BYTES + RESTYLE_BYTES * (first[1] != last[1])


class Canvas(Widget):
    """Shows lines of styled text; `show_lines` repaints what changed."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; }"
    can_focus = True
    ALLOW_SELECT = False  # clicks are actions; terminals select text with Shift

    def __init__(
        self, theme: Theme = THEMES["dark"], sized: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__()
        self._on_sized = sized
        self.output_paused = False
        """No output while Textual is still laying out its screen."""
        self.palette = theme
        self._rows: list[StyledLine] = []
        self._cells: list[StyledCells] = []
        self._strips: list[Strip | None] = []
        self._styles: dict[str, Style] = {}

    def on_resize(self) -> None:
        """Redraw at the new size."""
        self._on_sized()

    @property
    def is_ready(self) -> bool:
        """Whether there is something to write."""
        return bool(self._rows) and not self.output_paused

    def resume_output(self) -> None:
        """Start writing to the terminal."""
        self.output_paused = False
        self.refresh()

    def use_theme(self, theme: Theme) -> None:
        """Switch to a theme and repaint."""
        self.palette = theme
        self._styles.clear()
        self._strips = [None] * len(self._rows)
        self.refresh()

    def show_lines(self, rows: Sequence[StyledLine]) -> int:
        """Show these lines; returns the number of repainted cells."""
        width = self.size.width
        if len(rows) != len(self._rows):
            self._rows = list(rows)
            self._cells = [to_cells(row, width) for row in rows]
            self._strips = [None] * len(rows)
            self.refresh()
            return width * len(rows)
        regions: list[Region] = []
        for y, row in enumerate(rows):
            if row == self._rows[y] and len(self._cells[y]) == width:
                continue
            new = to_cells(row, width)
            changed = changed_ranges(self._cells[y], new)
            regions += [Region(first, y, last - first, 1) for first, last in changed]
            self._rows[y], self._cells[y], self._strips[y] = row, new, None
        if regions:
            self.refresh(*regions)
        return sum(region.width for region in regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The strips of a region, without Textual's styling."""
        first, last = crop.column_span
        return [self._strip(y).crop(first, last) for y in crop.line_range]

    def _strip(self, y: int) -> Strip:
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self._style(""))
        strip = self._strips[y]
        if strip is None:
            spans = [(text, style) for text, style in self._rows[y] if text]
            strip = Strip(Segment(clean(text), self._style(style)) for text, style in spans)
            strip = strip.adjust_cell_length(self.size.width, self._style(""))
            self._strips[y] = strip
        return strip

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.palette.style(name)
        return style
