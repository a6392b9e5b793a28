"""The first page, read and drawn before Textual is loaded, to show something sooner."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

from rich.color import ColorSystem

from ppo_top.files.follower import Follower
from ppo_top.runs.pipeline import read_to_end
from ppo_top.support import internal_errors
from ppo_top.tui.app.reader_thread import READING
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.ansi import AnsiWriter
from ppo_top.tui.graphics.theme import Theme
from ppo_top.tui.state.snapshot import LoadingProgress
from ppo_top.tui.state.ui_state import UiState

FIRST_READ_S = 0.2
"""Time to read and judge for the first page; the rest follows once the app runs."""

SPLASH_ROW = 3
"""The row of the screen, from 1, with the text that is shown before anything is read."""


def read_briefly(ui: UiState, follower: Follower) -> None:
    """Read and judge as much as the time allows."""
    result = read_to_end(follower, ui.session, seconds=FIRST_READ_S)
    ui.loading = LoadingProgress(result.read_bytes, result.total_bytes) if result.more else None
    ui.choose_default_run()


def render_page(ui: UiState, theme: Theme, cells: int, rows: int) -> str:
    """The page as text to write on a cleared screen."""
    writer = AnsiWriter(ColorSystem.EIGHT_BIT)
    for y, line in enumerate(draw_screen(ui, cells, rows).lines):
        writer.move_to(0, y)
        for text, style in line:
            writer.write(text, theme.style(style))
    return writer.getvalue()


def show_first_page(ui: UiState, follower: Follower, theme: Theme, terminal: TextIO) -> None:
    """Write the first page to a terminal; the app shows and reports an error of reading for good.

    Of a partly read run only how much was read is told: its verdict could still change.
    """
    try:
        read_briefly(ui, follower)
    except Exception as error:  # noqa: BLE001 (what was read then is lost; the app reads on)
        ui.reading_error = internal_errors.report_internal_error(READING, error)
        return
    with suppress(Exception):  # the app draws it again, and reports what fails then
        size = os.get_terminal_size(terminal.fileno())
        if ui.run is not None and not ui.run.has_more_to_read:
            page = render_page(ui, theme, size.columns, size.lines)
            terminal.write(f"\x1b[?7l{page}\x1b[?7h")
        elif ui.loading is not None:
            terminal.write(f"\x1b[{SPLASH_ROW};1H{_reading_text(ui.loading)}\x1b[K")
        terminal.flush()


def _reading_text(loading: LoadingProgress) -> str:
    """How much has been read of how much, in place of the splash text."""
    share = 100 * loading.read_bytes // max(loading.total_bytes, 1)
    return f"  Reading logs: {share} % of {loading.total_bytes / 1e6:,.1f} MB"
