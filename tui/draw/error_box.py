"""When a picture cannot be drawn: the program lives on, and says so in its place."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.support import internal_errors
from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import StyledLine, line, wrap
from ppo_top.tui.state.snapshot import ScreenBlock


def draw_error_screen(words: str, cells: int, rows: int) -> ScreenBlock:
    """A screen that says what went wrong and which keys lead on."""
    lines: list[StyledLine] = [line((" ppo-top", "brand")), ()]
    text = f"Internal error: this view cannot be drawn. {words}"
    lines += [line(" ", (row, "crit")) for row in wrap(clean(text), max(cells - 2, 4))]
    lines += [(), line(" Esc: back   , and .: previous and next run   q: quit")]
    return ScreenBlock([*lines[:rows], *[()] * (rows - len(lines))])


def draw_or_error(name: str, draw: Callable[[], ScreenBlock], cells: int, rows: int) -> ScreenBlock:
    """A part of the screen; a fault in it takes its place, and no other part's."""
    try:
        return draw()
    except Exception as error:  # noqa: BLE001 (the rest of the screen must stay)
        words = wrap(
            clean(internal_errors.report_internal_error(f"drawing {name}", error)), max(cells, 4)
        )
        return ScreenBlock([line((row, "crit")) for row in words[: max(rows, 1)]])
