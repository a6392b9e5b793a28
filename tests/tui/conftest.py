"""UI states over logs that were read by the real code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui import Replay
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import FakeClock, read_session, write_unhealthy_run

MakeUiState = Callable[..., UiState]


@pytest.fixture
def make_ui_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeUiState:
    """A UI state over the logs in some paths, with a stopped clock."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def make(
        *paths: Path, replay: Replay | None = None, settings: Settings | None = None
    ) -> UiState:
        ui = UiState(
            session=read_session(list(paths), settings),
            acknowledgements=Acknowledgements(),
            replay=replay,
            clock=FakeClock(),
        )
        ui.choose_default_run()
        return ui

    return make


@pytest.fixture
def sick(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """A UI state with one run that became critical."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    return make_ui_state(tmp_path / "runs")
