"""A line on the terminal while many logs are read: how far, and gone at the end."""

from __future__ import annotations

import io
import os
import sys
from itertools import count

import pytest

from ppo_top.cli import main
from ppo_top.runs import reading_progress
from tests.support.growing_logs import DEMO_LOGS_FOLDER


class Stream(io.StringIO):
    """Standard error, on a terminal of 60 columns or not."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return self._is_terminal

    def fileno(self) -> int:
        """What its size is asked of."""
        return 2


def said(monkeypatch: pytest.MonkeyPatch, seconds_a_look: float, is_terminal: bool = True) -> str:
    """What `check` writes on standard error if so much time passes from look to look."""
    stream, looks = Stream(is_terminal), count()
    size = os.terminal_size((60, 24))
    monkeypatch.setattr(reading_progress, "clock", lambda: next(looks) * seconds_a_look)
    monkeypatch.setattr(reading_progress, "get_terminal_size", lambda _handle: size)
    monkeypatch.setattr(sys, "stderr", stream)
    main(["check", "--no-cache", str(DEMO_LOGS_FOLDER)])
    return stream.getvalue()


def test_a_terminal_sees_how_far_a_long_check_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, drawn again and again, of which nothing is left."""
    text = said(monkeypatch, 1.0)
    assert "\n" not in text and text.endswith(reading_progress.ERASE)
    drawn = [line for line in text.split(reading_progress.ERASE) if line]
    assert drawn[-1] == "ppo-top: 11 of 11 runs judged"
    assert all(len(line) < 60 for line in drawn)


def test_a_short_check_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that flashes up says nothing."""
    assert said(monkeypatch, 0.001) == ""


def test_a_pipe_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the log of a CI job."""
    assert said(monkeypatch, 1.0, is_terminal=False) == ""
