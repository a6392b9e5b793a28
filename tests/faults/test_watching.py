"""Difficult watching: no watches left, file systems without events, thousands of folders."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import State
from ppo_top.runs.liveness import run_status
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.views.run_view import make_run_view
from tests.support.installed_program import Tool, copy_of, until
from tests.support.number_log import NUMBER_FILE_NAMES, detect_number_format
from tests.support.running_app import app_on, drawn_now, until_run

UNSHARE = shutil.which("unshare")


def can_unshare(script: str) -> bool:
    """Whether the script succeeds in a namespace of its own on this machine."""
    if UNSHARE is None:
        return False
    tried = subprocess.run([UNSHARE, "-Urm", "sh", "-c", script], capture_output=True, check=False)
    return tried.returncode == 0


LIMITED = "echo 3 > /proc/sys/user/max_inotify_watches"
NONE = "echo 0 > /proc/sys/user/max_inotify_instances"


@pytest.mark.parametrize("limit", [LIMITED, NONE])
def test_out_of_watches_polling_takes_over(tmp_path: Path, limit: str) -> None:
    """With three watches, and without inotify, nothing is missed, new runs included."""
    if not can_unshare(limit):
        pytest.skip("needs a user namespace with limits of its own")
    runs = tmp_path / "runs"
    for name in ("a", "b", "c", "d", "e"):
        copy_of("torch_cartpole", runs / name)
        for events in (runs / name).glob("events*"):
            events.unlink()
    before = (str(UNSHARE), "-Urm", "sh", "-c", f'{limit} && exec "$@"', "sh")
    tool = Tool(tmp_path / "home", "check", "--follow", runs, before=before)
    assert tool.says("e: "), tool.errors
    with open(runs / "e/stdout.log", "a") as log:
        log.write("Iteration 21/21 | Episodes: 98 | Mean Reward: 1.0 | KL: nan | clip%: 6.2%\n")
    assert tool.says("e: opened crit"), tool.lines
    copy_of("torch_cartpole_lr", runs / "late")
    assert tool.says("late: opened crit"), tool.lines
    tool.stop(signal.SIGINT)
    assert not any("Traceback" in line for line in tool.errors)


OVERLAY = (
    "mount -t overlay overlay -o lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work {0}/runs"
)


def test_an_overlay_is_polled(tmp_path: Path) -> None:
    """Writes to its upper directory cause no events for watchers of the overlay."""
    for name in ("lower", "upper", "work", "runs"):
        (tmp_path / name).mkdir()
    mount = OVERLAY.format(tmp_path)
    if not can_unshare(mount):
        pytest.skip("needs to mount an overlay in a namespace of its own")
    before = (str(UNSHARE), "-Urm", "sh", "-c", f'{mount} && exec "$@"', "sh")
    tool = Tool(tmp_path / "home", "check", "--follow", tmp_path / "runs", before=before)
    copy_of("torch_cartpole_lr", tmp_path / "upper/far")
    assert tool.says("far: opened crit"), (tool.lines, tool.errors)
    tool.stop(signal.SIGINT)


BINDFS = shutil.which("bindfs")


@pytest.fixture
def far_side(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two directories: what is written in the first is seen in the second, through FUSE."""
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    near.mkdir()
    if BINDFS is None:
        pytest.skip("needs bindfs, a FUSE file system")
    mounted = subprocess.run(
        [BINDFS, "--no-allow-other", far, near], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"FUSE cannot be mounted here: {mounted.stderr.strip()}")
    yield far, near
    unmount = shutil.which("fusermount3") or shutil.which("fusermount") or "umount"
    flags = ["-u", "-z"] if "fusermount" in unmount else []
    subprocess.run([unmount, *flags, near], check=True, capture_output=True)


def test_through_fuse_no_point_is_lost(far_side: tuple[Path, Path]) -> None:
    """Another machine writes, truncates and replaces without an event; polling sees all."""
    far, near = far_side
    follower = Follower([near], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES)
    seen: dict[str, list[float]] = {}

    def poll() -> None:
        for update in follower.poll().updates:
            values = seen.setdefault(update.source.key, [])
            if update.reset:
                values.clear()
            values += [value for each in update.batch.points for value in each.values]

    def sees(key: str, values: list[float]) -> bool:
        poll()
        follower.wait(0.2)
        return seen.get(key) == values

    (far / "a").mkdir()
    (far / "a/x.num").write_text("1\n2\n")
    assert until(lambda: sees("a/x.num", [1, 2]))
    assert until(
        lambda: sees("a/x.num", [1, 2]) and "Polling for changes (fuse" in follower.watch_status
    )
    assert "inotify" not in follower.watch_status
    with open(far / "a/x.num", "a") as log:
        log.write("3\n")
    (far / "b").mkdir()
    (far / "b/y.num").write_text("7\n")
    assert until(lambda: sees("a/x.num", [1, 2, 3]) and sees("b/y.num", [7]))
    (far / "a/x.num").write_text("9\n")  # cut off
    (far / "fresh").write_text("4\n5\n6\n8\n")
    (far / "fresh").replace(far / "b/y.num")
    assert until(lambda: sees("a/x.num", [9]) and sees("b/y.num", [4, 5, 6, 8]))
    follower.close()


