"""Input comes first: long work yields to it, and keys are answered from cached views."""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import pty
import signal
import sys
import termios
import threading
from pathlib import Path
from typing import Any

import pytest
from textual import constants
from textual.app import App
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, MouseMove

from ppo_top.tui.app import drawing
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.app.driver import TerminalDriver
from ppo_top.tui.app.input_priority import MAX_WORK_DELAY_S, RECENT_INPUT_S, InputPriority
from ppo_top.tui.app.screen import KeyPressed
from ppo_top.tui.state.snapshot import ScreenBlock
from ppo_top.tui.state.ui_state import UiState
from tests.support.running_app import app_over, screen, until
from tests.support.screens import FakeClock, write_unhealthy_run


class RecordingDriver(TerminalDriver):
    """Keeps what is sent to the app and does to the terminal."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self.sent: list[Any] = []

    def send_message(self, message: Any) -> None:
        """Keep the message."""
        self.sent.append(message)


def test_work_yields_after_a_key() -> None:
    """Work yields for a short time after a key, and only then."""
    clock = FakeClock()
    priority = InputPriority(clock)
    assert not priority.must_yield()
    priority.record_input()
    assert (priority.is_input_recent, priority.must_yield()) == (True, True)
    clock.now += RECENT_INPUT_S + 0.001
    assert (priority.is_input_recent, priority.must_yield()) == (False, False)


def test_work_continues_while_a_key_is_held() -> None:
    """With a key every 30 ms, work runs at least about every 0.1 s."""
    clock = FakeClock()
    priority = InputPriority(clock)
    worked = []
    for _ in range(100):
        clock.now += 0.03
        priority.record_input()
        if not priority.must_yield():
            worked.append(clock.now)
    gaps = [later - earlier for earlier, later in itertools.pairwise(worked)]
    assert len(worked) >= 20
    assert max(gaps) <= MAX_WORK_DELAY_S + 0.03 + 1e-6


@pytest.fixture
async def driver(sick: UiState, monkeypatch: pytest.MonkeyPatch) -> RecordingDriver:
    """The driver of the app, without its signal handlers."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    app = PpoTop(sick, None)
    app.input_priority = InputPriority(FakeClock())
    assert app.driver_class is TerminalDriver
    return RecordingDriver(app)


async def test_a_key_is_recorded_before_it_is_sent(driver: RecordingDriver) -> None:
    """The driver reports a key and passes it on; a mouse that only moves is not reported."""
    priority = driver._app.input_priority  # type: ignore[attr-defined]
    move = MouseMove(None, 1, 1, 0, 0, 0, False, False, False)
    driver.process_message(move)
    assert not priority.is_input_recent
    key = Key("q", "q")
    driver.process_message(key)
    assert driver.sent == [move, key]
    assert priority.is_input_recent


async def test_esc_alone_waits_for_nothing_but_the_rest_of_a_sequence(
    driver: RecordingDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for the input thread's next look; and a sequence in two pieces stays one key."""
    monkeypatch.setattr("ppo_top.tui.app.driver.IDLE_WAIT_S", 3600.0)
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 0.001)
    driver.fileno, keyboard = os.pipe()
    thread = threading.Thread(target=driver.run_input_thread, daemon=True)
    thread.start()
    os.write(keyboard, b"\x1b")
    while not driver.sent:
        await asyncio.sleep(0.001)
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 3600.0)
    os.write(keyboard, b"\x1b[")
    os.write(keyboard, b"Aq")
    while len(driver.sent) < 3:
        await asyncio.sleep(0.001)
    driver.exit_event.set()
    os.write(keyboard, b"q")
    thread.join()
    os.close(keyboard)
    os.close(driver.fileno)
    assert [message.key for message in driver.sent[:3]] == ["escape", "up", "q"]


