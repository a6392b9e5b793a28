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
    """Exit cleanly on SIGTERM, SIGHUP and SIGINT; call it from the running app."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, _exit_with, app, 128 + number)


def _exit_with(app: App[int], code: int) -> None:
    timer = threading.Timer(EXIT_GRACE_S, os._exit, (code,))
    timer.daemon = True
    timer.start()
    app.exit(code)
