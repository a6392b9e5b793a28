"""Standard input: what has arrived is read, without waiting."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest

from ppo_top.files.reading.stdin import NonBlockingStream, StdinReader, with_unix_line_ends
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


def test_a_redirected_file_is_read_directly(tmp_path: Path) -> None:
    """`ppo-top - < train.log` is never waited for."""
    (tmp_path / "log").write_bytes(b"hello")
    with open(tmp_path / "log", "rb") as stream:
        pipe = NonBlockingStream(stream)
        assert pipe.handle is None
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
    """What comes after that is read and dropped, so that it does not pile up."""
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
    hesitant = FORMAT._replace(parser=FailingFinishParser)
    reader = StdinReader(BytesIO(b"1\n2\n"), lambda name, head: hesitant, hesitant, lambda: 0.0)
    update = reader.read_update()
    assert update is not None
    assert [len(points) for points in update.batch.points] == [2]
    assert "a defect at the end" in update.batch.problems[0].message


class ByteByByte(BytesIO):
    """A stream that is cut everywhere."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(1 if size else 0)


@pytest.mark.parametrize("kind", [BytesIO, ByteByByte])
@pytest.mark.parametrize("before", [0, 1, 8190, 8191, 8192, 65535])
def test_lines_of_windows_end_as_on_unix_wherever_they_are_cut(
    kind: type[BytesIO], before: int
) -> None:
    """A carriage return alone stays: progress bars are drawn over. A short read is the last one."""
    text = b"x" * before + b"\r\n 1%\r 2%\r\r\n\n\r\n3\r"
    expected = text.replace(b"\r\n", b"\n")
    stream = with_unix_line_ends(kind(text))
    assert stream.read(5) == expected[:5]
    assert stream.read(before) == expected[5 : 5 + before]
    assert stream.read() == expected[5 + before :]
