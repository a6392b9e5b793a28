"""The first page, read and drawn before Textual is loaded: it is seen a good deal earlier."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TextIO

from rich.color import ColorSystem

from ppo_top.files.follower import Follower
from ppo_top.tui.app.ansi import Pen
from ppo_top.tui.draw.overlays import picture
from ppo_top.tui.graphics.theme import Theme
from ppo_top.tui.state.snapshot import Loading
from ppo_top.tui.state.ui_state import Desk

READ_S, JUDGE_S = 0.1, 0.1
"""So long the first page is read and judged for; what is left comes while the screen stands."""

POINTS = 50_000


def read(desk: Desk, follower: Follower) -> None:
    """Take in and judge what can be had in a moment."""
    end = time.perf_counter() + READ_S
    while (left := end - time.perf_counter()) > 0:
        piece = follower.poll(POINTS, left)
        desk.session.apply(piece.gains)
        desk.session.forget(piece.gone)
        desk.session.reading = piece.more
        desk.loading = Loading(piece.read_bytes, piece.total_bytes) if piece.more else None
        if not piece.more:
            break
    desk.session.judge(JUDGE_S)
    desk.settle_choice()


def written(desk: Desk, theme: Theme, cells: int, rows: int) -> str:
    """The page as it is to be written on a clear screen."""
    pen = Pen(ColorSystem.EIGHT_BIT)
    for y, line in enumerate(picture(desk, cells, rows).lines):
        pen.to(0, y)
        for text, style in line:
            pen.write(text, theme.style(style))
    return pen.end()


def show(desk: Desk, follower: Follower, theme: Theme, terminal: TextIO) -> None:
    """Write the first page to a terminal; a fault is left to the screen, which can tell of it.

    A run of which a part is still to be read is not shown: half of its sources tell half a story.
    """
    with suppress(Exception):
        size = os.get_terminal_size(terminal.fileno())
        read(desk, follower)
        if desk.run is not None and not desk.run.reading:
            page = written(desk, theme, size.columns, size.lines)
            terminal.write(f"\x1b[?7l{page}\x1b[?7h")
            terminal.flush()
