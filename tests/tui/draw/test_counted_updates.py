"""On the screen, too, an update that is only counted is no step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.screens import drawn_text, write_unhealthy_console
from tests.tui.conftest import MakeUiState

STEP = re.compile(r"\bstep \d")


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15)])
def test_the_screen_says_update(
    size: tuple[int, int], tmp_path: Path, make_ui_state: MakeUiState
) -> None:
    """At the end and in the past: header, verdict and timeline."""
    ui = make_ui_state(write_unhealthy_console(tmp_path / "run" / "train.log"))
    shown = "\n".join(drawn_text(ui, *size))
    assert "update 40" in shown and not STEP.search(shown)
    assert ui.run is not None
    ui.cursor.go_to(ui.run.timeline, 24)
    shown = "\n".join(drawn_text(ui, *size))
    assert "update 25" in shown and not STEP.search(shown)
