"""How the screen starts and reads: hint, themes, reader thread, the README's key table."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.files.update import PollResult
from ppo_top.settings import Settings
from ppo_top.tui.app.reader_thread import ReaderThread
from ppo_top.tui.app.start import _first_toast
from ppo_top.tui.graphics.theme import (
    COLOURLESS_STYLES,
    DARK_STYLES,
    LIGHT_STYLES,
    SIXTEEN_COLOUR_STYLES,
    THEMES,
    choose_theme,
)
from tests.support.screens import write_unhealthy_run


def test_the_hint_comes_once(tmp_path: Path) -> None:
    """The first start shows it, the second does not; a settings problem is always shown."""
    acknowledged = tmp_path / "state" / "acknowledged.json"
    assert _first_toast(Settings(), acknowledged, "hello") == "hello"
    assert _first_toast(Settings(), acknowledged, "hello") == ""
    assert (
        _first_toast(Settings(problems=("goal: no number",)), acknowledged, "hello")
        == "goal: no number"
    )


def test_nothing_is_kept_where_nothing_may_be(tmp_path: Path) -> None:
    """With the state directory among the logs no marker is written."""
    assert _first_toast(Settings(), None, "hello") == "hello"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wanted", "environment", "name"),
    [
        (None, {"TERM": "xterm-256color"}, "dark"),
        (None, {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "light"),
        ("light", {"TERM": "xterm-256color"}, "light"),
        ("light", {"TERM": "xterm-256color", "NO_COLOR": "1"}, "none"),
        (None, {"TERM": "dumb"}, "none"),
        (None, {"TERM": "screen"}, "16"),
        (None, {"TERM": "linux", "COLORTERM": "truecolor"}, "dark"),
    ],
)
def test_the_theme_fits_the_terminal(
    wanted: str | None, environment: dict[str, str], name: str
) -> None:
    """What was asked for, else what the terminal can show; NO_COLOR is above all."""
    assert choose_theme(wanted, environment).name == name


def test_every_theme_knows_every_state_and_verdict() -> None:
    """No style that pictures use is missing in the coloured themes."""
    assert set(LIGHT_STYLES) == set(DARK_STYLES)
    assert set(DARK_STYLES) - set(SIXTEEN_COLOUR_STYLES) <= {"title", "band"}
    assert "crit" in COLOURLESS_STYLES


def test_no_colour_means_no_colour() -> None:
    """The plain theme has attributes only."""
    for name in COLOURLESS_STYLES:
        style = THEMES["none"].style(name)
        assert style.color is None and style.bgcolor is None


class PollRecorder:
    """The results of the reader thread."""

    def __init__(self) -> None:
        self.results: list[PollResult] = []
        self.arrived = threading.Event()

    def __call__(self, result: PollResult) -> None:
        self.results.append(result)
        if result.updates:
            self.arrived.set()


def test_the_thread_passes_on_what_it_reads(tmp_path: Path) -> None:
    """An existing log is read; the thread ends on `stop`."""
    write_unhealthy_run(tmp_path / "runs" / "one" / "progress.csv")
    recorder = PollRecorder()
    reader = ReaderThread(Follower([tmp_path / "runs"]), recorder)
    reader.start()
    assert recorder.arrived.wait(10)
    reader.stop()
    assert not reader._thread.is_alive()
    assert (
        sum(len(update.batch.points) for result in recorder.results for update in result.updates)
        == 4
    )


def test_it_reads_no_more_than_is_handled(tmp_path: Path) -> None:
    """Until results are handled, at most two are waiting."""
    for number in range(20):
        write_unhealthy_run(tmp_path / "runs" / f"run-{number}x" / "progress.csv")
    recorder = PollRecorder()
    follower = Follower([tmp_path / "runs"])
    reader = ReaderThread(follower, recorder)
    poll = follower.poll
    follower.poll = lambda *_: poll(1, 0.0)  # type: ignore[method-assign]
    reader.start()
    assert recorder.arrived.wait(10)
    reader._thread.join(0.5)
    assert len(recorder.results) <= 2
    for _ in range(100):
        reader.poll_handled()
    reader.stop()


def test_an_error_of_the_reader_does_not_end_the_program(tmp_path: Path) -> None:
    """An error of the reader is kept for the screen."""
    recorder = PollRecorder()
    follower = Follower([tmp_path])

    def broken(*_: object) -> PollResult:
        raise OSError("gone")

    follower.poll = broken  # type: ignore[method-assign, assignment]
    reader = ReaderThread(follower, recorder)
    reader.start()
    reader._thread.join(10)
    assert reader.error.startswith("reading the logs failed: OSError('gone')")
    assert recorder.results
    reader.stop()


def test_a_replay_is_read_to_its_unfinished_end_and_aupdate_when_asked(tmp_path: Path) -> None:
    """Once everything is read the follower is asked for unfinished ends; then the thread rests."""
    write_unhealthy_run(tmp_path / "runs" / "one" / "progress.csv")
    recorder = PollRecorder()
    follower = Follower([tmp_path / "runs"])
    ends: queue.SimpleQueue[PollResult] = queue.SimpleQueue()
    finish = follower.finish

    def finished() -> PollResult:
        last = finish()
        ends.put(last)
        return last

    follower.finish = finished  # type: ignore[method-assign]
    reader = ReaderThread(follower, recorder, finish_at_end=True)
    reader.start()
    ends.get(timeout=10)
    assert recorder.arrived.is_set()
    for _ in range(4):
        reader.poll_handled()
    reader.reread([update.source.key for result in recorder.results for update in result.updates])
    last = ends.get(timeout=10)
    reader.stop()
    assert not reader._thread.is_alive()
    assert recorder.results[-1] is last
    assert [update.reset for result in recorder.results for update in result.updates] == [
        False,
        True,
    ]
