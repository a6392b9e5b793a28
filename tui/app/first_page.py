"""The first page, read and drawn before Textual is loaded: it is seen a good deal earlier."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TextIO

from rich.color import ColorSystem

from ppo_top.files.follower import Follower
from ppo_top.tui.app.ansi import AnsiWriter
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.theme import Theme
from ppo_top.tui.state.snapshot import LoadingProgress
from ppo_top.tui.state.ui_state import UiState

FIRST_READ_S, FIRST_JUDGE_S = 0.1, 0.1
"""So long the first page is read and judged for; what is left comes while the screen stands."""

FIRST_POLL_POINTS = 50_000


def read_briefly(desk: UiState, follower: Follower) -> None:
    """Take in and judge what can be had in a moment."""
    end = time.perf_counter() + FIRST_READ_S
    while (left := end - time.perf_counter()) > 0:
        piece = follower.poll(FIRST_POLL_POINTS, left)
        desk.session.apply(piece.updates)
        desk.session.remove_sources(piece.removed)
        desk.session.reader_has_more = piece.more
        desk.loading = LoadingProgress(piece.read_bytes, piece.total_bytes) if piece.more else None
        if not piece.more:
            break
    desk.session.judge(FIRST_JUDGE_S)
    desk.choose_default_run()


def render_page(desk: UiState, theme: Theme, cells: int, rows: int) -> str:
    """The page as it is to be written on a clear screen."""
    pen = AnsiWriter(ColorSystem.EIGHT_BIT)
    for y, line in enumerate(draw_screen(desk, cells, rows).lines):
        pen.move_to(0, y)
        for text, style in line:
            pen.write(text, theme.style(style))
    return pen.getvalue()


def show_first_page(desk: UiState, follower: Follower, theme: Theme, terminal: TextIO) -> None:
    """Write the first page to a terminal; a fault is left to the screen, which can tell of it.

    A run of which a part is still to be read is not shown: half of its sources tell half a story.
    """
    with suppress(Exception):
        size = os.get_terminal_size(terminal.fileno())
        read_briefly(desk, follower)
        if desk.run is not None and not desk.run.has_more_to_read:
            page = render_page(desk, theme, size.columns, size.lines)
            terminal.write(f"\x1b[?7l{page}\x1b[?7h")
            terminal.flush()
