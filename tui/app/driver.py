"""Textual's terminal driver, which also reports input as it arrives and survives a SIGSTOP.

It answers Esc alone as soon as the rest of a sequence cannot follow any more.

It leaves what was drawn before Textual was loaded on the screen. With `--ascii` what Textual draws
itself, the command palette, is ASCII too.
"""

from __future__ import annotations

import os
import select
import termios
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import Any

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste
from textual.message import Message

from ppo_top.tui.app.alternate_screen import SWITCH_TO_ALTERNATE

INPUT_EVENTS = (Key, Paste, MouseDown, MouseScrollDown, MouseScrollUp)


IDLE_WAIT_S = 0.1
"""How often the input thread looks whether to end."""


class TerminalDriver(LinuxDriver):
    """The driver on Linux and macOS; `app.prioritise_input` is called from its input thread.

    With `app.keeps_screen` the terminal shows the alternate screen already.
    """

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._on_input = app.prioritise_input
        self._keeps_screen = app.keeps_screen
        self._translate = app.ui_state.symbols.translate_cells
        self._in_application_mode = False
        self._settings = _settings_of(self.fileno)

    def run_input_thread(self) -> None:
        """Wait for input and pass it on, as Textual does.

        Textual looks every 0.1 s whether the rest of a sequence is overdue, which adds to the time
        that it waits for it after Esc (ESCDELAY). This looks when that time is over.
        """
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        wait = IDLE_WAIT_S
        while not self.exit_event.is_set():
            data = ""
            if select.select([self.fileno], [], [], wait)[0]:
                read = os.read(self.fileno, 4096)
                if not read:
                    return  # the terminal is gone: it would be readable, and empty, for ever
                data = decode(read)
            for message in parser.feed(data) if data else ():
                self.process_message(message)
            for message in parser.tick():
                self.process_message(message)
            wait = constants.ESCAPE_DELAY if "\x1b" in data else IDLE_WAIT_S

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
            super().write(self._translate(data))

    def start_application_mode(self) -> None:
        """Set the terminal up; Textual refuses in the background, and is asked again by `fg`."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._settings is not None:  # it takes ours for the user's where a SIGCONT comes between
            self.attrs_before = self._settings
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


def _settings_of(terminal: int) -> list[Any] | None:
    """The terminal's settings; None if it is none."""
    with suppress(termios.error):
        return termios.tcgetattr(terminal)
    return None
