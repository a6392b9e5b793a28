"""Every command where `os.pipe2`, `os.eventfd`, `/proc` and inotify are missing, as on macOS."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.installed_program import DEMO, PROGRAM, copy_of, environment
from tests.support.terminal import run_until_shown
from tests.support.tmux import Terminal

STARTUP = Path(__file__).parents[1] / "support" / "not_linux"
SICK = DEMO / "torch_cartpole_lr"


def elsewhere(home: Path) -> dict[str, str]:
    """The environment in which Python starts as on such a system."""
    root = STARTUP.parents[2]
    path = os.pathsep.join((str(STARTUP), str(root)))
    return {**environment(home), "PYTHONPATH": path, "TERM": "xterm-256color"}


def test_the_stand_in_takes_away_what_it_says(tmp_path: Path) -> None:
    """Else the tests below would show nothing."""
    code = (
        "import os; assert not hasattr(os, 'pipe2') and not hasattr(os, 'eventfd')\n"
        "assert not os.path.exists('/proc/self')\n"
        "try: open('/proc/self/mountinfo')\n"
        "except FileNotFoundError: pass\n"
        "else: raise SystemExit('there is a /proc')\n"
        "try: import watchdog.observers.inotify\n"
        "except ImportError: pass\n"
        "else: raise SystemExit('there is inotify')\n"
    )
    subprocess.run([sys.executable, "-c", code], env=elsewhere(tmp_path), check=True)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["check", str(SICK)], 1, "torch_cartpole_lr"),
        (["check", "--json", str(SICK)], 1, '"schema": 1'),
        (["status", str(SICK)], 0, "torch_cartpole_lr"),
        (["export", "--format", "csv", str(SICK)], 0, "run,source,tag,concept,step,time,value"),
        (["explain", "approx_kl"], 0, "KL"),
    ],
)
def test_headless_commands_work(arguments: list[str], code: int, word: str, tmp_path: Path) -> None:
    """Output and exit code as on Linux, and no traceback."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        env=elsewhere(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert word in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_screen_reads_standard_input(
    terminal: Callable[[int, int], Terminal], tmp_path: Path
) -> None:
    """A thread empties the pipe, woken without `eventfd`; keys come from the terminal."""
    screen = terminal(100, 30)
    path = elsewhere(tmp_path)["PYTHONPATH"]
    program = shlex.join(["env", f"PYTHONPATH={path}", *PROGRAM, "-"])
    screen.type(f"clear; cat {shlex.quote(str(SICK / 'stdout.log'))} | {program}", "Enter")
    screen.wait_for(lambda text: "standard input" in text and "\N{BALLOT X}" in text)
    screen.type("q")
    screen.wait_for(lambda text: "ready>" in text and "\N{BALLOT X}" not in text)


@pytest.mark.parametrize(
    "arguments",
    [[str(SICK)], ["replay", str(SICK), "--from", "100%"], ["demo"]],
    ids=["monitor", "replay", "demo"],
)
def test_the_screen_shows_a_finding(arguments: list[str], tmp_path: Path) -> None:
    """The monitor sweeps where nothing wakes it."""
    code, screen = run_until_shown(
        [*PROGRAM, *arguments], "\N{BALLOT X}", 60.0, elsewhere(tmp_path)
    )
    assert code == 0, screen


def test_a_silent_run_is_stalled_where_writers_cannot_be_seen(tmp_path: Path) -> None:
    """The report says that it cannot tell whether a process still writes."""
    run = copy_of("sb3_cartpole", tmp_path / "runs" / "silent")
    for name in ("monitor.csv", "evaluations.npz"):
        (run / name).unlink(missing_ok=True)
    (run / "progress.csv").write_text(
        "".join((run / "progress.csv").read_text().splitlines(keepends=True)[:12])
    )
    silent = time.time() - 3600.0
    for path in run.iterdir():
        if path.name != "progress.csv":
            path.unlink()
        else:
            os.utime(path, (silent, silent))
    done = subprocess.run(
        [*PROGRAM, "check", str(run)],
        env=elsewhere(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "stalled" in done.stdout
    assert "cannot tell whether a process is still writing" in " ".join(done.stdout.split())
