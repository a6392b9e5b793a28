"""However a session ends, the terminal is restored and no process is left."""

from __future__ import annotations

import os
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_program import Tool, copy_of, until
from tests.support.program_in_terminal import (
    ENTER_SCREEN_BYTES,
    HIDE_CURSOR_BYTES,
    LEAVE_SCREEN_BYTES,
    SHOW_CURSOR_BYTES,
    ProgramTerminal,
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory with an unhealthy run."""
    copy_of("torch_cartpole_lr", tmp_path / "runs/sick")
    return tmp_path / "runs"


@pytest.fixture
def screen(tmp_path: Path, runs: Path) -> Iterator[ProgramTerminal]:
    """The live monitor on that directory, drawn for the first time."""
    screen = ProgramTerminal(tmp_path / "home", runs)
    assert screen.wait_for_text("sick"), screen.output[-2000:]
    yield screen
    screen.close()


def assert_restored(screen: ProgramTerminal) -> None:
    """The screen was left, the cursor shows, and the terminal's settings are the old ones."""
    assert screen.output.rindex(LEAVE_SCREEN_BYTES) > screen.output.rindex(ENTER_SCREEN_BYTES)
    assert screen.output.rindex(SHOW_CURSOR_BYTES) > screen.output.rindex(HIDE_CURSOR_BYTES)
    assert termios.tcgetattr(screen.program_side)[:4] == screen.initial_attributes[:4]
    assert b"Traceback" not in screen.output


def test_quit(screen: ProgramTerminal) -> None:
    """`q` ends it with success."""
    os.write(screen.terminal, b"q")
    assert screen.wait_for_exit() == 0
    assert_restored(screen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(
    screen: ProgramTerminal, number: signal.Signals
) -> None:
    """Killed by a job system, a closed session, an interrupt."""
    screen.process.send_signal(number)
    assert screen.wait_for_exit() in (0, 128 + number, -number)
    assert_restored(screen)


def test_a_lost_terminal_ends_the_program(screen: ProgramTerminal) -> None:
    """After a dropped connection no process is left, least of all a busy one."""
    os.close(screen.program_side)
    os.close(screen.terminal)
    screen.program_side = screen.terminal = -1
    assert until(lambda: screen.process.poll() is not None, 10)


def test_stopped_and_continued(screen: ProgramTerminal, runs: Path) -> None:
    """From outside: it goes on drawing, new runs included."""
    screen.process.send_signal(signal.SIGSTOP)
    copy_of("torch_cartpole_clip", runs / "meanwhile")
    time.sleep(0.3)
    screen.process.send_signal(signal.SIGCONT)
    assert screen.wait_for_text("meanwhile"), screen.output[-2000:]
    os.write(screen.terminal, b"q")
    assert screen.wait_for_exit() == 0
    assert_restored(screen)


def test_suspended_and_resumed(screen: ProgramTerminal) -> None:
    """Ctrl+Z gives the terminal back, `fg` redraws the screen, and keys work as before."""
    screen.process.send_signal(signal.SIGTSTP)
    stat = Path(f"/proc/{screen.process.pid}/stat")

    def is_stopped() -> bool:
        screen.read_output()  # as a terminal does: a full one would hold the program up
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "T"

    assert until(is_stopped)
    assert until(lambda: LEAVE_SCREEN_BYTES in screen.read_output())
    assert termios.tcgetattr(screen.program_side)[:4] == screen.initial_attributes[:4]
    drawn = len(screen.output)
    screen.process.send_signal(signal.SIGCONT)
    assert until(lambda: b"sick" in screen.read_output()[drawn:]), screen.output[drawn:]
    os.write(screen.terminal, b"q")
    assert screen.wait_for_exit() == 0
    assert_restored(screen)


def test_an_idle_screen_costs_nothing(screen: ProgramTerminal) -> None:
    """Almost no bytes and almost no CPU time, once it has started (later on a busy machine)."""
    stat = Path(f"/proc/{screen.process.pid}/stat")

    def seconds_used() -> float:
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def share_of_core(seconds: float) -> float:
        before, end = seconds_used(), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            screen.read_output(min(left, 0.5))
        return (seconds_used() - before) / seconds

    assert until(lambda: share_of_core(1.0) < 0.05)
    drawn = len(screen.output)
    assert share_of_core(3.0) < 0.05
    assert len(screen.output) - drawn < 4000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_check_follow_ends_at_once(tmp_path: Path, runs: Path, number: signal.Signals) -> None:
    """Each signal ends it without a traceback; after SIGINT the exit code is the verdict's."""
    tool = Tool(tmp_path / "home", "check", "--follow", runs)
    assert tool.says("sick: opened crit"), tool.errors
    code = tool.stop(number, 5)
    assert code == 1 if number == signal.SIGINT else code in (-number, 128 + number)
    assert not any("Traceback" in line for line in tool.errors)


def test_a_pipe_that_says_nothing_yet(tmp_path: Path) -> None:
    """The likeliest reason is told: the trainer's output is held back in blocks."""
    reading, writing = os.pipe()
    screen = ProgramTerminal(tmp_path / "home", "-", stdin=reading)
    os.close(reading)
    assert screen.wait_for_text("python -u train.py 2>&1 | ppo-top -"), screen.output[-2000:]
    os.close(writing)
    screen.close()


def test_a_pipe_whose_writer_is_killed(tmp_path: Path, runs: Path) -> None:
    """`python train.py | ppo-top -`: the trainer is killed, its data stays on the screen."""
    console = runs / "sick/stdout.log"
    reading, writing = os.pipe()
    screen = ProgramTerminal(tmp_path / "home", "-", stdin=reading)
    os.close(reading)
    os.write(writing, console.read_bytes()[:3000])
    assert screen.wait_for_text("KL"), screen.output[-2000:]
    os.close(writing)
    os.write(screen.terminal, b"q")  # asks if it comes before the end of the pipe
    process = screen.process
    assert until(lambda: process.poll() is not None or b"Training runs" in screen.read_output())
    if process.poll() is None:
        os.write(screen.terminal, b"q")
    assert screen.wait_for_exit() == 0, screen.output[-1000:]
    assert_restored(screen)
    screen.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_loading(tmp_path: Path, runs: Path, number: signal.Signals) -> None:
    """Only the first line is drawn, the rest is still loading: the end is as clean."""
    screen = ProgramTerminal(tmp_path / "home", runs)
    assert until(lambda: b"Looking" in screen.read_output(0.0))
    screen.process.send_signal(number)
    assert screen.wait_for_exit() in (128 + number, -number)
    assert_restored(screen)
    screen.close()


def test_an_error_while_loading(tmp_path: Path, runs: Path) -> None:
    """It is printed on the terminal that the user sees."""
    (tmp_path / "broken/textual").mkdir(parents=True)
    (tmp_path / "broken/textual/__init__.py").write_text("raise RuntimeError('a broken install')")
    path = ("env", f"PYTHONPATH={tmp_path / 'broken'}")
    screen = ProgramTerminal(tmp_path / "home", runs, command_prefix=path)
    assert screen.wait_for_exit(30) != 0
    assert screen.output.rindex(LEAVE_SCREEN_BYTES) < screen.output.index(b"a broken install")
    assert termios.tcgetattr(screen.program_side)[:4] == screen.initial_attributes[:4]
    screen.close()
