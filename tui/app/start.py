"""Starts the screen: a splash text at once, then whatever takes time to load."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ppo_top.files.mirrors import shown_path
from ppo_top.paths import is_file, make_own_directory
from ppo_top.support import garbage
from ppo_top.tui import Replay
from ppo_top.tui.app.alternate_screen import on_alternate_screen

if TYPE_CHECKING:
    from ppo_top.files.follower import Follower
    from ppo_top.files.pipe_drain import PipeDrain
    from ppo_top.runs.memory import RunMemory
    from ppo_top.settings import Settings
    from ppo_top.tui.app.app import PpoTop
    from ppo_top.tui.app.notifications import Notifier
    from ppo_top.tui.state.ui_state import UiState

SWITCH_INTERVAL_S = 0.002
"""How long the reader thread may hold the interpreter while a key waits."""

ESCAPE_DELAY_MS = "25"
"""How long the rest of a sequence is waited for after Esc, unless ESCDELAY is set; Textual's 100 ms
are felt, and the bytes of an arrow key that a slow line tears apart arrive closer together."""

DETACHED_HINT = "Ctrl-Z, then `bg`, gives this shell back."
"""The shell waits for the training, as the first part of the pipeline."""


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How the screen is shown.

    `stdin` reads standard input, which is copied to the file `tee`; `theme` None means that of the
    settings, or of the terminal; `machine` measures what the training uses; `cached` shows runs
    that were judged before at once.
    """

    stdin: bool = False
    tee: Path | None = None
    replay: Replay | None = None
    ascii: bool = False
    theme: str | None = None
    bell: bool = True
    machine: bool = False
    cached: bool = True


def run(paths: Sequence[Path], settings: Settings, options: ScreenOptions) -> int:
    """Show the screen until the user quits; returns the exit code of the process."""
    pipe, drain = _claim_stdin(options.tee) if options.stdin else (None, None)
    _screen_to_terminal()
    watched = " ".join(map(shown_path, paths)) or "standard input"
    if options.replay is not None and options.replay.title:
        watched = options.replay.title
    with on_alternate_screen(_splash_text(watched)) as keeps_screen:
        with garbage.loading():
            app = _app(paths, pipe, drain, watched, settings, options)
        app.keeps_screen = keeps_screen
        code = app.run()
        if app.remembered is not None:
            app.remembered.save(app.ui_state)
    if app.quitting.is_detached:
        goes_to = f"is written to {options.tee}" if options.tee is not None else "is discarded"
        print(f"The training runs on; its output {goes_to}.", DETACHED_HINT, file=sys.stderr)
    return app.return_code or code or 0


def _app(
    paths: Sequence[Path],
    pipe: BinaryIO | None,
    drain: PipeDrain | None,
    watched: str,
    settings: Settings,
    options: ScreenOptions,
) -> PpoTop:
    """Load the app; the first page is drawn before Textual is loaded."""
    from ppo_top.files.follower import Follower
    from ppo_top.runs.memory import run_memory

    remembers = options.cached and pipe is None and options.replay is None
    memory = run_memory(paths, settings) if remembers else None
    ui = _ui_state(paths, watched, settings, options, memory)
    from ppo_top.tui.state.remembered_view import RememberedView

    remembered = RememberedView(paths) if options.replay is None else None
    if remembered is not None:
        remembered.restore(ui)
    follower = Follower(
        paths,
        stdin=pipe,
        patterns=settings.patterns,
        notebooks=settings.notebooks,
        memory=memory,
    )
    theme = options.theme or settings.theme
    if pipe is None and options.replay is None:
        _first_page(ui, follower, theme)
    _load_textual()
    from ppo_top.tui.app.app import PpoTop
    from ppo_top.tui.app.notifications import Notifier

    def notifier(write: Callable[[str], None]) -> Notifier:
        return Notifier(write, options.bell and settings.bell, settings.desktop, settings.tmux)

    app = PpoTop(ui, follower, notifier, theme, drain=drain, remembered=remembered)
    if (options.machine or settings.machine) and options.replay is None:
        from ppo_top.tui.app.machine_watch import MachineWatch

        app.machine_watch = MachineWatch(ui)
    return app


