"""How the screen is started: a first word at once, then all that takes a moment to load."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ppo_top.paths import is_file
from ppo_top.tui import Replay
from ppo_top.tui.app.alternate_screen import on_alternate_screen

if TYPE_CHECKING:
    from ppo_top.files.follower import Follower
    from ppo_top.settings import Settings
    from ppo_top.tui.app.app import PpoTop
    from ppo_top.tui.app.notifications import Notifier
    from ppo_top.tui.state.ui_state import UiState

SWITCH_INTERVAL_S = 0.002
"""How long the reading thread may hold the interpreter while a key waits."""


def run(
    paths: Sequence[Path],
    *,
    settings: Settings,
    stdin: bool = False,
    replay: Replay | None = None,
    ascii: bool = False,
    theme: str | None = None,
    bell: bool = True,
) -> int:
    """Show the screen until the user quits; gives the exit code of the process."""
    pipe = _claim_stdin() if stdin else None
    _screen_to_terminal()
    place = " ".join(str(path) for path in paths) or "standard input"
    with on_alternate_screen(_splash_text(place)):
        app = _app(paths, pipe, place, settings, replay, ascii, theme, bell)
        code = app.run()
    return app.return_code or code or 0


def _app(
    paths: Sequence[Path],
    pipe: BinaryIO | None,
    place: str,
    settings: Settings,
    replay: Replay | None,
    ascii: bool,
    theme: str | None,
    bell: bool,
) -> PpoTop:
    """The app, once everything that it needs is loaded; the first page is drawn meanwhile."""
    gc.disable()  # nothing of what is loaded now is garbage
    from ppo_top.files.follower import Follower
    from ppo_top.runs.session import Session
    from ppo_top.support.acknowledgements import Acknowledgements
    from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS, UNICODE_SYMBOLS
    from ppo_top.tui.state.ui_state import FIRST_START_HINT, WAITING_TEXT, UiState

    ui = UiState(
        session=Session(settings),
        acknowledgements=Acknowledgements(paths),
        watched_paths=place,
        waiting_text=WAITING_TEXT.format(place=place),
        replay=replay,
        symbols=ASCII_SYMBOLS
        if ascii or settings.ascii or not _supports_unicode()
        else UNICODE_SYMBOLS,
    )
    ui.toast = _first_toast(settings, ui.acknowledgements.path, FIRST_START_HINT)
    follower = Follower(paths, stdin=pipe, patterns=settings.patterns)
    if pipe is None and replay is None:
        _first_page(ui, follower, theme or settings.theme)
    from ppo_top.tui.app.app import PpoTop
    from ppo_top.tui.app.notifications import Notifier

    gc.freeze()
    gc.enable()
    sys.setswitchinterval(SWITCH_INTERVAL_S)

    def notifier(write: Callable[[str], None]) -> Notifier:
        return Notifier(write, bell and settings.bell, settings.desktop, settings.tmux)

    return PpoTop(ui, follower, notifier, theme or settings.theme)


def _first_toast(settings: Settings, acknowledgements: Path | None, hint: str) -> str:
    """What the footer says at first: a problem of the settings, else a hint at the first start."""
    if settings.problems:
        return settings.problems[0]
    if acknowledgements is None:  # nothing is to be kept: the state directory lies among the logs
        return hint
    marker = acknowledgements.with_name("welcomed")
    if is_file(marker):
        return ""
    with suppress(OSError):
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    return hint


def _splash_text(place: str) -> str:
    """What goes on, while Textual is being loaded."""
    shown = "".join(letter for letter in place if letter.isprintable())[:60]
    words = f" ppo-top  {shown}\r\n\r\n  Looking for logs"
    return words.encode("ascii", "replace").decode()


def _first_page(ui: UiState, follower: Follower, theme: str | None) -> None:
    """What can be read in a moment, while Textual is still to be loaded."""
    from ppo_top.tui.app.first_page import show_first_page
    from ppo_top.tui.graphics.theme import choose_theme

    if sys.__stderr__ is not None and os.environ.get("TERM") != "dumb":
        show_first_page(ui, follower, choose_theme(theme), sys.__stderr__)


def _screen_to_terminal() -> None:
    """Textual draws on standard error; where that is redirected, draw on the terminal anyway."""
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        sys.__stderr__ = open("/dev/tty", "w", encoding="utf-8")  # type: ignore[misc]  # noqa: SIM115


def _supports_unicode() -> bool:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return encoding == "utf8" and os.environ.get("TERM") not in ("dumb", "vt100")


def _claim_stdin() -> BinaryIO:
    """The pipe on standard input, which becomes the terminal: keys come from there."""
    pipe = os.fdopen(os.dup(0), "rb", buffering=0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    return pipe
