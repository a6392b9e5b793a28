"""When reading ends for a bug of ours the screen says so for good: its values are those of then."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.files.update import PollResult
from ppo_top.support import internal_errors
from ppo_top.tui.app import drawing
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.ui_state import UiState
from tests.support.running_app import app_over, screen, until
from tests.support.screens import drawn_text, write_unhealthy_run

ERROR = "reading the logs failed: RuntimeError('planted')"


@pytest.fixture(autouse=True)
def error_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where errors are written: nothing was reported yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])
    return tmp_path / "state" / "ppo-top" / internal_errors.ERROR_LOG_NAME


def break_reading(app: PpoTop) -> None:
    """The next poll raises."""

    def broken(*_: object) -> PollResult:
        raise RuntimeError("planted")

    assert app.reader is not None
    app.reader.follower.poll = broken  # type: ignore[method-assign, assignment]
    app.reader.follower.wake()


async def test_the_error_stays_on_the_screen_and_is_logged(
    tmp_path: Path, error_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Toasts come and go; the run below looks alive and is not."""
    monkeypatch.setattr(drawing, "TOAST_S", 0.0)
    write_unhealthy_run(tmp_path / "runs" / "a" / "progress.csv")
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(lambda: app.ui_state.run is not None and app.judging.all_judged)
        assert "reading the logs failed" not in screen(app)
        break_reading(app)
        await until(lambda: ERROR in screen(app))
        app.ui_state.toast = "something else"
        app.drawing.draw()
        app.judging.check_states()
        assert app.ui_state.toast == ""
        assert ERROR in screen(app)
        await pilot.press("question_mark")
        assert ERROR in screen(app), "over every layer"
    assert "RuntimeError: planted" in error_log.read_text()
    assert str(error_log) in app.ui_state.reading_error


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (40, 15), (30, 4), (40, 1)])
@pytest.mark.parametrize("overlay", ["", "findings"])
def test_it_is_a_line_of_its_own_at_every_size(
    sick: UiState, size: tuple[int, int], overlay: str
) -> None:
    """The last one, in red; the rest of the screen has one line less."""
    sick.overlay = overlay
    above = drawn_text(sick, size[0], size[1] - 1)
    sick.reading_error = ERROR
    *others, last = draw_screen(sick, *size).lines
    assert [plain_text(row) for row in others] == above
    assert plain_text(last).startswith("✗ reading the logs failed")
    assert last[0][1] == "crit"
