"""Signals: what ends the screen, and what comes when a job system stops and continues a session."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from textual.app import App

EXIT_GRACE_S = 3.0
"""A terminal that is gone may take the last words never: then the end comes without them."""


def install_signal_handlers(app: App[int], repaint: Callable[[], object]) -> None:
    """Take the signals over; to be called once the app runs.

    `repaint` draws everything anew: after a pause the terminal shows what others left there.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, _exit_with, app, 128 + number)
    app.app_resume_signal.subscribe(app, lambda _: repaint())
    _handle_sigcont(app)


def _exit_with(app: App[int], code: int) -> None:
    end = threading.Timer(EXIT_GRACE_S, os._exit, (code,))
    end.daemon = True
    end.start()
    app.exit(code)


def _handle_sigcont(app: App[int]) -> None:
    """Stopped from outside (SIGSTOP, as job systems do) nothing was put away; Textual, which sets
    the screen up at every SIGCONT, would then read the keys twice and never end.
    """
    driver: Any = app._driver
    resume = signal.getsignal(signal.SIGCONT)
    if not callable(resume) or not hasattr(driver, "_must_signal_resume"):
        return

    def continued(number: int, frame: FrameType | None) -> None:
        if not driver._must_signal_resume:
            driver.suspend_application_mode()
            driver._must_signal_resume = True
        resume(number, frame)

    with suppress(ValueError):  # not the main thread: a test
        signal.signal(signal.SIGCONT, continued)
