"""The main job: a process writes real recorded bytes, and the screen turns red."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.views.run_view import RunView
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.running_app import app_on, drawn_now, until_run

SICK = DEMO_LOGS_FOLDER / "torch_cartpole_lr"
WRITER = """
import os, sys, time
source, target = sys.argv[1:]
with open(source, "rb") as log:
    data = log.read()
os.makedirs(os.path.dirname(target), exist_ok=True)
with open(target, "ab", buffering=0) as out:
    for start in range(0, len(data), 97):
        out.write(data[start : start + 97])
        time.sleep(0.004)
"""


@pytest.fixture
def write() -> Iterator[Callable[[Path, Path], subprocess.Popen[bytes]]]:
    """Start a process that appends a recorded log to a file, 97 bytes at a time."""
    started: list[subprocess.Popen[bytes]] = []

    def start(source: Path, target: Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(source), str(target)])
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def is_red(view: RunView) -> bool:
    """Whether the verdict is critical and a line of the checklist says so."""
    return view.verdict == "crit" and any(row.status.value == "crit" for row in view.checklist)


@pytest.mark.parametrize("file", ["stdout.log", "events"], ids=["console", "tensorboard"])
async def test_the_checklist_turns_red_while_a_process_writes(
    file: str, tmp_path: Path, write: Callable[[Path, Path], subprocess.Popen[bytes]]
) -> None:
    """A run with a far too high learning rate, in a directory that is not there at first."""
    source = next(SICK.glob("events*")) if file == "events" else SICK / file
    runs = tmp_path / "runs"
    app = app_on(Follower([runs]), tmp_path)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        assert "0 runs" in drawn_now(app)
        write(source, runs / "sick" / source.name)
        await until_run(pilot, app, is_red)
        view, text = app.ui_state.view(), drawn_now(app)  # at one moment: the writer goes on
    assert view is not None
    assert "sick" in text
    assert any(f"✗ {opened.finding.title}" in text for opened in view.open_findings)
    assert "try" in text


async def test_a_pipe_turns_red(tmp_path: Path) -> None:
    """`python train.py | ppo-top -`: the console comes through standard input."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as pipe:
        app = app_on(Follower([], stdin=pipe), tmp_path)
        async with app.run_test(size=(100, 30)) as pilot:
            process = subprocess.Popen(["cat", str(SICK / "stdout.log")], stdout=write_end)
            os.close(write_end)
            await until_run(pilot, app, is_red)
            await pilot.pause(0.2)
            assert "✗" in drawn_now(app)
        assert process.wait() == 0


async def test_a_healthy_run_stays_green(
    tmp_path: Path, write: Callable[[Path, Path], subprocess.Popen[bytes]]
) -> None:
    """The same chain on a healthy run never shows a critical verdict."""
    seen: set[str] = set()
    app = app_on(Follower([tmp_path]), tmp_path)
    source = DEMO_LOGS_FOLDER / "torch_cartpole" / "stdout.log"

    def ended(view: RunView) -> bool:
        seen.add(view.verdict)
        return view.state.value == "finished"

    async with app.run_test(size=(80, 24)) as pilot:
        write(source, tmp_path / "ok" / "stdout.log")
        await until_run(pilot, app, ended)
    assert not seen & {"warn", "crit"}