def test_check_follow_says_what_is_polled(tmp_path: Path, far_side: tuple[Path, Path]) -> None:
    """And why; and it sees a run that another machine writes."""
    far, near = far_side
    tool = Tool(tmp_path / "home", "check", "--follow", near)
    copy_of("torch_cartpole_lr", far / "run")
    assert tool.says("run: opened crit"), (tool.lines, tool.errors)
    assert until(lambda: any("Polling for changes (fuse" in line for line in tool.errors)), (
        tool.errors
    )
    tool.stop(signal.SIGINT)


async def test_the_screen_says_what_is_polled(tmp_path: Path, far_side: tuple[Path, Path]) -> None:
    """The files page names the type of file system that sends no events."""
    far, near = far_side
    copy_of("torch_cartpole_lr", far / "run")
    app = app_on(Follower([near]), tmp_path)
    async with app.run_test(size=(120, 60)) as pilot:
        await until_run(pilot, app, lambda view: view.progress.step is not None)
        await pilot.press("6")
        await until_run(pilot, app, lambda _: "Polling for changes (fuse" in drawn_now(app))


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """6,000 directories, a log in every twentieth."""
    root = tmp_path_factory.mktemp("thousands")
    for group in range(60):
        for number in range(100):
            folder = root / f"{group}/{number}"
            folder.mkdir(parents=True)
            if number % 20 == 0:
                (folder / "x.num").write_text("1\n")
    return root


def test_six_thousand_directories_cost_nothing_when_idle(thousands: Path) -> None:
    """We cause no events ourselves, use few threads, and see every new point."""
    follower = Follower([thousands], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES)
    while follower.poll().more:
        pass
    follower.wait(1.0)
    follower.poll()
    assert threading.active_count() < 80
    end, start = time.monotonic() + 2.5, time.process_time()
    wakes = 0
    while time.monotonic() < end:
        wakes += follower.wait(1.0)
        follower.poll()
    assert (time.process_time() - start) / 2.5 < 0.10  # 0.02 on a quiet machine
    assert wakes < 5
    keys: set[str] = set()
    with open(thousands / "7/20/x.num", "a") as log:
        log.write("2\n")
    (thousands / "8/33/new.num").write_text("1\n")
    end = time.monotonic() + 90  # some seconds on a quiet machine
    while len(keys) < 2 and time.monotonic() < end:
        follower.wait(0.5)
        keys |= {update.source.key for update in follower.poll().updates}
    assert keys == {"7/20/x.num", "8/33/new.num"}
    follower.close()


def test_a_storm_of_events_costs_little(tmp_path: Path) -> None:
    """A writer with thousands of writes per second does not keep us busy."""
    log = tmp_path / "x.num"
    log.touch()
    follower = Follower([tmp_path], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES)
    stop = threading.Event()

    def write() -> None:
        handle = os.open(log, os.O_WRONLY | os.O_APPEND)
        while not stop.is_set():
            os.write(handle, b"1\n")
        os.close(handle)

    writer = threading.Thread(target=write)
    writer.start()
    points = polls = 0
    end = time.monotonic() + 3.0
    while time.monotonic() < end:
        for update in follower.poll().updates:
            points += sum(len(each) for each in update.batch.points)
        polls += 1
        follower.wait(1.0)
    stop.set()
    writer.join()
    follower.wait(1.0)
    time.sleep(0.6)
    while (result := follower.poll()).more or result.updates:
        points += sum(len(each) for update in result.updates for each in update.batch.points)
    assert points == log.stat().st_size // 2
    assert polls < 200
    follower.close()


@pytest.mark.parametrize("ahead", [86_400.0, -86_400.0 * 400])
def test_wrong_clocks_do_no_harm(tmp_path: Path, ahead: float) -> None:
    """Files a day in the future or over a year in the past: growth is seen, states are right."""
    log = tmp_path / "runs/ppo/train.log"
    log.parent.mkdir(parents=True)
    then = time.time() + ahead
    line = "Iteration {0}/900 | Episodes: 98 | Mean Reward: 20.8 | KL: 0.0047\n"
    follower, session = Follower([tmp_path / "runs"]), Session(Settings())

    def write(first: int) -> None:
        with open(log, "a") as file:
            file.writelines(line.format(number) for number in range(first, first + 20))
        os.utime(log, (then, then))  # the same at each time, as a stopped clock has it

    def sees(step: int) -> bool:
        follower.wait(0.2)
        session.apply(follower.poll())
        session.judge()
        runs = list(session.runs.values())
        return bool(runs) and make_run_view(runs[0]).progress.step == step

    for first in (0, 20, 40):
        write(first)
        assert until(lambda first=first: sees(first + 19), 60)  # type: ignore[misc]
    (run,) = session.runs.values()
    state = run_status(run, time.time()).state
    assert state in ({State.LIVE} if ahead > 0 else {State.STALLED, State.DIED, State.ENDED})
    follower.close()
