"""When a picture cannot be drawn: the program lives on, and says so in its place."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.support import internal_errors as mishap
from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import Line, line, wrap
from ppo_top.tui.state.snapshot import Block


def picture_of(words: str, cells: int, rows: int) -> Block:
    """A screen that says what went wrong and which keys lead on."""
    lines: list[Line] = [line((" ppo-top", "brand")), ()]
    text = f"This cannot be drawn, which is a fault of ppo-top. {words}"
    lines += [line(" ", (row, "crit")) for row in wrap(clean(text), max(cells - 2, 4))]
    lines += [(), line(" Esc leaves this view, , and . change the run, q quits.")]
    return Block([*lines[:rows], *[()] * (rows - len(lines))])


def contained(name: str, draw: Callable[[], Block], cells: int, rows: int) -> Block:
    """A part of the screen; a fault in it takes its place, and no other part's."""
    try:
        return draw()
    except Exception as error:  # noqa: BLE001 (the rest of the screen must stay)
        words = wrap(clean(mishap.note(f"drawing {name}", error)), max(cells, 4))
        return Block([line((row, "crit")) for row in words[: max(rows, 1)]])
