"""Signals that end the program."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress

from textual.app import App

EXIT_GRACE_S = 3.0
"""Seconds until a forced exit: writing to a terminal that is gone may block for ever."""


def install_signal_handlers(app: App[int]) -> None:
    """Exit cleanly on SIGTERM, SIGHUP and SIGINT; call it from the running app.

    Not by asyncio: its handlers wait for the loop, which may wait for a terminal that is gone.
    """
    loop = asyncio.get_running_loop()

    def end(number: int, _frame: object) -> None:
        timer = threading.Timer(EXIT_GRACE_S, os._exit, (128 + number,))
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(app.exit, 128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, end)
