"""Standard input as bytes: what has arrived is taken, and nothing is waited for."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from ppo_top.files.stdin import PIPE_READ_BYTES, NonBlockingStream, StdinReader
from ppo_top.model import Batch
from tests.support.installed_program import until
from tests.support.number_log import FORMAT, NumberParser


@contextmanager
def opened() -> Iterator[tuple[NonBlockingStream, int]]:
    """A pipe that is read, and the descriptor to write to."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        pipe = NonBlockingStream(stream)
        yield pipe, writing
        pipe.close()


def arrives(pipe: NonBlockingStream, limit: int = 1 << 20) -> bytes:
    """Wait for bytes, or for the end, and read."""
    assert pipe.handle is not None
    assert select.select([pipe.handle], [], [], 10)[0]
    return pipe.read_available(limit)


def test_a_pipe_gives_what_has_arrived() -> None:
    """Reading a pipe never waits for its writer, and sees its end."""
    with opened() as (pipe, writing):
        assert pipe.read_available() == b""
        os.write(writing, b"hello")
        assert arrives(pipe, 3) == b"hel"
        assert pipe.read_available(3) == b"lo"
        assert not pipe.closed and pipe.handle is not None
        os.close(writing)
        assert arrives(pipe) == b""
        assert pipe.closed and pipe.handle is None and pipe.offset == 5


def test_a_burst_does_not_stop_its_writer() -> None:
    """Megabytes are taken while nobody reads; nothing is lost, and the thread ends."""
    threads = threading.active_count()
    with opened() as (pipe, writing):
        data = bytes(range(256)) * 4096
        for _ in range(8):
            assert os.write(writing, data) == len(data)  # would wait for ever in a full pipe
        os.close(writing)
        read = b""
        while not pipe.closed:
            read += arrives(pipe, 999_983)
        assert read == data * 8
        assert not pipe.writer_has_waited
    assert threading.active_count() == threads


def test_a_flood_waits_when_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: beyond that a writer waits, as with any pipe, and nothing is lost."""
    monkeypatch.setattr("ppo_top.files.stdin.MAX_BUFFERED_BYTES", 1 << 20)
    with opened() as (pipe, writing):

        def write() -> None:
            for number in range(400):
                os.write(writing, number.to_bytes(2, "little") * 10_000)
            os.close(writing)

        writer = threading.Thread(target=write)
        writer.start()
        writer.join(1.0)
        assert writer.is_alive() and pipe.writer_has_waited
        read, most = b"", 0
        while not pipe.closed:
            read += arrives(pipe, 100_000)
            most = max(most, pipe._buffered)
        writer.join()
    assert read == b"".join(number.to_bytes(2, "little") * 10_000 for number in range(400))
    assert most <= (1 << 20) + PIPE_READ_BYTES


def test_a_pipe_that_is_left_open_is_left() -> None:
    """Its writer lives on and says nothing: closing does not wait for it."""
    threads = threading.active_count()
    with opened() as (pipe, _):
        assert threading.active_count() == threads + 1
        assert not pipe.closed
    assert threading.active_count() == threads


def test_a_file_under_standard_input_is_read_directly(tmp_path: Path) -> None:
    """`ppo-top - < train.log`: it is there for good, so nothing needs to be kept of it."""
    (tmp_path / "log").write_bytes(b"hello")
    threads = threading.active_count()
    with open(tmp_path / "log", "rb") as stream:
        pipe = NonBlockingStream(stream)
        assert threading.active_count() == threads
        assert (pipe.read_available(3), pipe.read_available(), pipe.read_available()) == (
            b"hel",
            b"lo",
            b"",
        )
        assert pipe.closed
        pipe.close()


def test_a_stream_without_a_file_is_a_pipe_too() -> None:
    """Bytes in memory are read to their end."""
    pipe = NonBlockingStream(BytesIO(b"hello"))
    assert pipe.read_available() == b"hello"
    assert pipe.closed


class FailingFinishParser(NumberParser):
    """Fails when no more will come."""

    def finish(self) -> Batch:
        """A defect."""
        raise RuntimeError("a defect at the end")


def test_a_pipe_is_emptied_although_its_reader_failed() -> None:
    """A training that writes into a full pipe would stop: what nobody reads is thrown away."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        feed = StdinReader(stream, lambda name, head: FORMAT, FORMAT, lambda: 0.0)
        os.write(writing, b"1\nboom\n")
        assert until(
            lambda: (
                feed.stream.handle is not None
                and bool(select.select([feed.stream.handle], [], [], 0)[0])
            )
        )
        first = feed.read_update()
        assert first is not None and "parser failed" in first.batch.problems[0].message
        os.write(writing, b"2\n" * 20_000)
        assert until(lambda: feed.read_update() is None and feed.stream.offset == 7 + 40_000)
        assert feed.has_changed()
        os.close(writing)
        assert until(lambda: feed.read_update() is None and not feed.has_changed())
        feed.close()


def test_a_defect_at_the_end_of_a_pipe_is_told() -> None:
    """What was read stays, and the defect is shown."""
    hesitant = replace(FORMAT, parser=FailingFinishParser)
    feed = StdinReader(BytesIO(b"1\n2\n"), lambda name, head: hesitant, hesitant, lambda: 0.0)
    gain = feed.read_update()
    assert gain is not None
    assert [len(points) for points in gain.batch.points] == [2]
    assert "a defect at the end" in gain.batch.problems[0].message
