"""Lines of styled text, measured in terminal cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from ppo_top.text.format import clean

Span = tuple[str, str]
"""Plain text and the name of its style (see `ppo_top.tui.graphics.theme`)."""

StyledLine = tuple[Span, ...]

ELLIPSIS = "…"


def line(*parts: Span | str) -> StyledLine:
    """A line of spans; a bare string has the plain style."""
    return tuple((part, "") if isinstance(part, str) else part for part in parts)


def plain_text(spans: Iterable[Span]) -> str:
    """The characters of a line without their styles."""
    return "".join(text for text, _ in spans)


def display_text(text: str) -> str:
    """Text of a rule or a log for the screen: sanitised, with `≤`, `≥` and `→`."""
    return clean(text).replace("<= ", "≤ ").replace(">= ", "≥ ").replace(" -> ", " → ")


def width(spans: Iterable[Span]) -> int:
    """The width of a line in cells."""
    return sum(text_width(text) for text, _ in spans)


def text_width(text: str) -> int:
    """The width of a text in cells."""
    return len(text) if text.isascii() else cell_len(text)


def truncate(text: str, cells: int) -> str:
    """The longest prefix of a text that fits into some cells."""
    if text.isascii():
        return text[: max(cells, 0)]
    used = 0
    for at, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:at]
    return text


def crop(spans: StyledLine, cells: int) -> StyledLine:
    """A line cut off at a width, without an ellipsis."""
    kept: list[Span] = []
    for text, style in spans:
        size = cell_len(text)
        if size > cells:
            kept.append((truncate(text, cells), style))
            break
        kept.append((text, style))
        cells -= size
    return tuple(kept)


def fit_width(spans: StyledLine, cells: int, style: str = "") -> StyledLine:
    """A line of exactly this width: cropped, or padded with blanks."""
    missing = cells - width(spans)
    if missing < 0:
        return fit_width(crop(spans, cells), cells, style)
    return (*spans, (" " * missing, style)) if missing else spans


def pad(text: str, cells: int) -> str:
    """A text with blanks behind it, up to a width."""
    return text + " " * (cells - text_width(text))


def shorten(text: str, cells: int) -> str:
    """A text shortened with `…` at a word; a name without blanks loses its middle."""
    if cell_len(text) <= cells:
        return text
    if cells < 4:
        return truncate(text, cells) if cells > 0 else ""
    start = truncate(text, cells - 1)
    cut = start.rfind(" ")
    if cut >= cells // 2:
        return start[:cut].rstrip(" ,;:·-") + ELLIPSIS
    tail = (cells - 1) // 2
    end = text[-tail:]
    while cell_len(end) > tail:  # of characters two cells wide fewer fit
        end = end[1:]
    return truncate(text, cells - 1 - tail) + ELLIPSIS + end


def wrap(text: str, cells: int) -> list[str]:
    """A text in lines of at most `cells` cells, broken between words if possible."""
    rows: list[str] = []
    current = ""
    for word in text.split():
        if current and cell_len(current) + 1 + cell_len(word) > cells:
            rows.append(current)
            current = ""
        while cell_len(word) > cells > 0:
            rows.append(truncate(word, cells))
            word = word[len(rows[-1]) :]
        current = f"{current} {word}" if current else word
    return [*rows, current] if current else rows


def justify(left: StyledLine, right: StyledLine, cells: int) -> StyledLine:
    """A line with a left and a right part; the left one is cropped if needed."""
    room = cells - width(right)
    if room < 1:
        return crop(left, cells)
    return (*fit_width(left, room), *right)


def join_fitting(parts: Sequence[StyledLine], cells: int, gap: str = " · ") -> StyledLine:
    """The parts that fit as a whole, in order, with a gap between them."""
    packed: list[Span] = []
    used = 0
    for part in parts:
        size = width(part)
        extra = cell_len(gap) if packed else 0
        if not size or used + extra + size > cells:
            continue
        if packed:
            packed.append((gap, "dim"))
        packed.extend(part)
        used += extra + size
    return tuple(packed)


def side_by_side(
    columns: Sequence[tuple[Sequence[StyledLine], int]], height: int
) -> list[StyledLine]:
    """Columns of lines, each with its width, joined line by line."""
    joined: list[StyledLine] = []
    for row in range(height):
        spans: list[Span] = []
        for rows, cells in columns:
            spans.extend(fit_width(rows[row] if row < len(rows) else (), cells))
        joined.append(tuple(spans))
    return joined
