"""Textual's terminal driver, which also reports input as it arrives and survives a SIGSTOP.

It leaves what was drawn before Textual was loaded on the screen.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste
from textual.message import Message

from ppo_top.tui.app.alternate_screen import SWITCH_TO_ALTERNATE

INPUT_EVENTS = (Key, Paste, MouseDown, MouseScrollDown, MouseScrollUp)


class TerminalDriver(LinuxDriver):
    """The driver on Linux and macOS; `app.prioritise_input` is called from its input thread.

    With `app.keeps_screen` the terminal shows the alternate screen already.
    """

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._on_input = app.prioritise_input
        self._keeps_screen = app.keeps_screen
        self._in_application_mode = False

    def process_message(self, message: Message) -> None:
        """Report input before it queues up behind other messages."""
        if isinstance(message, INPUT_EVENTS):
            self._on_input()
        super().process_message(message)

    def write(self, data: str) -> None:
        """Write to the terminal; xterm clears an alternate screen that is switched to again."""
        if self._keeps_screen and data == SWITCH_TO_ALTERNATE:
            self._keeps_screen = False
        else:
            super().write(data)

    def start_application_mode(self) -> None:
        """Set the terminal up; Textual refuses in the background, and is asked again by `fg`."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._in_application_mode = True
        with suppress(OSError):  # not a terminal
            self._in_application_mode = os.tcgetpgrp(self.fileno) == os.getpgrp()

    def suspend_application_mode(self) -> None:
        """Restore the terminal."""
        self._in_application_mode = False
        super().suspend_application_mode()

    def resume_application_mode(self) -> None:
        """Continue after SIGCONT.

        A SIGSTOP, as job systems send it, leaves no chance to restore the terminal first. Setting
        it up twice would start a second input thread, so it is restored now, then set up again.
        """
        was_stopped = self._in_application_mode
        if was_stopped:
            self.suspend_application_mode()
        super().resume_application_mode()
        if was_stopped:
            self.send_message(self.SignalResume())
