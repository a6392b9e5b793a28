"""More than anyone asked for: floods, giant files, endless lines, a tag for every sample."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from itertools import count, repeat
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ppo_top.files.follower import Follower
from ppo_top.files.pipe_drain import PipeDrain
from ppo_top.runs.session import Session
from ppo_top.runs.sources.source import MAX_CONSOLE_LINES
from ppo_top.settings import Settings
from tests.support.installed_program import Tool, copy_of, environment, until
from tests.support.key_delays import key_delay
from tests.support.running_app import app_on, drawn_now, until_run

CONSOLE_LINE = (
    "Iteration {0}/900000 | Episodes: 98 | Mean Reward: 20.8 | KL: 0.0047 | clip%: 6.2%\n"
)
MEBIBYTE = 1 << 20


def read_all(follower: Follower) -> int:
    """Read to the end; return the number of points."""
    points = 0
    while True:
        result = follower.poll()
        points += sum(len(each) for update in result.updates for each in update.batch.points)
        if not result.more:
            return points


def polls_of_a_flood(path: Path, clock: Iterator[float], **bounds: Any) -> list[tuple[int, float]]:
    """The points of each poll that 30,000 lines at once need, and how long it took by the clock."""
    (path / "train.log").write_text("".join(map(CONSOLE_LINE.format, range(30_000))))
    follower = Follower([path], clock=clock.__next__)
    polls, more = [], True
    while more:
        start = next(clock)
        result = follower.poll(**bounds)
        count = sum(len(each) for update in result.updates for each in update.batch.points)
        polls.append((count, next(clock) - start))
        more = result.more
    follower.close()
    return polls


def test_a_poll_of_a_flood_ends_when_its_time_is_up(tmp_path: Path) -> None:
    """Whoever waits for the screen waits for one part, however much there is to read."""
    polls = polls_of_a_flood(tmp_path, count(step=0.01), budget=0.05)
    assert len(polls) > 2
    assert max(seconds for _, seconds in polls) < 0.2
    assert sum(points for points, _ in polls) >= 3 * 30_000


def test_a_poll_of_a_flood_ends_when_it_has_read_enough(tmp_path: Path) -> None:
    """However fast it is read: the limit, and what the largest chunk holds beyond it."""
    polls = polls_of_a_flood(tmp_path, repeat(0.0), limit=20_000)
    total = sum(points for points, _ in polls)
    in_chunk = total * MEBIBYTE / (tmp_path / "train.log").stat().st_size
    assert total >= 3 * 30_000
    assert max(points for points, _ in polls) < 20_000 + in_chunk < total


FLOOD_SCRIPT = """
import sys, time
out, seconds = open(sys.argv[1], "ab", buffering=0), int(sys.argv[2])
prose = b"(Worker pid=4242) gathered batch in 0.32 s, 4096 tokens, queue 17\\n" * 9
begin = time.monotonic()
for piece in range(seconds * 100):  # 1,000 lines each
    lines = (b"Iteration %d/900000 | Mean Reward: 20.8 | KL: 0.0047\\n" % (piece * 100 + n)
             for n in range(100))
    out.write(prose.join(lines) + prose)
    time.sleep(max(0.0, begin + piece / 100 - time.monotonic()))
