"""Lines of spans as an SVG whose every cell stands where a terminal would put it.

Bars, braille and rules are drawn as shapes, so that the picture does not depend on the fonts of
whoever looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI, TerminalTheme

from ppo_top.tui.graphics.styled_text import StyledLine
from ppo_top.tui.graphics.theme import Theme

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.43, 18.0, 14
BAR_CHARACTERS = "▁▂▃▄▅▆▇█"
BRAILLE_DOTS = ((0, 0, 0x01), (0, 1, 0x02), (0, 2, 0x04), (1, 0, 0x08), (1, 1, 0x10), (1, 2, 0x20),
        (0, 3, 0x40), (1, 3, 0x80))  # fmt: skip
BOX_LINES = {"─": "lr", "│": "tb", "┌": "rb", "┐": "lb", "└": "tr", "┘": "tl",
         "├": "tbr", "┤": "tbl", "┬": "lrb", "┴": "lrt", "┼": "lrtb",
         "━": "lr", "┄": "l"}  # fmt: skip


def svg(rows: Sequence[StyledLine], theme: Theme, title: str) -> str:
    """A picture of a screen in the colours of a theme with a paper of its own."""
    cells = max(sum(cell_len(text) for text, _ in row) for row in rows)
    width, height = cells * CELL_WIDTH + 20, len(rows) * CELL_HEIGHT + 20
    base = theme.style("")
    paper = _hex(base, DIMMED_MONOKAI, background=True)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{paper}"/>',
        f'<g transform="translate(10 10)" font-size="{FONT_SIZE}" xml:space="preserve" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
    ]
    for y, row in enumerate(rows):
        x = 0
        for text, name in row:
            parts.extend(_span(text, theme.style(name), x, y, paper))
            x += cell_len(text)
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _hex(style: Style, theme: TerminalTheme, background: bool = False) -> str:
    colour = style.bgcolor if background else style.color
    if colour is None or colour.is_default:
        return "#1c1c1c" if background else "#dadada"
    return colour.get_truecolor(theme, foreground=not background).hex


def _span(text: str, style: Style, x: int, y: int, paper: str) -> Iterator[str]:
    ink = _hex(style, DIMMED_MONOKAI)
    ground = _hex(style, DIMMED_MONOKAI, background=True)
    if style.reverse:
        ink, ground = ground, ink
    if ground != paper and text:
        yield _box(
            x * CELL_WIDTH, y * CELL_HEIGHT, cell_len(text) * CELL_WIDTH + 0.3, CELL_HEIGHT, ground
        )
    weight = ' font-weight="bold"' if style.bold else ""
    for piece in _WORD_OR_SIGN.split(text):
        if piece.isascii() and piece.strip():
            yield _letters(piece, x, y, ink, weight)
        elif piece.strip():
            yield from _shape(piece, x, y, ink, weight)
        x += cell_len(piece)


_WORD_OR_SIGN = re.compile(r"( +|[^\x00-\x7f])")
"""Blanks and single characters beyond ASCII; between them stand words."""


def _letters(text: str, x: int, y: int, ink: str, weight: str) -> str:
    base = y * CELL_HEIGHT + 13.5
    return f'<text x="{x * CELL_WIDTH:.2f}" y="{base}" fill="{ink}"{weight}>{escape(text)}</text>'


def _shape(character: str, x: int, y: int, ink: str, weight: str) -> Iterator[str]:
    """A character beyond ASCII: drawn where it is a shape, else a letter in its cell."""
    left, top = x * CELL_WIDTH, y * CELL_HEIGHT
    if character in BAR_CHARACTERS:
        tall = (BAR_CHARACTERS.index(character) + 1) / 8 * CELL_HEIGHT
        yield _box(left, top + CELL_HEIGHT - tall, CELL_WIDTH + 0.2, tall, ink)
    elif "\u2800" <= character <= "\u28ff":
        bits = ord(character) - 0x2800
        for column, line, bit in BRAILLE_DOTS:
            if bits & bit:
                at_x, at_y = (
                    left + (column + 0.22) * CELL_WIDTH / 2,
                    top + (line + 0.25) * CELL_HEIGHT / 4,
                )
                yield _box(at_x, at_y, 2.4, 2.4, ink)
    elif character in BOX_LINES:
        for side in BOX_LINES[character]:
            yield _box(*_arm(side, left, top), ink)
    else:
        yield _letters(character, x, y, ink, weight)


def _arm(side: str, left: float, top: float) -> tuple[float, float, float, float]:
    """One arm of a rule, from the middle of its cell to an edge: x, y, width, height."""
    middle_x, middle_y = left + CELL_WIDTH / 2, top + CELL_HEIGHT / 2
    return {
        "l": (left, middle_y, CELL_WIDTH / 2 + 0.5, 1.0),
        "r": (middle_x, middle_y, CELL_WIDTH / 2 + 0.2, 1.0),
        "t": (middle_x, top, 1.0, CELL_HEIGHT / 2 + 1),
        "b": (middle_x, middle_y, 1.0, CELL_HEIGHT / 2),
    }[side]


def _box(x: float, y: float, wide: float, tall: float, ink: str) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{tall:.2f}" fill="{ink}"/>'
