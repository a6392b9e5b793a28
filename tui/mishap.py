"""When a picture cannot be drawn: the program lives on, and says so in its place."""

from __future__ import annotations

from ppo_top.tui.frame import Block
from ppo_top.tui.spans import Line, line, wrap
from ppo_top.words import clean


def picture_of(words: str, cells: int, rows: int) -> Block:
    """A screen that says what went wrong and which keys lead on."""
    lines: list[Line] = [line((" ppo-top", "brand")), ()]
    text = f"This cannot be drawn, which is a fault of ppo-top. {words}"
    lines += [line(" ", (row, "crit")) for row in wrap(clean(text), max(cells - 2, 4))]
    lines += [(), line(" Esc leaves this view, , and . change the run, q quits.")]
    return Block([*lines[:rows], *[()] * (rows - len(lines))])
