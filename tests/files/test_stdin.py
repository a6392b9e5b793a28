"""Standard input: what has arrived is read, without waiting."""

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
        assert (pipe.closed, pipe.handle is None) == (False, False)
        os.close(writing)
        assert arrives(pipe) == b""
        assert (pipe.closed, pipe.handle, pipe.offset) == (True, None, 5)


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


def test_a_full_buffer_blocks_the_writer(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_closing_does_not_wait_for_the_writer() -> None:
    """Its writer lives on and says nothing: closing does not wait for it."""
    threads = threading.active_count()
    with opened() as (pipe, _):
        assert threading.active_count() == threads + 1
        assert not pipe.closed
    assert threading.active_count() == threads


def test_a_redirected_file_is_read_directly(tmp_path: Path) -> None:
    """`ppo-top - < train.log` needs no thread and no buffer."""
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


def test_a_stream_in_memory_is_read_to_its_end() -> None:
    """Bytes in memory are read to their end."""
    pipe = NonBlockingStream(BytesIO(b"hello"))
    assert pipe.read_available() == b"hello"
    assert pipe.closed


class FailingFinishParser(NumberParser):
    """Raises at the end."""

    def finish(self) -> Batch:
        """A bug."""
        raise RuntimeError("a defect at the end")


def test_a_pipe_is_emptied_after_its_parser_failed() -> None:
    """A full pipe would block the training, so the bytes are read and dropped."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        reader = StdinReader(stream, lambda name, head: FORMAT, FORMAT, lambda: 0.0)
        os.write(writing, b"1\nboom\n")
        assert until(
            lambda: (
                reader.stream.handle is not None
                and bool(select.select([reader.stream.handle], [], [], 0)[0])
            )
        )
        first = reader.read_update()
        assert first is not None and "parser failed" in first.batch.problems[0].message
        os.write(writing, b"2\n" * 20_000)
        assert until(lambda: reader.read_update() is None and reader.stream.offset == 7 + 40_000)
        assert reader.has_changed()
        os.close(writing)
        assert until(lambda: reader.read_update() is None and not reader.has_changed())
        reader.close()


def test_a_bug_at_the_end_of_a_pipe_is_reported() -> None:
    """The points before it stay."""
    hesitant = replace(FORMAT, parser=FailingFinishParser)
    reader = StdinReader(BytesIO(b"1\n2\n"), lambda name, head: hesitant, hesitant, lambda: 0.0)
    update = reader.read_update()
    assert update is not None
    assert [len(points) for points in update.batch.points] == [2]
    assert "a defect at the end" in update.batch.problems[0].message
