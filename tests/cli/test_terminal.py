"""In a real terminal: tmux shows the verdict at several sizes, and quitting leaves no trace."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.screens import write_unhealthy_run
from tests.support.tmux import Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def start(terminal: Terminal, *arguments: str) -> None:
    """Start the program in the terminal."""
    state = f"XDG_STATE_HOME={shlex.quote(os.devnull + '-none')}"
    words = [sys.executable, "-m", "ppo_top", *arguments]
    terminal.type(f"clear; {state} {shlex.join(words)}", "Enter")


@pytest.mark.parametrize(("width", "height"), [(140, 40), (80, 24), (40, 15)])
def test_a_growing_log_turns_red_and_quitting_restores_the_terminal(
    width: int, height: int, tmp_path: Path, terminal: Callable[[int, int], Terminal]
) -> None:
    """The verdict appears while the file grows; `q` leaves the screen as it was."""
    log = tmp_path / "runs" / "sick" / "stdout.log"
    log.parent.mkdir(parents=True)
    lines = (
        (DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log")
        .read_bytes()
        .splitlines(keepends=True)
    )
    log.write_bytes(b"".join(lines[:4]))
    screen = terminal(width, height)
    start(screen, str(tmp_path / "runs"))
    screen.wait_for(lambda text: "reward" in text)
    with open(log, "ab") as file:
        file.write(b"".join(lines[4:]))
    text = screen.wait_for(lambda text: "✗" in text and "KL" in text)
    assert all(len(line) <= width for line in text.splitlines())
    screen.type("q")
    after = screen.wait_for(lambda text: text.rstrip().endswith("ready>"))
    assert "✗" not in after


def test_the_first_page_stays_until_textual_takes_over(
    terminal: Callable[[int, int], Terminal],
) -> None:
    """From the moment at which the verdict is seen, it stands in every picture of the terminal."""
    screen, seen = terminal(100, 30), list[str]()
    start(screen, str(DEMO_LOGS_FOLDER / "torch_cartpole_lr"))
    screen.wait_for(lambda text: "✗" in text)

    def textual_runs(text: str) -> bool:
        seen.append(text)
        title = screen.run("display-message", "-p", "-t", "test", "#{pane_title}")
        return title.startswith("ppo-top")

    screen.wait_for(textual_runs)
    assert all("✗" in text for text in seen)


@pytest.mark.parametrize(
    ("variable", "option", "warned", "watched"),
    [("NO_COLOR=1", "", "▲", "△"), ("TERM=vt100", "", "!", "w"), ("A=1", "--ascii", "!", "w")],
)
def test_without_colours_a_warning_and_what_is_watched_have_marks_of_their_own(
    variable: str,
    option: str,
    warned: str,
    watched: str,
    tmp_path: Path,
    terminal: Callable[[int, int], Terminal],
) -> None:
    """In the list there is nothing beside the mark that tells them apart."""
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole_entropy", tmp_path / "runs" / "warned")
    log = tmp_path / "runs" / "watched" / "progress.csv"
    write_unhealthy_run(log, updates=20, broken_from=99)
    *rows, last = log.read_text().splitlines()
    log.write_text("\n".join([*rows, last.replace(",0.008,", ",0.03,")]) + "\n")
    screen = terminal(140, 30)
    screen.type(f"export {variable}", "Enter")
    start(screen, str(tmp_path / "runs"), *filter(None, [option]))
    screen.wait_for(lambda text: f" {warned} warned " in text and f" {watched} watched " in text)


def test_a_terminated_program_restores_the_terminal(
    terminal: Callable[[int, int], Terminal],
) -> None:
    """After `kill -TERM` the shell is back, with echo and without the alternate screen."""
    screen = terminal(100, 30)
    start(screen, str(DEMO_LOGS_FOLDER))
    screen.wait_for(lambda text: "✗" in text)
    os.kill(screen.child(), signal.SIGTERM)
    screen.wait_for(lambda text: text.rstrip().endswith("ready>"))
    screen.type("echo still-$((40+2))", "Enter")
    screen.wait_for(lambda text: "still-42" in text and "echo still" in text)


def test_keys_come_from_the_terminal_when_the_log_comes_through_a_pipe(
    terminal: Callable[[int, int], Terminal],
) -> None:
    """`cat log | ppo-top -` shows the run and obeys `q`."""
    screen = terminal(100, 30)
    program = shlex.join([sys.executable, "-m", "ppo_top", "-"])
    log = shlex.quote(str(DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log"))
    screen.type(f"clear; cat {log} | {program}", "Enter")
    screen.wait_for(lambda text: "✗" in text)
    screen.type("q")
    screen.wait_for(lambda text: text.rstrip().endswith("ready>"))


def test_ascii_means_ascii_in_the_command_palette_too(
    terminal: Callable[[int, int], Terminal],
) -> None:
    """Textual draws it, with lines, arrows and a magnifying glass of its own."""
    screen = terminal(100, 30)
    start(screen, str(DEMO_LOGS_FOLDER / "torch_cartpole_lr"), "--ascii")
    screen.wait_for(lambda text: "approx KL" in text)
    screen.type("C-p")
    text = screen.wait_for(
        lambda text: "key <-" in text or "Move down" in text or "key Tab" in text
    )
    assert text.isascii()
