"""What the tests of the far side share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script's own time limit would replace that of the tests."""
    monkeypatch.setattr("ppo_top.remote.far_side.frames.signal.alarm", lambda seconds: 0)