def _load_textual() -> None:
    """Load Textual, which reads the delay after Esc."""
    os.environ.setdefault("ESCDELAY", ESCAPE_DELAY_MS)
    import ppo_top.tui.app.app  # noqa: F401

    sys.setswitchinterval(SWITCH_INTERVAL_S)


def _ui_state(
    paths: Sequence[Path],
    watched: str,
    settings: Settings,
    options: ScreenOptions,
    memory: RunMemory | None,
) -> UiState:
    from ppo_top.runs.session import Session
    from ppo_top.support.acknowledgements import Acknowledgements
    from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS, COLOURLESS_SYMBOLS, UNICODE_SYMBOLS
    from ppo_top.tui.graphics.theme import choose_theme
    from ppo_top.tui.state.ui_state import (
        FIRST_START_HINT,
        WAITING_FOR_INPUT_TEXT,
        WAITING_TEXT,
        UiState,
    )

    ascii_only = options.ascii or settings.ascii or not _supports_unicode()
    is_coloured = choose_theme(options.theme or settings.theme).name != "none"
    signs = UNICODE_SYMBOLS if is_coloured else COLOURLESS_SYMBOLS
    ui = UiState(
        session=Session(settings, memory=memory, parallel=True),
        acknowledgements=Acknowledgements(paths),
        watched_paths=watched,
        paths=paths,
        waiting_text=WAITING_TEXT.format(watched=watched) if paths else WAITING_FOR_INPUT_TEXT,
        replay=options.replay,
        symbols=ASCII_SYMBOLS if ascii_only else signs,
    )
    ui.toast = _first_toast(settings, ui.acknowledgements.path, FIRST_START_HINT)
    return ui


def _first_toast(settings: Settings, acknowledgements: Path | None, hint: str) -> str:
    """The first footer text: a problem of the settings, or a hint at the very first start."""
    if settings.problems:
        return settings.problems[0]
    if acknowledgements is None:  # the state directory is among the logs: write nothing
        return hint
    marker = acknowledgements.with_name("welcomed")
    if is_file(marker):
        return ""
    with suppress(OSError):
        make_own_directory(marker.parent)
        marker.touch()
    return hint


def _splash_text(watched: str) -> str:
    """What is shown while Textual is being loaded."""
    shown = "".join(letter for letter in watched if letter.isprintable())[:60]
    words = f" ppo-top  {shown}\r\n\r\n  Looking for logs"
    return words.encode("ascii", "replace").decode()


def _first_page(ui: UiState, follower: Follower, theme: str | None) -> None:
    """Draw what can be read quickly, before Textual is loaded."""
    from ppo_top.tui.app.first_page import show_first_page
    from ppo_top.tui.graphics.theme import choose_theme

    if sys.__stderr__ is not None and os.environ.get("TERM") != "dumb":
        show_first_page(ui, follower, choose_theme(theme), sys.__stderr__)


def _screen_to_terminal() -> None:
    """Textual draws on stderr; if that is redirected, draw on the terminal instead."""
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        sys.__stderr__ = open("/dev/tty", "w", encoding="utf-8")  # type: ignore[misc]  # noqa: SIM115


PLAIN_TERMINALS = ("dumb", "vt100", "linux")
"""Terminals whose fonts lack braille and most symbols: the Linux console, too."""


def _supports_unicode() -> bool:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return encoding == "utf8" and os.environ.get("TERM") not in PLAIN_TERMINALS


def _claim_stdin(tee: Path | None) -> tuple[BinaryIO, PipeDrain | None]:
    """What to read in place of stdin, and what empties the pipe; stdin becomes the terminal.

    A redirected file is read directly, and what is pasted into the terminal to its end first.
    """
    if os.isatty(0):
        pasted = sys.stdin.buffer.read()
        if tee is not None:
            with tee.open("ab") as copy:
                copy.write(pasted)
        return BytesIO(pasted), None
    from ppo_top.files.pipe_drain import PipeDrain

    pipe = os.dup(0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    if stat.S_ISREG(os.fstat(pipe).st_mode):
        return os.fdopen(pipe, "rb", buffering=0), None
    drain = PipeDrain(pipe, tee)
    return os.fdopen(drain.handle, "rb", buffering=0), drain
