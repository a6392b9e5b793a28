"""A growing file and a format of one number per line, for tests of following."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ppo_top.files.follower import Follower
from ppo_top.files.update import PollResult, SourceUpdate
from ppo_top.model import Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import ColumnBuilder

NUMBER_FILE_NAMES = re.compile(r"\.(num|rew)$")


class NumberParser:
    """Lines of numbers for the tag `x`; other lines are problems, `boom` is a bug."""

    def __init__(self) -> None:
        self._rest = b""
        self._offset = 0
        self._count = 0

    def feed(self, data: bytes) -> Batch:
        """Whole lines become points."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        columns, batch = ColumnBuilder(), Batch()
        for line in lines:
            if line == b"boom":
                raise RuntimeError("a defect in a reader")
            try:
                columns.add_point("x", self._count, float("nan"), float(line))
                self._count += 1
            except ValueError:
                batch.problems.append(Problem(self._offset, "not a number"))
            self._offset += len(line) + 1
        batch.points = columns.pop_points()
        return batch

    def finish(self) -> Batch:
        """A last line without an end is not certain."""
        return Batch()


FORMAT = Format("numbers", lambda name, head: None, parser=NumberParser)
REWRITTEN_FORMAT = Format("table", lambda name, head: None, parser=NumberParser, rewritten=True)


def detect_number_format(name: str, head: bytes) -> Format | bool | None:
    """`*.num` grows, `*.rew` is rewritten; undecided without bytes; `#` is no number."""
    if not NUMBER_FILE_NAMES.search(name):
        return False
    if not head:
        return None
    if head.startswith(b"#"):
        return False
    return REWRITTEN_FORMAT if name.endswith(".rew") else FORMAT


class GrowingFile:
    """A log and its writer: every call is on the disk when it returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = open(path, "wb", buffering=0)  # noqa: SIM115

    def write(self, text: str) -> None:
        """Append."""
        self._file.seek(0, os.SEEK_END)
        self._file.write(text.encode())

    def write_at(self, offset: int, text: str) -> None:
        """Overwrite bytes."""
        os.pwrite(self._file.fileno(), text.encode(), offset)

    def truncate(self, size: int = 0) -> None:
        """Truncate the file."""
        self._file.truncate(size)

    def replace(self, text: str) -> None:
        """Replace the file atomically, as careful writers do."""
        other = self.path.with_name(self.path.name + ".tmp")
        other.write_bytes(text.encode())
        other.replace(self.path)
        self._reopen("r+b")

    def rotate(self, to: str) -> None:
        """Rename the file and create a new one with the old name."""
        self.path.rename(self.path.with_name(to))
        self._reopen("wb")

    def recreate(self, text: str) -> None:
        """Delete and recreate the file."""
        self.path.unlink()
        self._reopen("wb")
        self.write(text)

    def _reopen(self, mode: Literal["wb", "r+b"]) -> None:
        self._file.close()
        self._file = open(self.path, mode, buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Close the writer."""
        self._file.close()


class ManualClock:
    """A clock that advances only when asked to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def read_everything(follower: Follower) -> list[SourceUpdate]:
    """Look at everything, and poll until all of it is read, however slow the machine is."""
    follower.sweep_soon()
    updates: list[SourceUpdate] = []
    more = True
    while more:
        polled = follower.poll()
        updates += polled.updates
        more = polled.more
    return updates


class FollowerHarness:
    """A follower and everything it has read, as a session would keep it."""

    def __init__(self, *paths: Path, **options: Any) -> None:
        self.clock = ManualClock()
        options.setdefault("clock", self.clock)
        self.follower = Follower(
            paths, detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES, **options
        )
        self.values: dict[str, list[float]] = {}
        self.problems: list[str] = []
        self.updates: list[SourceUpdate] = []
        self.resets = 0

    def apply(self, polled: PollResult) -> None:
        """Apply the result of a poll."""
        for update in polled.updates:
            key = update.source.key
            self.updates.append(update)
            if update.reset:
                self.resets += 1
                self.values[key] = []
            kept = self.values.setdefault(key, [])
            for points in update.batch.points:
                kept.extend(points.values)
            self.problems += [problem.message for problem in update.batch.problems]
        for source in polled.removed:
            del self.values[source.key]

    def poll_all(self, seconds: float = 5.0) -> dict[str, list[float]]:
        """Look at everything after some seconds have passed, and read it."""
        self.clock.now += seconds
        self.follower.sweep_soon()  # how long it pauses hangs on the processor time that it took
        while True:
            polled = self.follower.poll()
            self.apply(polled)
            if not polled.more:
                return self.values

    def poll_until(self, done: Callable[[], bool], seconds: float = 10.0) -> bool:
        """Wait and poll in real time until something holds."""
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            self.follower.wait(0.5)
            self.apply(self.follower.poll())
        return done()
