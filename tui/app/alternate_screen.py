"""The time between the first word on the terminal and Textual: whatever ends it puts all back."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENTER_ALTERNATE_SCREEN = "\x1b[?1049h\x1b[H\x1b[2J"
HIDE_CURSOR = "\x1b[?25l"
LEAVE_ALTERNATE_SCREEN = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l"  # Textual's, if it began
    "\x1b[?7h\x1b[m\x1b[?25h\x1b[?1049l"
)

END_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def on_alternate_screen(words: str) -> Iterator[None]:
    """Enter the other screen with a first word, and leave it when a signal or an error comes.

    Textual takes the signals over once it runs, and leaves the screen itself.
    """
    terminal = sys.__stderr__
    if terminal is None or os.environ.get("TERM") == "dumb":
        yield
        return
    handle = terminal.fileno()

    def say(text: str) -> None:
        with suppress(OSError):  # a terminal that is gone
            os.write(handle, text.encode())

    settings = None
    with suppress(termios.error, OSError):
        settings = termios.tcgetattr(handle)

    def leave() -> None:
        say(LEAVE_ALTERNATE_SCREEN)
        if settings is not None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(handle, termios.TCSANOW, settings)

    def end(number: int, _: object) -> None:
        leave()
        os._exit(128 + number)

    def pause(_number: int, _frame: object) -> None:
        leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        say(ENTER_ALTERNATE_SCREEN + HIDE_CURSOR)

    for number in END_SIGNALS:
        signal.signal(number, end)
    signal.signal(signal.SIGTSTP, pause)
    say(ENTER_ALTERNATE_SCREEN + words + HIDE_CURSOR)
    try:
        yield
    except BaseException:
        leave()
        raise
