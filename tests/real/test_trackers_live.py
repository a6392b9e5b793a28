"""Trackers' logs followed while the real writers write: every point once, soon, as logged."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import RunEnd, State

pytestmark = pytest.mark.real

PATIENCE = 30.0
"""Seconds until something that must be seen is missed: no measure of speed, machines are busy."""

ROWS = """
import json, sys, time
def row(i):
    return {"train/loss": 1 / (i + 1) if i % 7 else float("nan"), "train/kl": i / 3, "train/n": i}
def told(i):
    print(json.dumps([i, time.time()]), flush=True)
"""
WANDB = """
import wandb
run = wandb.init(mode="offline", project="p", config={"learning_rate": 0.5})
for line in sys.stdin:
    i = int(line); run.log(row(i)); told(i)
run.finish(); told(-1)
"""
SWANLAB = """
import swanlab
swanlab.init(project="p", mode="offline", logdir="swanlog", config={"learning_rate": 0.5})
for line in sys.stdin:
    i = int(line); swanlab.log(row(i), step=i); told(i)
swanlab.finish(); told(-1)
"""
TRACKIO = """
import trackio
trackio.init(project="p", name="a", config={"learning_rate": 0.5}, embed=False)
for line in sys.stdin:
    i = int(line); trackio.log(row(i)); told(i)
trackio.finish(); told(-1)
"""

Seen = dict[str, list[tuple[int, str]]]


class Live:
    """A writer in a new process, and a follower of the folder it writes to."""

    def __init__(self, script: str, folder: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ROWS + script],
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.follower = Follower([folder])
        self.seen: Seen = {}
        self.ended: RunEnd | None = None
        self.config: dict[str, object] = {}

    def write(self, number: int) -> None:
        """Log one row, and wait until the call returns."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        self.answer(number)

    def answer(self, number: int) -> None:
        """Skip the tracker's output up to the script's own line."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("[") and json.loads(line)[0] == number:
                return
        raise AssertionError("the writer died")

    def finish(self) -> None:
        """End the writer's run as a program does."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        self.answer(-1)
        self.process.wait(30)

    def look(self) -> None:
        """Read everything there is."""
        more = True
        while more:
            piece = self.follower.poll()
            more = piece.more
            for gain in piece.updates:
                assert not gain.reset
                self.ended = gain.batch.ended or self.ended
                self.config.update(gain.batch.config)
                for points in gain.batch.points:
                    rows = zip(points.steps, map(repr, points.values), strict=True)
                    self.seen.setdefault(points.tag, []).extend(rows)

    def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Poll, as the monitor does, until something is seen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            if done():
                return True
            self.follower.wait(0.1)
        return False

    def close(self) -> None:
        """Close everything."""
        self.process.kill()
        self.process.communicate()
        self.follower.close()


def logged(count: int) -> Seen:
    """What the script logs."""
    steps = range(count)
    return {
        "train/loss": [(i, repr(1 / (i + 1) if i % 7 else float("nan"))) for i in steps],
        "train/kl": [(i, repr(i / 3)) for i in steps],
        "train/n": [(i, repr(float(i))) for i in steps],
    }


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Live]]:
    """Starts writers and ends them."""
    started: list[Live] = []

    def begin(script: str, **environment: str) -> Live:
        started.append(Live(script, tmp_path, environment | {"HOME": str(tmp_path)}))
        return started[-1]

    yield begin
    for each in started:
        each.close()


def test_wandb_is_followed_block_by_block(start: Callable[..., Live]) -> None:
    """wandb writes whole blocks of 32 KiB: some rows arrive while it runs, all when it ends."""
    pytest.importorskip("wandb")
    live = start(WANDB, WANDB_SILENT="true")
    for number in range(400):
        live.write(number)
    assert live.until(lambda: bool(live.seen), PATIENCE)
    live.finish()
    assert live.until(lambda: live.ended is not None, PATIENCE)
    assert live.seen == logged(400)
    assert live.ended == RunEnd(State.FINISHED, "exit code 0")
    assert live.config["learning_rate"] == 0.5


def test_swanlab_is_followed_as_its_buffer_fills(start: Callable[..., Live]) -> None:
    """SwanLab does not flush: rows arrive in pieces of its buffer, all when it ends."""
    pytest.importorskip("swanlab")
    live = start(SWANLAB)
    for number in range(400):
        live.write(number)
    assert live.until(lambda: bool(live.seen), PATIENCE)
    live.finish()
    assert live.until(lambda: live.ended is not None, PATIENCE)
    assert live.seen == logged(400)
    assert live.ended == RunEnd(State.FINISHED, "finished")


def test_trackio_is_followed_row_by_row(start: Callable[..., Live], tmp_path: Path) -> None:
    """Trackio commits twice a second: each row arrives before the next, once; no file stays."""
    pytest.importorskip("trackio")
    store = tmp_path / "store"
    live = start(TRACKIO, TRACKIO_DIR=str(store), HF_HUB_OFFLINE="1")
    for number in range(8):
        live.write(number)
        seen = [(step, repr(float(step))) for step in range(number + 1)]
        assert live.until(lambda: live.seen.get("train/n") == seen, PATIENCE)  # noqa: B023
    live.finish()
    assert live.until(lambda: live.seen == logged(8), PATIENCE)
    assert live.config["learning_rate"] == 0.5
    assert {each.name for each in store.iterdir()} <= {"p.db", "p.db-wal", "p.db-shm", "p.lock"}


def test_trackios_inbox_is_followed(start: Callable[..., Live], tmp_path: Path) -> None:
    """The form for network file systems: a file for each bundle of rows, read in any order."""
    pytest.importorskip("trackio")
    live = start(
        TRACKIO,
        TRACKIO_DIR=str(tmp_path / "store"),
        TRACKIO_STORAGE_MODE="jsonl",
        HF_HUB_OFFLINE="1",
    )
    for number in range(8):
        live.write(number)
        time.sleep(0.2)
    live.finish()
    assert live.until(lambda: len(live.seen.get("train/n", [])) == 8, PATIENCE)
    assert {tag: sorted(points) for tag, points in live.seen.items()} == logged(8)


def test_typed_values_of_newer_wandb_messages_are_read() -> None:
    """wandb's messages also have fields for plain types; written with its own classes."""
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    from ppo_top.parsers.wandb.parser import WANDB_IDENT, WandbParser

    record = Record()
    if "number" not in record.history.item.add().DESCRIPTOR.fields_by_name:
        pytest.skip("this wandb has no typed values")
    del record.history.item[:]
    for name, kind, value in (
        ("a", "number", 0.5),
        ("b", "integer", -3),
        ("c", "boolean", True),
        ("d", "text", "words"),
        ("e", "json", '{"x": 2.5}'),
        ("_step", "integer", 7),
    ):
        item = record.history.item.add()
        item.nested_key.append(name)
        setattr(item, kind, value)
    data = record.SerializeToString()
    head = struct.pack("<IHB", zlib.crc32(b"\x01" + data), len(data), 1)
    batch = WandbParser().feed(WANDB_IDENT + b"\0" + head + data)
    found = {points.tag: (points.steps[0], points.values[0]) for points in batch.points}
    assert found == {"a": (7, 0.5), "b": (7, -3.0), "c": (7, 1.0), "e.x": (7, 2.5)}