print(time.monotonic() - begin)
"""
"""A hundred thousand lines a second: nine of prose, one with numbers."""


def flood(target: str, seconds: int, **streams: Any) -> subprocess.Popen[bytes]:
    """Start the writer."""
    return subprocess.Popen([sys.executable, "-c", FLOOD_SCRIPT, target, str(seconds)], **streams)


def test_a_hundred_thousand_lines_per_second_through_a_pipe() -> None:
    """The writer is not slowed down, every point arrives, and no lines pile up in memory."""
    reading, writing = os.pipe()
    writer = flood(f"/dev/fd/{writing}", 2, pass_fds=[writing], stdout=subprocess.PIPE)
    os.close(writing)
    with open(PipeDrain(reading).handle, "rb") as stream:
        follower, session = Follower([], stdin=stream), Session(Settings())
        begin = time.monotonic()
        while not at_end(follower, session):
            continue
        took, writer_took = time.monotonic() - begin, writer.communicate()[0]
    (source,) = next(iter(session.runs.values())).sources.values()
    steps = source.series["Mean Reward"].steps
    assert list(steps) == list(range(20_000))
    assert len(source.lines) <= MAX_CONSOLE_LINES
    assert float(writer_took) < max(4.0, 0.8 * took)  # it did not wait for the reader
    follower.close()


def at_end(follower: Follower, session: Session) -> bool:
    """Poll a pipe once; True if it has ended."""
    result = follower.poll()
    session.apply(result)
    session.judge(0.02)
    if not result.more:
        follower.wait(0.5)
    return follower._stdin is not None and not follower._stdin.has_changed()


async def test_the_screen_responds_in_a_flood(tmp_path: Path) -> None:
    """100,000 lines per second: keys are answered at once, and no point is lost."""
    log = tmp_path / "runs/ppo/train.log"
    log.parent.mkdir(parents=True)
    app = app_on(Follower([tmp_path / "runs"]), tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        writer = flood(str(log), 2, stdout=subprocess.DEVNULL)
        await until_run(pilot, app, lambda view: view.progress.step is not None)
        waits = []
        while writer.poll() is None:
            waits.append(await key_delay(app))
        await pilot.press("6")
        assert "Sources in" in drawn_now(app)
        await until_run(pilot, app, lambda view: view.progress.step == 19_999, 120)
        (run,) = app.ui_state.session.runs.values()
        assert run.points >= 2 * 20_000
    assert median(waits) < 0.1
    assert max(waits) < 1.5  # a tenth on a quiet machine


def test_a_large_log_opened_during_training(tmp_path: Path) -> None:
    """The end after a hole of 5 GB is read without memory for the hole."""
    log = tmp_path / "train.log"
    log.write_text("".join(map(CONSOLE_LINE.format, range(1000))))
    os.truncate(log, 5 << 30)
    follower = Follower([tmp_path])
    tracemalloc.start()
    points = read_all(follower)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert points >= 3000
    assert peak < 40 * MEBIBYTE
    follower.close()


def test_a_line_without_an_end(tmp_path: Path) -> None:
    """64 MB without a line end, then a good line: memory is bounded, the line is read."""
    log = tmp_path / "train.log"
    with open(log, "w") as file:
        file.write("".join(map(CONSOLE_LINE.format, range(3))))
        for _ in range(64):
            file.write("x" * MEBIBYTE)
        file.write("\n" + CONSOLE_LINE.format(77))
    follower = Follower([tmp_path])
    tracemalloc.start()
    steps = set()
    while True:
        result = follower.poll()
        for update in result.updates:
            for each in update.batch.points:
                steps |= set(each.steps)
        if not result.more:
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 77 in steps
    assert peak < 64 * MEBIBYTE
    follower.close()


@pytest.mark.parametrize("arguments", [["check"], ["check", "--json"], ["status"]])
def test_rubbish_does_no_harm(tmp_path: Path, arguments: list[str]) -> None:
    """Zeros, noise and empty files around a healthy run: the run is judged."""
    runs = tmp_path / "runs"
    copy_of("torch_cartpole", runs / "good")
    noise = bytes(range(256)) * 4000
    for name in ("a.log", "events.out.tfevents.1700000000.host.1.0", "progress.csv", "x.wandb"):
        for kind, data in (("zeros", bytes(100_000)), ("noise", noise), ("nothing", b"")):
            (runs / kind).mkdir(parents=True, exist_ok=True)
            (runs / kind / name).write_bytes(data)
    tool = Tool(tmp_path / "home", *arguments, runs)
    assert tool.end(60) in (0, 1), tool.errors
    assert any("good" in line or "1 run" in line for line in tool.lines) or arguments[0] == "status"
    assert not any("Traceback" in line for line in tool.errors)


def test_check_follow_does_not_leak(tmp_path: Path) -> None:
    """Dozens of runs are created, rotated, truncated and deleted: memory does not grow."""
    runs = tmp_path / "runs"
    copy_of("torch_cartpole_lr", runs / "first")
    tool = Tool(tmp_path / "home", "check", "--follow", runs)
    assert tool.says("first: opened"), tool.errors

    def one_life(number: int) -> None:
        folder = copy_of("torch_cartpole_lr", runs / f"r{number}")
        assert tool.says(f"r{number}: opened"), tool.errors[-5:]
        (folder / "stdout.log").rename(folder / "stdout.log.1")
        (folder / "stdout.log").write_text(CONSOLE_LINE.format(1))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    for number in range(6):
        one_life(number)
    before = tool.memory
    for number in range(6, 20):
        one_life(number)
    assert tool.memory - before < 8 * MEBIBYTE
    tool.stop(signal.SIGINT)
    assert not any("Traceback" in line for line in tool.errors)


def test_a_reader_that_ends_early_is_no_error(tmp_path: Path) -> None:
    """`ppo-top export ... | head`: the closed pipe ends the program without a traceback."""
    runs = tmp_path / "runs"
    copy_of("sb3_cartpole_lr3e-2", runs / "sick")
    command = f"{sys.executable} -m ppo_top export {runs} --format csv | head -3"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=environment(tmp_path / "home"),
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("run,source,tag,concept,step,time,value\n")
    assert "Traceback" not in done.stderr


def test_the_whole_tree_may_vanish(tmp_path: Path) -> None:
    """The whole tree is deleted and restored while it is followed."""
    runs = tmp_path / "runs"
    copy_of("torch_cartpole_lr", runs / "first")
    tool = Tool(tmp_path / "home", "check", "--follow", runs)
    assert tool.says("first: opened"), tool.errors
    runs.rename(tmp_path / "away")
    assert until(lambda: not runs.exists())
    copy_of("torch_cartpole_clip", runs / "second")
    assert tool.says("second: "), tool.errors
    assert tool.stop(signal.SIGINT) in (0, 1)
    assert not any("Traceback" in line for line in tool.errors)
