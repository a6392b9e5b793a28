"""Shown in place of what cannot be drawn, so that the program goes on."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.support import internal_errors
from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import StyledLine, line, wrap
from ppo_top.tui.state.snapshot import ScreenBlock


def draw_error_screen(error: str, cells: int, rows: int) -> ScreenBlock:
    """A screen with the error and the keys that help."""
    lines: list[StyledLine] = [line((" ppo-top", "brand")), ()]
    text = f"Internal error: this view cannot be drawn. {error}"
    lines += [line(" ", (row, "crit")) for row in wrap(clean(text), max(cells - 2, 4))]
    lines += [(), line(" Esc: back   , and .: previous and next run   q: quit")]
    return ScreenBlock([*lines[:rows], *[()] * (rows - len(lines))])


def draw_or_error(name: str, draw: Callable[[], ScreenBlock], cells: int, rows: int) -> ScreenBlock:
    """A part of the screen, or the error that it raised."""
    try:
        return draw()
    except Exception as error:  # noqa: BLE001 (the rest of the screen is still drawn)
        text = clean(internal_errors.report_internal_error(f"drawing {name}", error))
        shown = wrap(text, max(cells, 4))[: max(rows, 1)]
        return ScreenBlock([line((row, "crit")) for row in shown])
