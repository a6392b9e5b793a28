"""Terminals for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.tmux import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[[int, int], Terminal]]:
    """Make terminals that are closed at the end."""
    opened: list[Terminal] = []

    def make(width: int, height: int) -> Terminal:
        folder = tmp_path / f"{width}x{height}"
        folder.mkdir()
        opened.append(Terminal(folder, width, height))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
