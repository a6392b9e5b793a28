"""The process that empties a training's pipe: nothing is lost, and its writer never waits."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files import pipe_drain
from ppo_top.files.pipe_drain import MEMORY_BYTES, PipeDrain, _Backlog

BIG = bytes(range(256)) * (3 * MEMORY_BYTES // 256)
"""More than waits in memory."""

WRITER_CODE = """
import os, sys, time
slowest = 0.0
for _ in range(int(sys.argv[1])):
    begin = time.monotonic()
    os.write(1, b"x" * 9999 + b"\\n")
    slowest = max(slowest, time.monotonic() - begin)
print(slowest, file=sys.stderr)
"""


class DrainedTraining:
    """A writer in a process of its own, and the drain between it and us."""

    def __init__(self, writes: int, tee: Path | None = None) -> None:
        reading, writing = os.pipe()
        command = [sys.executable, "-c", WRITER_CODE, str(writes)]
        self.drain = PipeDrain(reading, tee)
        self.process = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, text=True)
        os.close(writing)

    def ends(self) -> float:
        """Its exit code is 0; how long its slowest write took."""
        _, slowest = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, slowest
        return float(slowest)


def read_all(handle: int) -> bytes:
    """Read to the end."""
    with open(handle, "rb") as stream:
        return stream.read()


def test_everything_arrives_in_order() -> None:
    """More than a pipe and more than memory hold, and the end with it."""
    reading, writing = os.pipe()
    drain = PipeDrain(reading)
    writer = threading.Thread(target=write_and_close, args=(writing, BIG))
    writer.start()
    writer.join(30)
    assert not writer.is_alive()  # all of it was taken before anybody read
    assert read_all(drain.handle) == BIG
    assert os.waitpid(drain.process_id, 0)[1] == 0


def write_and_close(handle: int, data: bytes) -> None:
    """Write in the pieces that a pipe takes."""
    with open(handle, "wb") as stream:
        stream.write(data)


def test_a_training_outlives_a_monitor_that_reads_nothing() -> None:
    """Suspended, or its terminal stalls: ten megabytes are written without a wait."""
    training = DrainedTraining(1000)
    assert training.ends() < 1.0
    assert len(read_all(training.drain.handle)) == 10_000_000


def test_a_training_outlives_its_monitor() -> None:
    """Killed in the middle of it: the rest goes nowhere."""
    training = DrainedTraining(1000)
    assert select.select([training.drain.handle], [], [], 10)[0]
    os.close(training.drain.handle)
    assert training.ends() < 1.0
    assert os.waitpid(training.drain.process_id, 0)[1] == 0


@pytest.mark.parametrize("number", pipe_drain.IGNORED_SIGNALS)
def test_a_closed_terminal_is_not_heard(number: signal.Signals) -> None:
    """Ctrl-C, Ctrl-Z and a hang-up are for the monitor."""
    training = DrainedTraining(100)
    assert select.select([training.drain.handle], [], [], 10)[0]
    os.kill(training.drain.process_id, number)
    training.ends()
    assert len(read_all(training.drain.handle)) == 1_000_000


def test_a_training_can_be_stopped() -> None:
    """It ends as behind `| head`: by a pipe that nobody reads."""
    training = DrainedTraining(10**9)
    assert select.select([training.drain.handle], [], [], 10)[0]
    training.drain.stop()
    assert "BrokenPipeError" in training.process.communicate(timeout=30)[1]
    os.close(training.drain.handle)


def test_a_copy_is_kept(tmp_path: Path) -> None:
    """`--tee`: all of it, also after the monitor has gone, behind what the file held."""
    (tmp_path / "run.log").write_text("before\n")
    training = DrainedTraining(50, tmp_path / "run.log")
    os.close(training.drain.handle)
    training.ends()
    os.waitpid(training.drain.process_id, 0)
    assert (tmp_path / "run.log").read_bytes() == b"before\n" + (b"x" * 9999 + b"\n") * 50


def test_a_copy_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """Before anything is started."""
    reading, writing = os.pipe()
    with pytest.raises(IsADirectoryError):
        PipeDrain(reading, tmp_path)
    os.close(reading)
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a full device")
def test_a_full_disk_costs_only_the_copy() -> None:
    """The training and the monitor notice nothing."""
    training = DrainedTraining(100, Path("/dev/full"))
    training.ends()
    assert len(read_all(training.drain.handle)) == 1_000_000


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(1, 50))))
@settings(max_examples=200)
def test_a_backlog_is_a_queue(steps: list[tuple[bytes, int]]) -> None:
    """What goes in comes out in order, in pieces of any size."""
    backlog, added, taken = _Backlog(), b"", b""
    for data, most in steps:
        backlog.add(data)
        added += data
        piece = backlog.next(most)
        assert len(piece) <= most
        taken += piece
        backlog.drop(len(piece))
        assert bool(backlog) == (len(taken) < len(added))
    assert taken + backlog.next(len(added) + 1) == added
    backlog.clear()


@pytest.fixture(name="full")
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """A disk that is full while the list holds True."""
    full = [False]

    class Disk(tempfile.SpooledTemporaryFile[bytes]):
        """A file that cannot grow then."""

        def write(self, data: Any) -> int:
            """As on a full disk."""
            if full[0]:
                raise OSError(28, "No space left on device")
            return super().write(data)

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Disk)
    yield full


def test_what_there_is_no_room_for_is_counted(full: list[bool]) -> None:
    """The training goes on, and the console says what is missing."""
    backlog = _Backlog()
    backlog.add(b"first\n")
    full[0] = True
    backlog.add(b"second\n")
    full[0] = False
    backlog.add(b"third\n")
    expected = b"first\n\n[ppo-top: no room for 7 bytes of output]\nthird\n"
    assert backlog.next(1000) == expected
    backlog.clear()
