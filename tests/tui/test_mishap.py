"""A fault in drawing is told and kept, and the program goes on."""

from __future__ import annotations

import pytest

from ppo_top import mishap
from ppo_top.tui import layers
from ppo_top.tui.desk import Desk
from ppo_top.tui.frame import Frame
from ppo_top.tui.program import PpoTop
from ppo_top.tui.spans import Line, plain


async def test_a_layer_that_cannot_be_drawn_is_left_with_escape(
    sick: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen says which part went wrong and where more is kept; Esc leads back to the run."""

    def broken(_desk: Desk, _frame: Frame, _cells: int) -> list[Line]:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(mishap, "_told", {})
    monkeypatch.setattr(mishap, "_watched", [])
    monkeypatch.setitem(layers.TEXTS, "config", broken)
    app = PpoTop(sick, None)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("i")
        shown = " ".join(" ".join(plain(row) for row in app.canvas._rows).split())
        assert "drawing config failed: ZeroDivisionError('by nothing')" in shown
        await pilot.press("escape")
        assert "approx KL" in "\n".join(plain(row) for row in app.canvas._rows)
    kept = sick.memory.path
    assert kept is not None
    noted = (kept.parent / mishap.FILE).read_text()
    assert noted.count("Traceback") == 1, "once, however often it was drawn"
    assert "ZeroDivisionError: by nothing" in noted
