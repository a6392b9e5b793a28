"""The page that is seen before Textual is loaded."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support import internal_errors
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.app import first_page
from ppo_top.tui.app.first_page import read_briefly, render_page, show_first_page
from ppo_top.tui.graphics.theme import THEMES
from ppo_top.tui.state.ui_state import UiState
from tests.support.program_in_terminal import ENTER_SCREEN_BYTES, ProgramTerminal
from tests.support.screens import FakeClock, drawn_text, write_unhealthy_run

ENABLE_MOUSE = "\x1b[?1000h"
"""What Textual writes first."""


@pytest.fixture
def empty() -> UiState:
    """The state of a screen without runs."""
    return UiState(
        session=Session(Settings()), acknowledgements=Acknowledgements(), clock=FakeClock()
    )


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A terminal of 100x30: the end to write to and the end to read from."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.set_blocking(outer, False)
    with os.fdopen(inner, "w", encoding="utf-8") as file:
        yield file, outer
    os.close(outer)


def test_it_is_the_page_of_the_screen(tmp_path: Path, empty: UiState) -> None:
    """Line by line the same letters as the screen shows afterwards."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    follower = Follower([tmp_path / "runs"])
    read_briefly(empty, follower)
    follower.close()
    page = render_page(empty, THEMES["dark"], 80, 24)
    rows = re.split(r"\x1b\[\d+;1H", page)[1:]
    assert [re.sub(r"\x1b\[[\d;]*m", "", row) for row in rows] == drawn_text(empty, 80, 24)


def test_it_is_written_at_the_size_of_the_terminal(
    tmp_path: Path, empty: UiState, terminal: tuple[TextIO, int]
) -> None:
    """Verdict and all, and the terminal wraps lines again afterwards."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    follower = Follower([tmp_path / "runs"])
    show_first_page(empty, follower, THEMES["none"], terminal[0])
    follower.close()
    parts = []
    with suppress(BlockingIOError):
        while True:
            parts.append(os.read(terminal[1], 1 << 16))
    seen = b"".join(parts).decode()
    assert "Destructively large updates" in seen
    assert "\x1b[30;1H" in seen and "\x1b[31;1H" not in seen
    assert seen.endswith("\x1b[?7h")


def test_without_a_run_nothing_is_written(
    tmp_path: Path, empty: UiState, terminal: tuple[TextIO, int]
) -> None:
    """Where there is nothing to see the first word stays."""
    follower = Follower([tmp_path / "later"])
    show_first_page(empty, follower, THEMES["dark"], terminal[0])
    follower.close()
    with pytest.raises(BlockingIOError):
        os.read(terminal[1], 1)


def test_a_run_that_is_read_in_part_is_not_shown(
    tmp_path: Path, empty: UiState, terminal: tuple[TextIO, int]
) -> None:
    """Half-read logs may mislead: all that is told is how much of them was read."""
    write_unhealthy_run(
        tmp_path / "runs" / "long" / "progress.csv", updates=400_000, broken_from=500_000
    )
    follower = Follower([tmp_path / "runs"])
    show_first_page(empty, follower, THEMES["dark"], terminal[0])
    follower.close()
    assert empty.loading is not None
    seen = os.read(terminal[1], 1 << 16).decode()
    megabytes = empty.loading.total_bytes / 1e6
    assert re.fullmatch(rf"\x1b\[3;1H  Reading logs: \d+ % of {megabytes:,.1f} MB\x1b\[K", seen)


def test_an_error_of_reading_is_left_to_the_screen(
    empty: UiState, terminal: tuple[TextIO, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not keep the program from starting; what was read then is lost, which is told."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])

    def broken(_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(empty.session, "apply", broken)
    follower = Follower([tmp_path / "runs"])
    show_first_page(empty, follower, THEMES["dark"], terminal[0])
    follower.close()
    error_log = tmp_path / "state" / "ppo-top" / internal_errors.ERROR_LOG_NAME
    assert "RuntimeError: planted" in error_log.read_text()
    said = "reading the logs failed: RuntimeError('planted')"
    assert said in "\n".join(drawn_text(empty, 100, 30))


def test_an_error_of_drawing_is_left_to_the_screen(
    tmp_path: Path, empty: UiState, terminal: tuple[TextIO, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is there for it."""

    def broken(*_: object) -> str:
        raise RuntimeError("planted")

    monkeypatch.setattr(first_page, "render_page", broken)
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    follower = Follower([tmp_path / "runs"])
    show_first_page(empty, follower, THEMES["dark"], terminal[0])
    follower.close()
    assert "Destructively large updates" in "\n".join(drawn_text(empty, 100, 30))
    assert empty.reading_error == ""


def test_the_screen_takes_over_without_clearing_it(tmp_path: Path) -> None:
    """The verdict stands there before Textual sets the terminal up, and stays.

    xterm clears its alternate screen whenever it is switched to, so that happens once.
    """
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    screen = ProgramTerminal(tmp_path / "home", tmp_path / "runs")
    try:
        assert screen.wait_for_text(ENABLE_MOUSE)
        assert screen.wait_for_text("\x1b]2;ppo-top")  # the title: Textual runs
        screen.process.terminate()
        screen.wait_for_exit()
    finally:
        screen.close()
    before, _, after = screen.output.decode().partition(ENABLE_MOUSE)
    assert "Destructively large updates" in before
    assert screen.output.count(ENTER_SCREEN_BYTES) == 1
    assert "\x1b[2J" not in after


def test_textual_is_not_loaded_for_it() -> None:
    """That is what makes it early."""
    code = "import sys, ppo_top.tui.app.first_page; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
