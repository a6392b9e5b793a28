"""How much of the screen carries information, and how well it can be read: from rendered cells.

    python -m benchmarks.ink

Part of `benchmarks.screen`. A shipped run is drawn at two sizes in the dark and the light theme.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color

from benchmarks.terminal import Measure
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import StyledLine
from ppo_top.tui.graphics.theme import THEMES, Theme
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock
from screenshots.make import ui_state_of

RUN = "sb3_cartpole_lr3e-2"
SIZES = ((140, 40), (200, 60))
TEXT_CONTRAST = 4.5
"""WCAG 2 for text."""

SECTION_START = "\u2500\u2500 "
"""How the title of a section begins."""

CURVE_STYLES = {"curve", "watch", "warn", "crit", "bad"}


class ScreenCell(NamedTuple):
    """A character on the screen and the name of its style."""

    text: str
    style: str


CellRows = list[list[ScreenCell]]
"""The lines of a screen."""


def cells_of(line: StyledLine) -> list[ScreenCell]:
    """A line cell by cell; the second half of a wide character is empty."""
    cells = []
    for text, style in line:
        for letter in text:
            cells += [ScreenCell(letter, style), *[ScreenCell("", style)] * (cell_len(letter) - 1)]
    return cells


def ink(page: CellRows) -> float:
    """The share of cells that are not blank."""
    cells = [cell for row in page for cell in row]
    return sum(not cell.text.isspace() for cell in cells) / len(cells)


def right_margin(page: CellRows) -> float:
    """The share of cells to the right of all lines of their section, which a title begins."""
    sections: list[list[int]] = [[]]
    for row in page:
        text = "".join(cell.text or "x" for cell in row)
        if text.startswith(SECTION_START):
            sections.append([])
        else:
            sections[-1].append(len(text) - len(text.rstrip()))
    blank = sum(min(section) * len(section) for section in sections if section)
    return blank / sum(map(len, page))


def unused_curve_widths(page: CellRows, regions: list[ClickRegion]) -> Iterator[float]:
    """For each chart, the share of its width to the right of its curve."""
    for region in regions:
        if region.kind != "concept" or region.height < 2:
            continue
        reached = 0
        for row in page[region.y + 1 : region.y + region.height]:
            shown = row[region.x : region.x + region.width]
            drawn = [
                at
                for at, cell in enumerate(shown)
                if "\u2800" <= cell.text <= "\u28ff"
                and CURVE_STYLES.intersection(cell.style.split("+"))
            ]
            reached = max([reached, *(at + 1 for at in drawn)])
        yield 1 - reached / region.width


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours by WCAG 2: 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    shares = (channel / 255 for channel in colour.get_truecolor())
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def text_contrasts(page: CellRows, theme: Theme) -> Iterator[float]:
    """The contrast of each letter, digit and sign of a text with the background of its cell."""
    known: dict[str, float] = {}
    for row in page:
        for cell in row:
            if not cell.text.isascii() or not cell.text.strip():
                continue
            if cell.style not in known:
                style = theme.style(cell.style)
                if style.color is None or style.bgcolor is None:
                    continue
                known[cell.style] = contrast(style.color, style.bgcolor)
            yield known[cell.style]


def measure_page(block: ScreenBlock, name: str) -> list[Measure]:
    """The figures of one drawn screen."""
    page = [cells_of(line) for line in block.lines]
    unused = max(unused_curve_widths(page, block.click_regions))
    empty = sum(not "".join(cell.text for cell in row).strip() for row in page)
    found = [
        Measure(f"{name}: ink", 100 * ink(page), "% of cells"),
        Measure(f"{name}: right margin", 100 * right_margin(page), "% of cells", 5.0),
        Measure(f"{name}: right of a curve", 100 * unused, "% of panel", 5.0),
        Measure(f"{name}: empty lines", empty, "lines", 0.0),
    ]
    for paper in ("dark-paper", "light-paper"):
        contrasts = list(text_contrasts(page, THEMES[paper]))
        low = 100 * sum(each < TEXT_CONTRAST for each in contrasts) / len(contrasts)
        found.append(Measure(f"{name}: least contrast, {paper}", min(contrasts), ": 1"))
        found.append(Measure(f"{name}: below 4.5:1, {paper}", low, "% of text", 0.0))
    return found


def rendered_pages() -> list[Measure]:
    """The figures of a run's page at two sizes."""
    ui = ui_state_of(RUN)
    ui.focus = "charts"  # no line is selected
    return [
        measure
        for cells, rows in SIZES
        for measure in measure_page(draw_screen(ui, cells, rows), f"{cells}x{rows}")
    ]


def main() -> int:
    """Print the figures; return 1 if a target is missed."""
    measures = rendered_pages()
    for measure in measures:
        print(measure.row())
    return 0 if all(measure.meets_bar for measure in measures) else 1


if __name__ == "__main__":
    sys.exit(main())
