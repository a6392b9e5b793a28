"""Standard input as bytes: what has arrived is taken, and nothing is waited for."""

from __future__ import annotations

import os
from dataclasses import replace
from io import BytesIO

from ppo_top.model import Batch
from ppo_top.pipe import Pipe, PipeFeed
from tests.following import FORMAT, NumberParser


def test_a_pipe_gives_what_has_arrived() -> None:
    """Reading a pipe never waits for its writer, and sees its end."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        pipe = Pipe(stream)
        assert pipe.read() == b""
        os.write(writing, b"hello")
        assert pipe.read(3) == b"hel"
        assert pipe.read(3) == b"lo"
        assert not pipe.closed and pipe.handle == reading
        os.close(writing)
        assert pipe.read() == b""
        assert pipe.closed and pipe.handle is None and pipe.offset == 5


def test_a_stream_without_a_file_is_a_pipe_too() -> None:
    """Bytes in memory are read to their end."""
    pipe = Pipe(BytesIO(b"hello"))
    assert pipe.read() == b"hello"
    assert pipe.closed


class Hesitant(NumberParser):
    """Fails when no more will come."""

    def finish(self) -> Batch:
        """A defect."""
        raise RuntimeError("a defect at the end")


def test_a_pipe_is_emptied_although_its_reader_failed() -> None:
    """A training that writes into a full pipe would stop: what nobody reads is thrown away."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        feed = PipeFeed(stream, lambda name, head: FORMAT, FORMAT, lambda: 0.0)
        os.write(writing, b"1\nboom\n")
        first = feed.take()
        assert first is not None and "its reader failed" in first.batch.problems[0].what
        for _ in range(3):
            os.write(writing, b"2\n" * 20_000)
            assert feed.changed()
            assert feed.take() is None
        assert feed.pipe.offset == 7 + 3 * 40_000
        os.close(writing)
        feed.take()
        assert not feed.changed()


def test_a_defect_at_the_end_of_a_pipe_is_told() -> None:
    """What was read stays, and the defect is shown."""
    hesitant = replace(FORMAT, parser=Hesitant)
    feed = PipeFeed(BytesIO(b"1\n2\n"), lambda name, head: hesitant, hesitant, lambda: 0.0)
    gain = feed.take()
    assert gain is not None
    assert [len(points) for points in gain.batch.points] == [2]
    assert "a defect at the end" in gain.batch.problems[0].what
