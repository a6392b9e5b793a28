"""`python train.py | ppo-top -`: whatever becomes of the monitor, the training goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.installed_program import until
from tests.support.program_in_terminal import ProgramTerminal

TRAINER_CODE = """
import os, sys, time
out, go = sys.argv[1:3]
def record(step):
    return "{'loss': 0.1, 'reward': %.2f, 'kl': 0.01, 'entropy': 1.2}\\n" % (step * 0.1)
for step in range(40):
    print(record(step), end="", flush=True)
while not os.path.exists(go):  # until the test has done its worst
    print(record(step), end="", flush=True)
    time.sleep(0.02)
slowest = 0.0
for _ in range(1000):
    begin = time.monotonic()
    print("x" * 9999, flush=True)
    slowest = max(slowest, time.monotonic() - begin)
with open(out, "w") as file:
    file.write(str(slowest))
"""
"""Forty updates, some more until it may go on, then ten megabytes; notes its slowest line."""


class Piped:
    """A training and the monitor that reads its pipe, in a terminal."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.slowest, self.go_on = folder / "slowest", folder / "go"
        reading, writing = os.pipe()
        command = [sys.executable, "-c", TRAINER_CODE, str(self.slowest), str(self.go_on)]
        self.training = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE)
        self.screen = ProgramTerminal(folder / "home", "-", *options, stdin=reading)
        for handle in (reading, writing):
            os.close(handle)
        assert self.screen.wait_for_text("entropy"), self.screen.output[-2000:]

    def press(self, key: str, then: str = "") -> None:
        """Press a key, and wait for words on the screen."""
        os.write(self.screen.terminal, key.encode())
        assert not then or self.screen.wait_for_text(then), self.screen.output[-2000:]

    def close(self) -> None:
        """Kill both."""
        self.training.kill()
        self.training.communicate()
        self.screen.close()

    def training_ends(self) -> None:
        """It ends by itself with exit code 0, and never waited for a second."""
        self.go_on.touch()
        assert self.training.wait(30) == 0
        assert float(self.slowest.read_text()) < 1.0


@pytest.fixture(name="piped")
def piped_training(tmp_path: Path) -> Iterator[Piped]:
    """A training whose monitor shows its first updates."""
    piped = Piped(tmp_path)
    yield piped
    piped.close()


@pytest.mark.parametrize("answer", ["d", "q", "\r", "\x03"])
def test_quitting_detaches(piped: Piped, answer: str) -> None:
    """The monitor asks, and says what happens; by default the training runs on."""
    piped.press("q", "Training runs")
    piped.press(answer)
    assert piped.screen.wait_for_exit() == 0
    assert b"The training runs on; its output is discarded." in piped.screen.output
    piped.training_ends()


def test_the_question_can_be_taken_back(piped: Piped) -> None:
    """Esc, and no other key, goes back to the screen."""
    piped.press("q", "Training runs")
    piped.press("x")
    piped.press("\x1b")
    drawn = len(piped.screen.output)
    assert until(lambda: b"quit" in piped.screen.read_output()[drawn:])  # the keys are back
    piped.press("?")
    assert until(lambda: b"Suspend" in piped.screen.read_output()[drawn:])
    assert piped.screen.process.poll() is None


def test_the_training_is_stopped_if_asked_for(piped: Piped) -> None:
    """It ends at its next line, as behind any pipe that nobody reads."""
    piped.press("q", "Training runs")
    piped.press("s")
    assert piped.screen.wait_for_exit() == 0
    assert b"BrokenPipeError" in piped.training.communicate(timeout=30)[1]
    assert b"The training runs on" not in piped.screen.output


def test_what_is_written_afterwards_is_kept_if_asked_for(tmp_path: Path) -> None:
    """`--tee` has all of it, from the first line on."""
    piped = Piped(tmp_path, "--tee", str(tmp_path / "run.log"))
    piped.press("q", "Training runs")
    piped.press("d")
    assert piped.screen.wait_for_exit() == 0
    assert b"its output is written to" in piped.screen.output
    piped.training_ends()
    assert until(lambda: (tmp_path / "run.log").stat().st_size > 10_000_000)
    lines = (tmp_path / "run.log").read_text().splitlines()
    assert (lines[0][:14], len(lines[-1])) == ("{'loss': 0.1, ", 9999)
    piped.close()


def kill(screen: ProgramTerminal) -> None:
    """A crash of ours."""
    screen.process.kill()


def suspend(screen: ProgramTerminal) -> None:
    """Ctrl-Z."""
    os.write(screen.terminal, b"\x1a")
    assert until(lambda: process_state(screen.process.pid) == "T")


def process_state(number: int) -> str:
    """R, S, T (stopped), ..."""
    return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]


def close_terminal(screen: ProgramTerminal) -> None:
    """The window is closed, or the connection lost."""
    for handle in (screen.terminal, screen.program_side):
        os.close(handle)
    screen.terminal = screen.program_side = -1
    screen.process.wait(30)


def stall(screen: ProgramTerminal) -> None:
    """Nobody reads what is drawn."""
    os.write(screen.terminal, b"??" * 10)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="states are read from /proc")
@pytest.mark.parametrize("happens", [kill, suspend, close_terminal, stall])
def test_the_training_outlives(piped: Piped, happens: Callable[[ProgramTerminal], None]) -> None:
    """It ends by itself, whatever has become of the monitor."""
    happens(piped.screen)
    piped.training_ends()


def test_the_monitor_ends_with_its_terminal(tmp_path: Path) -> None:
    """In the middle of drawing, and with a question open: nothing is left behind."""
    piped = Piped(tmp_path)
    piped.press("q", "Training runs")
    os.close(piped.screen.terminal)
    os.close(piped.screen.program_side)
    piped.screen.terminal = piped.screen.program_side = -1
    assert piped.screen.process.wait(10) != 0
    piped.training_ends()
    piped.close()


def test_a_training_that_has_ended_is_not_asked_about(piped: Piped) -> None:
    """`q` quits at once."""
    piped.training_ends()
    assert piped.screen.wait_for_text("closed")
    piped.press("q")
    assert piped.screen.wait_for_exit() == 0


def test_a_suspended_monitor_has_lost_nothing(piped: Piped) -> None:
    """After `fg` it reads what was written meanwhile, to the end."""
    suspend(piped.screen)
    piped.training_ends()
    piped.screen.process.send_signal(signal.SIGCONT)
    assert piped.screen.wait_for_text("closed"), piped.screen.output[-2000:]


def test_what_is_pasted_into_the_terminal_is_read_to_its_end(tmp_path: Path) -> None:
    """Then the keys are the program's: the paste never takes any of them."""
    lines = "".join(f"Episode {number} reward {number}.5 loss 0.25\n" for number in range(1, 7))
    screen = ProgramTerminal(tmp_path / "home", "-")
    try:
        assert screen.wait_for_text("paste a log here")
        os.write(screen.terminal, lines.encode() + b"\x04")
        assert screen.wait_for_text("total loss")
        os.write(screen.terminal, b"q")
        assert screen.wait_for_exit() == 0
    finally:
        screen.close()