async def test_the_input_thread_ends_with_its_terminal(
    driver: RecordingDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is at its end is readable for ever: waiting for it would take a whole core."""
    terminal, keyboard = os.pipe()
    monkeypatch.setattr(driver, "fileno", terminal)
    thread = threading.Thread(target=driver.run_input_thread, daemon=True)
    thread.start()
    os.close(keyboard)
    thread.join(timeout=10)
    assert not thread.is_alive()
    os.close(terminal)


@pytest.mark.parametrize("restored_before", [False, True], ids=["SIGSTOP", "SIGTSTP"])
async def test_the_terminal_is_set_up_once_after_a_stop(
    driver: RecordingDriver, monkeypatch: pytest.MonkeyPatch, restored_before: bool
) -> None:
    """Every set-up follows a restore, whether the stop gave a chance to restore or not."""
    calls: list[str] = []
    monkeypatch.setattr(LinuxDriver, "start_application_mode", lambda _: calls.append("set up"))
    monkeypatch.setattr(LinuxDriver, "suspend_application_mode", lambda _: calls.append("restore"))
    driver.fileno = -1
    driver.start_application_mode()
    if restored_before:
        driver.suspend_application_mode()
    driver.resume_application_mode()
    assert calls == ["set up", "restore", "set up"]
    resumed = [message for message in driver.sent if isinstance(message, Driver.SignalResume)]
    assert len(resumed) == (0 if restored_before else 1)  # else Textual sends it


async def test_another_driver_of_the_environment_is_kept(
    sick: UiState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Textual's own way of choosing a driver (for a web server) still works."""
    monkeypatch.setattr(App, "get_driver_class", lambda _: HeadlessDriver)
    assert PpoTop(sick, None).driver_class is HeadlessDriver


async def test_a_key_in_the_app_is_recorded(sick: UiState) -> None:
    """A key that the app handles counts as input, whatever the driver."""
    app = PpoTop(sick, None)
    app.input_priority = InputPriority(FakeClock())
    async with app.run_test(size=(100, 30)) as pilot:
        assert not app.input_priority.is_input_recent
        await pilot.press("j")
        assert app.input_priority.is_input_recent


async def test_keys_that_wait_are_answered_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A held arrow repeats faster than a large screen is drawn: the last one is seen."""
    monkeypatch.setattr(drawing, "ANSWER_PAUSE_S", 60.0)
    for number in range(30):
        write_unhealthy_run(
            tmp_path / "runs" / f"run-{number:02}" / "progress.csv", first_reward=number
        )
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(lambda: app.judging.all_judged)
        await pilot.press("t", "tab", "home")
        await until(lambda: "run 1/30" in screen(app))
        drawn: list[tuple[int, int]] = []
        draw = app.drawing._draw_screen

        def count(cells: int, rows: int) -> ScreenBlock:
            drawn.append((cells, rows))
            return draw(cells, rows)

        monkeypatch.setattr(app.drawing, "_draw_screen", count)
        for _ in range(20):
            app.post_message(KeyPressed("down", None))
        await until(lambda: "run 21/30" in screen(app))
        assert len(drawn) < 8  # new data may be drawn, too


def test_a_view_is_made_once(sick: UiState) -> None:
    """The view is cached until the row changes or an update is judged."""
    first = sick.view()
    assert sick.view() is first
    sick.cursor.row = 3
    second = sick.view()
    assert second is not first
    assert sick.run is not None
    sick.run.version += 1
    assert sick.view() is not second


def test_a_key_may_be_answered_with_an_older_view(sick: UiState) -> None:
    """While a run is being judged, the last view may be reused for two seconds."""
    clock = FakeClock()
    sick.clock = clock
    run, first = sick.run, sick.view()
    assert run is not None
    run.version, run.judged, sick.allow_stale = run.version + 1, False, True
    assert sick.view() is first
    sick.cursor.row = 2
    assert sick.view() is not first, "another row is another view, even if stale views are allowed"
    sick.cursor.row = None
    kept = sick.view()
    clock.now += 2.5
    run.version += 1
    assert sick.view() is not kept
    run.judged = True
    run.version += 1
    latest = sick.view()
    run.version += 1
    assert sick.view() is not latest, "a judged run is shown as it is"


def test_curves_are_drawn_once_for_a_view(sick: UiState) -> None:
    """Curves are cached by view and size."""
    view, drawn = sick.view(), []
    assert view is not None

    def draw() -> list[Any]:
        drawn.append(1)
        return [()]

    for _ in range(3):
        sick.drawing_cache.cached_lines(view, ("reward_mean", 10), draw)
    assert len(drawn) == 1
    sick.drawing_cache.cached_lines(view, ("reward_mean", 11), draw)
    assert len(drawn) == 2
    assert sick.run is not None
    sick.run.version += 1
    other = sick.view()
    assert other is not None
    sick.drawing_cache.cached_lines(other, ("reward_mean", 10), draw)
    assert len(drawn) == 3


async def test_the_terminal_gets_back_what_it_had_before_a_start_within_a_start(
    driver: RecordingDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a SIGSTOP and a SIGCONT while the screen is still set up."""
    ours, theirs = pty.openpty()
    monkeypatch.setattr(sys, "__stdin__", os.fdopen(theirs, "r", closefd=False))
    before = termios.tcgetattr(theirs)
    inner = RecordingDriver(driver._app)
    monkeypatch.setattr(inner, "_file", io.StringIO())
    monkeypatch.setattr(inner, "_run_input_thread", lambda: None)
    monkeypatch.setattr(inner, "_get_terminal_size", lambda: (80, 24))
    inner.start_application_mode()
    inner.start_application_mode()
    assert termios.tcgetattr(theirs)[:4] != before[:4]
    inner.stop_application_mode()
    inner.close()
    assert termios.tcgetattr(theirs)[:4] == before[:4]
    os.close(ours)
    os.close(theirs)
