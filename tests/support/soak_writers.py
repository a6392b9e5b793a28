"""Writers for the soak test: each logs forever, and records what it has flushed.

`python soak_writers.py KIND FOLDER RECORD SEED`. A line of the record is `point FILE VALUE`
(written after the flush), `void FILE` (the file is empty again) or `moved OLD NEW`. Every value is
logged once.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAUSE_S = 0.01


class FlushLog:
    """The record of what was flushed."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a", buffering=1)  # noqa: SIM115

    def add_value(self, file: Path, value: int) -> None:
        """A value was flushed."""
        self._file.write(f"point {file} {value}\n")

    def add_truncation(self, file: Path) -> None:
        """A file was truncated."""
        self._file.write(f"void {file}\n")

    def add_rename(self, old: Path, new: Path) -> None:
        """A file was renamed."""
        self._file.write(f"moved {old} {new}\n")


def console(folder: Path, log: FlushLog, draw: random.Random) -> None:
    """Prints iterations; sometimes rotates or truncates the log, or writes half a line."""
    path = folder / "train.log"
    file = open(path, "ab", buffering=0)  # noqa: SIM115
    for number in range(1, 10**9):
        value = draw.getrandbits(40)
        line = f"Iteration {number}/1000000 | Mean Reward: {value} | KL: 0.0047\n".encode()
        cut = draw.randrange(len(line))
        file.write(line[:cut])
        if draw.random() < 0.2:
            time.sleep(PAUSE_S)
        file.write(line[cut:])
        log.add_value(path, value)
        chance = draw.random()
        if chance < 0.001:
            other = path.with_name(f"train.log.{number}")
            log.add_rename(path, other)
            path.rename(other)
            file.close()
            file = open(path, "ab", buffering=0)  # noqa: SIM115
        elif chance < 0.002:
            log.add_truncation(path)
            file.truncate(0)
        time.sleep(PAUSE_S * draw.random())


def events(folder: Path, log: FlushLog, draw: random.Random) -> None:
    """TensorBoard's own writer of event files."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    path = newest_event_file(folder)
    for step in range(10**9):
        value = step + 1  # exact as float32
        summary = Summary(value=[Summary.Value(tag="soak/value", simple_value=float(value))])
        writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
        writer.flush()
        log.add_value(path, value)
        time.sleep(PAUSE_S * draw.random())


def torch(folder: Path, log: FlushLog, draw: random.Random) -> None:
    """torch's SummaryWriter."""
    from torch.utils.tensorboard import SummaryWriter

    writer: Any = SummaryWriter(str(folder))
    path = newest_event_file(folder)
    for step in range(10**9):
        value = step + 1
        writer.add_scalar("soak/value", float(value), step)
        writer.flush()
        log.add_value(path, value)
        time.sleep(PAUSE_S * draw.random())


def sb3(folder: Path, log: FlushLog, draw: random.Random) -> None:
    """Stable-Baselines3's logger: a csv whose header grows, json lines and an event file."""
    from stable_baselines3.common.logger import configure

    for name in ("progress.csv", "progress.json"):  # it opens them with "w"
        log.add_truncation(folder / name)
    logger = configure(str(folder), ["csv", "json"])
    for step in range(1, 10**9):
        value = draw.getrandbits(40)
        logger.record("time/total_timesteps", step * 2048)
        logger.record("soak/value", value)
        if draw.random() < 0.02:
            logger.record(f"soak/extra_{draw.randrange(8)}", 1.0)
        logger.dump(step)
        for name in ("progress.csv", "progress.json"):
            log.add_value(folder / name, value)
        time.sleep(PAUSE_S * draw.random())


def newest_event_file(folder: Path) -> Path:
    """The event file created last."""
    return max(folder.glob("events*"), key=lambda path: path.stat().st_mtime_ns)


WRITER_KINDS: dict[str, Callable[[Path, FlushLog, random.Random], None]] = {
    "console": console,
    "events": events,
    "torch": torch,
    "sb3": sb3,
}

if __name__ == "__main__":
    kind, where, record, seed = sys.argv[1:]
    Path(where).mkdir(parents=True, exist_ok=True)
    WRITER_KINDS[kind](Path(where), FlushLog(Path(record)), random.Random(seed))
