"""More than anyone asked for: floods, giant files, endless lines, a tag for every sample."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from ppo_top.follow import Follower
from ppo_top.session import Session
from ppo_top.settings import Settings
from tests.faults.tool import Tool, copy_of, environment, until

LINE = "Iteration {0}/900000 | Episodes: 98 | Mean Reward: 20.8 | KL: 0.0047 | clip%: 6.2%\n"
MEGA = 1 << 20


def read_all(follower: Follower) -> int:
    """Read to the end and give the number of points."""
    points = 0
    while True:
        slice_ = follower.poll()
        points += sum(len(each) for gain in slice_.gains for each in gain.batch.points)
        if not slice_.more:
            return points


def test_a_slice_stays_short_in_a_flood(tmp_path: Path) -> None:
    """30,000 lines that are there at once come in slices that a screen can wait for."""
    (tmp_path / "train.log").write_text("".join(map(LINE.format, range(30_000))))
    follower = Follower([tmp_path])
    slices = points = 0
    while True:
        slice_ = follower.poll(limit=50_000, budget=0.05)
        count = sum(len(each) for gain in slice_.gains for each in gain.batch.points)
        assert count < 150_000
        points += count
        slices += 1
        if not slice_.more:
            break
    assert slices > 2
    assert points >= 3 * 30_000
    follower.close()


def test_a_hundred_thousand_lines_a_second_through_a_pipe(tmp_path: Path) -> None:
    """Prose and numbers in a torrent: every line is taken, and memory does not grow with it."""
    writer = (
        "import sys\n"
        f"line = {LINE!r}\n"
        "for block in range(8):\n"
        "    sys.stdout.write(''.join(line.format(block * 5000 + n) for n in range(5000)))\n"
    )
    source = subprocess.Popen([sys.executable, "-c", writer], stdout=subprocess.PIPE)
    assert source.stdout is not None
    follower = Follower([], stdin=source.stdout)
    points = 0
    while not (slice_ := follower.poll()).gains or source.poll() is None or slice_.more:
        points += sum(len(each) for gain in slice_.gains for each in gain.batch.points)
        follower.wait(0.5)
    points += sum(len(each) for gain in slice_.gains for each in gain.batch.points)
    points += read_all(follower)
    assert source.wait(10) == 0
    assert points >= 3 * 40_000
    source.stdout.close()
    follower.close()


def test_a_large_log_opened_in_mid_training(tmp_path: Path) -> None:
    """A log with a hole of 5 GB before its end: the end is read, memory is not needed for it."""
    log = tmp_path / "train.log"
    log.write_text("".join(map(LINE.format, range(1000))))
    os.truncate(log, 5 << 30)
    follower = Follower([tmp_path])
    tracemalloc.start()
    points = read_all(follower)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert points >= 3000
    assert peak < 40 * MEGA
    follower.close()


def test_a_line_without_an_end(tmp_path: Path) -> None:
    """64 MB without a line end, and then a good line: bounded memory, and the line is read."""
    log = tmp_path / "train.log"
    with open(log, "w") as file:
        file.write("".join(map(LINE.format, range(3))))
        for _ in range(64):
            file.write("x" * MEGA)
        file.write("\n" + LINE.format(77))
    follower = Follower([tmp_path])
    tracemalloc.start()
    steps = set()
    while True:
        slice_ = follower.poll()
        for gain in slice_.gains:
            for each in gain.batch.points:
                steps |= set(each.steps)
        if not slice_.more:
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 77 in steps
    assert peak < 64 * MEGA
    follower.close()


def test_a_tag_for_every_sample(tmp_path: Path) -> None:
    """30,000 distinct tags: memory is bounded and what was left out is counted."""
    log = tmp_path / "metrics.jsonl"
    with open(log, "w") as file:
        for step in range(300):
            pairs = ", ".join(f'"sample/{step * 100 + n}": 1.0' for n in range(100))
            file.write(f'{{"step": {step}, "loss": {1.0 / (step + 1)}, {pairs}}}\n')
    follower, session = Follower([tmp_path]), Session(Settings())
    while True:
        slice_ = follower.poll()
        session.apply(slice_.gains)
        if not slice_.more:
            break
    session.apply(follower.finish().gains)
    session.settle()
    session.judge()
    (run,) = session.runs.values()
    (source,) = run.sources.values()
    assert len(source.series) <= 20_000
    assert source.tags_left_out > 0
    assert len(source.series["loss"]) == 300
    follower.close()


@pytest.mark.parametrize("arguments", [["check"], ["check", "--json"], ["status"]])
def test_rubbish_of_every_kind_is_survived(tmp_path: Path, arguments: list[str]) -> None:
    """Zeros, noise, nothing, and a healthy run between them: the run is judged."""
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


def test_check_follow_keeps_its_memory(tmp_path: Path) -> None:
    """Runs that come, are rotated, cut and deleted by the dozen leave nothing behind."""
    runs = tmp_path / "runs"
    copy_of("torch_cartpole_lr", runs / "first")
    tool = Tool(tmp_path / "home", "check", "--follow", runs)
    assert tool.says("first: opened"), tool.errors

    def one_life(number: int) -> None:
        folder = copy_of("torch_cartpole_lr", runs / f"r{number}")
        assert tool.says(f"r{number}: opened"), tool.errors[-5:]
        (folder / "stdout.log").rename(folder / "stdout.log.1")
        (folder / "stdout.log").write_text(LINE.format(1))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    for number in range(6):
        one_life(number)
    before = tool.memory
    for number in range(6, 20):
        one_life(number)
    assert tool.memory - before < 8 * MEGA
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


def test_everything_that_is_watched_may_vanish(tmp_path: Path) -> None:
    """The whole tree goes and comes back while it is followed."""
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
