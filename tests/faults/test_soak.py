"""The soak test in short: writers are killed, rotate and truncate; no point is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.soak import soak


def test_some_seconds(tmp_path: Path) -> None:
    """A console and TensorBoard's own writer, with kills and restarts."""
    figures = soak(tmp_path, 4.0, seed=1, kinds=["console", "events"])
    assert figures["points"] > 50
    assert figures["kills"] > 0


@pytest.mark.real
def test_a_minute(tmp_path: Path) -> None:
    """The same with torch and Stable-Baselines3, and memory that stays as it is."""
    figures = soak(tmp_path, 60.0, seed=2, kinds=["console", "events", "torch", "sb3"])
    assert figures["points"] > 1_000
    assert figures["memory_growth"] < 24 << 20  # 15 of them numpy, once it pays
