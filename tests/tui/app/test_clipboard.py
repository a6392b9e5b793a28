"""Copying to the terminal's clipboard."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.app.clipboard import MAX_BYTES, copy_sequence
from tests.support.screens import write_unhealthy_run
from tests.tui.conftest import MakeUiState


def test_a_terminal_gets_the_text_in_base64() -> None:
    """So that nothing in it is obeyed."""
    start, _, rest = copy_sequence("a\x1b[31m é\n", {}).partition(";c;")
    assert (start, rest[-1]) == ("\x1b]52", "\x07")
    assert b64decode(rest[:-1]).decode() == "a\x1b[31m é\n"


def test_tmux_gets_it_in_both_of_its_ways() -> None:
    """As its own sequence, and wrapped for the terminal outside, with every escape doubled."""
    plain = copy_sequence("text", {})
    inside = copy_sequence("text", {"TMUX": "/tmp/tmux-0/default,1,0"})
    assert inside == f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"


def test_more_than_terminals_take_is_refused() -> None:
    """The longest text takes 74,668 characters, below the 74,994 of the strictest terminals."""
    assert len(copy_sequence("x" * MAX_BYTES, {})) < 74_994
    with pytest.raises(ValueError, match="56,000 bytes"):
        copy_sequence("x" * (MAX_BYTES + 1), {})


async def test_y_sends_the_zoomed_series(
    tmp_path: Path, make_ui_state: MakeUiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter opens the chart, y copies its points and says so."""
    write_unhealthy_run(tmp_path / "runs" / "sick" / "progress.csv")
    monkeypatch.delenv("TMUX", raising=False)
    app = PpoTop(make_ui_state(tmp_path / "runs"), None)
    written: list[str] = []
    monkeypatch.setattr(app, "_write", written.append)
    async with app.run_test(size=(100, 30)) as pilot:
        app.ui_state.concept = "reward_mean"
        await pilot.press("enter", "y")
        [sequence] = [each for each in written if each.startswith("\x1b]52")]
        copied = b64decode(sequence.partition(";c;")[2][:-1]).decode()
        assert copied.startswith("step,value\n2048,24.0\n")
        assert app.ui_state.toast == "40 points sent to the terminal's clipboard"
