"""The end of a session, however it comes: the terminal is as it was, and nothing runs on."""

from __future__ import annotations

import os
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_program import Tool, copy_of, until
from tests.support.program_in_terminal import ENTERED, HIDDEN, LEFT, SHOWN, Screen


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with a sick run."""
    copy_of("torch_cartpole_lr", tmp_path / "runs/sick")
    return tmp_path / "runs"


@pytest.fixture
def screen(tmp_path: Path, runs: Path) -> Iterator[Screen]:
    """The live monitor on that directory, drawn for the first time."""
    screen = Screen(tmp_path / "home", runs)
    assert screen.shows("sick"), screen.drawn[-2000:]
    yield screen
    screen.close()


def assert_restored(screen: Screen) -> None:
    """The screen was left, the cursor shows, and the terminal's settings are the old ones."""
    assert screen.drawn.rindex(LEFT) > screen.drawn.rindex(ENTERED)
    assert screen.drawn.rindex(SHOWN) > screen.drawn.rindex(HIDDEN)
    assert termios.tcgetattr(screen.inner)[:4] == screen.before[:4]
    assert b"Traceback" not in screen.drawn


def test_quit(screen: Screen) -> None:
    """`q` ends it with success."""
    os.write(screen.terminal, b"q")
    assert screen.ends() == 0
    assert_restored(screen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(screen: Screen, number: signal.Signals) -> None:
    """Killed by a job system, a closed session, an interrupt."""
    screen.process.send_signal(number)
    assert screen.ends() in (0, 128 + number, -number)
    assert_restored(screen)


def test_a_terminal_that_is_gone_ends_it(screen: Screen) -> None:
    """A dropped connection: the process does not stay behind, least of all busy."""
    os.close(screen.inner)
    os.close(screen.terminal)
    screen.inner = screen.terminal = -1
    assert until(lambda: screen.process.poll() is not None, 10)


def test_suspended_and_resumed(screen: Screen, runs: Path) -> None:
    """Stopped and continued from outside: it draws on, new runs included."""
    screen.process.send_signal(signal.SIGSTOP)
    copy_of("torch_cartpole_clip", runs / "meanwhile")
    time.sleep(0.3)
    screen.process.send_signal(signal.SIGCONT)
    assert screen.shows("meanwhile"), screen.drawn[-2000:]
    os.write(screen.terminal, b"q")
    assert screen.ends() == 0
    assert_restored(screen)


def test_put_into_the_background_and_back(screen: Screen) -> None:
    """Ctrl+Z gives the terminal back, `fg` draws the screen anew, and keys work as before."""
    screen.process.send_signal(signal.SIGTSTP)
    stat = Path(f"/proc/{screen.process.pid}/stat")
    assert until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T")
    assert until(lambda: LEFT in screen.draw())
    assert termios.tcgetattr(screen.inner)[:4] == screen.before[:4]
    drawn = len(screen.drawn)
    screen.process.send_signal(signal.SIGCONT)
    assert until(lambda: b"sick" in screen.draw()[drawn:]), screen.drawn[drawn:]
    os.write(screen.terminal, b"q")
    assert screen.ends() == 0
    assert_restored(screen)


def test_an_idle_screen_costs_nothing(screen: Screen) -> None:
    """Nothing new: next to no bytes and next to no processor time."""
    screen.draw(1.0)
    stat = Path(f"/proc/{screen.process.pid}/stat")

    def ticks() -> int:
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    drawn, used = len(screen.drawn), ticks()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        screen.draw(0.5)
    share = (ticks() - used) / os.sysconf("SC_CLK_TCK") / 3
    assert share < 0.05
    assert len(screen.drawn) - drawn < 4000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_check_follow_ends_at_once(tmp_path: Path, runs: Path, number: signal.Signals) -> None:
    """The headless watcher ends by any of these signals without a traceback; interrupted it tells
    its verdict.
    """
    tool = Tool(tmp_path / "home", "check", "--follow", runs)
    assert tool.says("sick: opened crit"), tool.errors
    code = tool.stop(number, 5)
    assert code == 1 if number == signal.SIGINT else code in (-number, 128 + number)
    assert not any("Traceback" in line for line in tool.errors)


def test_a_pipe_whose_writer_is_killed(tmp_path: Path, runs: Path) -> None:
    """`python train.py | ppo-top -`: the trainer dies, what it said stays on the screen."""
    console = runs / "sick/stdout.log"
    reading, writing = os.pipe()
    screen = Screen(tmp_path / "home", "-", stdin=reading)
    os.close(reading)
    os.write(writing, console.read_bytes()[:3000])
    assert screen.shows("KL"), screen.drawn[-2000:]
    os.close(writing)
    os.write(screen.terminal, b"q")
    assert screen.ends() == 0, screen.drawn[-1000:]
    assert_restored(screen)
    screen.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_before_anything_is_loaded(
    tmp_path: Path, runs: Path, number: signal.Signals
) -> None:
    """The first word stands on the screen, the rest is being loaded: the end is as clean."""
    screen = Screen(tmp_path / "home", runs)
    assert until(lambda: b"Looking" in screen.draw(0.0))
    screen.process.send_signal(number)
    assert screen.ends() in (128 + number, -number)
    assert_restored(screen)
    screen.close()


def test_a_fault_before_anything_is_drawn(tmp_path: Path, runs: Path) -> None:
    """An error while the screen is loaded is told on the terminal that the user sees."""
    (tmp_path / "broken/textual").mkdir(parents=True)
    (tmp_path / "broken/textual/__init__.py").write_text("raise RuntimeError('a broken install')")
    path = ("env", f"PYTHONPATH={tmp_path / 'broken'}")
    screen = Screen(tmp_path / "home", runs, before=path)
    assert screen.ends(30) != 0
    assert screen.drawn.rindex(LEFT) < screen.drawn.index(b"a broken install")
    assert termios.tcgetattr(screen.inner)[:4] == screen.before[:4]
    screen.close()
