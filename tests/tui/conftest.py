"""Desks over logs that were read by the real chain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.support.acknowledgements import Memory
from ppo_top.tui import Replay
from ppo_top.tui.state.ui_state import Desk
from tests.support.screens import FakeClock, read, write_sick

MakeDesk = Callable[..., Desk]


@pytest.fixture
def make_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeDesk:
    """A desk over the logs below some paths, with a clock that stands still."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def make(*paths: Path, replay: Replay | None = None) -> Desk:
        desk = Desk(session=read(list(paths)), memory=Memory(), replay=replay, clock=FakeClock())
        desk.settle_choice()
        return desk

    return make


@pytest.fixture
def sick(tmp_path: Path, make_desk: MakeDesk) -> Desk:
    """A desk with one run that turned red."""
    write_sick(tmp_path / "runs" / "sick" / "progress.csv")
    return make_desk(tmp_path / "runs")
