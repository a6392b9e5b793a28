"""Standard input as bytes: what has arrived is taken, and nothing is waited for."""

from __future__ import annotations

import os
from io import BytesIO

from ppo_top.pipe import Pipe


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
