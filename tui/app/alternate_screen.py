"""The alternate screen before Textual has started; restored on any error or signal."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SWITCH_TO_ALTERNATE = "\x1b[?1049h"
ENTER_ALTERNATE_SCREEN = f"{SWITCH_TO_ALTERNATE}\x1b[H\x1b[2J"
HIDE_CURSOR = "\x1b[?25l"
LEAVE_ALTERNATE_SCREEN = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l"  # Textual's modes, if set
    "\x1b[?7h\x1b[m\x1b[?25h\x1b[?1049l"
)

END_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def on_alternate_screen(text: str) -> Iterator[bool]:
    """Show a text on the alternate screen; leave it on a signal or an error.

    Yields whether there is such a screen. Once Textual runs, it handles the signals and leaves the
    screen itself.
    """
    terminal = sys.__stderr__
    if terminal is None or os.environ.get("TERM") == "dumb":
        yield False
        return
    handle = terminal.fileno()

    def write(text: str) -> None:
        with suppress(OSError):  # the terminal is gone
            os.write(handle, text.encode())

    settings = None
    with suppress(termios.error, OSError):
        settings = termios.tcgetattr(handle)

    def leave() -> None:
        write(LEAVE_ALTERNATE_SCREEN)
        if settings is not None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(handle, termios.TCSANOW, settings)

    def end(number: int, _: object) -> None:
        leave()
        os._exit(128 + number)

    def pause(_number: int, _frame: object) -> None:
        leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        write(ENTER_ALTERNATE_SCREEN + HIDE_CURSOR)

    for number in END_SIGNALS:
        signal.signal(number, end)
    signal.signal(signal.SIGTSTP, pause)
    write(ENTER_ALTERNATE_SCREEN + text + HIDE_CURSOR)
    try:
        yield True
    except BaseException:
        leave()
        raise
