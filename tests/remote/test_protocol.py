"""Frames: the same however the bytes are cut, and nothing that a hostile far side may send."""

from __future__ import annotations

import json
import zlib
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.remote.far_side.frames import CHUNK_BYTES, MARKER, MOST_CHECKPOINTS
from ppo_top.remote.protocol import (
    MAX_BANNER_BYTES,
    MAX_HEADER_BYTES,
    CheckpointList,
    FileComplete,
    FileData,
    Frame,
    FrameReader,
    Gone,
    HaveFile,
    Hello,
    KeepAlive,
    ProtocolError,
    RemoteCheckpoint,
    Request,
    RootState,
    Swept,
    Trouble,
)


def frame(type_: str, body: bytes = b"", **fields: Any) -> bytes:
    """A frame as the script sends it."""
    return json.dumps({**fields, "t": type_, "n": len(body)}).encode() + b"\n" + body


def data(content: bytes, at: int = 0, name: str = "a/b.csv") -> bytes:
    """A frame with bytes of a file."""
    return frame("data", zlib.compress(content, 1), r=0, p=name, at=at)


def checkpoints(listed: object) -> bytes:
    """A frame with the checkpoints of a folder."""
    return frame("checkpoints", zlib.compress(json.dumps(listed).encode()), r=0, p="runs")


STREAM = MARKER + b"".join(
    [
        frame("hello", time=1.5e9),
        frame("root", r=1, kind="folder", why=""),
        data(b"x,y\n1,2\n"),
        data(b"\xff\0" * 3, at=8),
        frame("complete", r=0, p="a/b.csv", m=1.4e9),
        frame("complete", r=0, p="a.db", m=1.4e9, wal=True),
        checkpoints([{"p": "checkpoint-5", "m": 1.4e9, "folder": True}]),
        checkpoints([]),
        frame("gone", r=0, p="a/b.csv"),
        frame("trouble", r=0, p="c", why="permission denied"),
        frame("swept"),
        frame("beat"),
    ]
)
FRAMES: list[Frame] = [
    Hello(1.5e9),
    RootState(1, "folder", ""),
    FileData(0, "a/b.csv", 0, b"x,y\n1,2\n"),
    FileData(0, "a/b.csv", 8, b"\xff\0" * 3),
    FileComplete(0, "a/b.csv", 1.4e9, None),
    FileComplete(0, "a.db", 1.4e9, True),
    CheckpointList(0, "runs", (RemoteCheckpoint("checkpoint-5", 1.4e9, True),)),
    CheckpointList(0, "runs", ()),
    Gone(0, "a/b.csv"),
    Trouble(0, "c", "permission denied"),
    Swept(),
    KeepAlive(),
]


def read(*parts: bytes) -> list[Frame]:
    """The frames in some bytes, with two roots."""
    reader = FrameReader(2)
    return [each for part in parts for each in reader.feed(part)]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30), st.binary(max_size=200))
def test_frames_do_not_depend_on_how_bytes_are_cut(cuts: list[int], banner: bytes) -> None:
    """Whatever a login script printed before."""
    stream = banner.replace(b"ppo", b"") + STREAM
    places = [0, *sorted(cuts), len(stream)]
    parts = [stream[a:b] for a, b in pairwise(places)]
    assert read(*parts) == FRAMES


def test_single_bytes_give_the_same_frames() -> None:
    """The finest cut of all."""
    assert read(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == FRAMES


def test_what_comes_before_the_frames_is_kept() -> None:
    """To be shown if nothing follows."""
    reader = FrameReader(1)
    assert list(reader.feed(b"Welcome to node3\n")) == []
    assert (reader.banner, reader.has_begun) == (b"Welcome to node3\n", False)
    assert list(reader.feed(STREAM[:10])) == []
    assert (reader.banner, reader.has_begun) == (b"Welcome to node3\n", True)


@pytest.mark.parametrize(
    "name",
    [
        *("../x.csv", "a/../../x.csv", "/etc/x.csv", "a//x.csv", "./x.csv", "a/", "..", "a\0.csv"),
        *("x" * 256, "/".join(["x" * 200] * 16), "a/" * 60 + "x.csv", "\ud800.csv"),
    ],
)
@pytest.mark.parametrize("kind", ["data", "complete", "gone", "checkpoints"])
def test_a_path_that_leads_elsewhere_is_refused(kind: str, name: str) -> None:
    """Up, to the root, or to what no file system holds."""
    body = zlib.compress(b"") if kind == "data" else b""
    with pytest.raises(ProtocolError):
        read(MARKER, frame(kind, body, r=0, p=name, at=0, m=1.0))


@pytest.mark.parametrize(
    "wrong",
    [
        b"not json\n",
        b"[]\n",
        b"[" * 60_000 + b"\n",
        b'{"t": "beat"}\n',
        b'{"t": "beat", "n": -1}\n',
        b'{"t": "beat", "n": 1e3}\n',
        b'{"t": "beat", "n": true}\n',
        b'{"t": "beat", "n": 99999999}\n',
        b'{"t": "beat", "n": ' + b"9" * 5000 + b"}\n",
        b"x" * MAX_HEADER_BYTES,
        frame("open", r=0, p="x"),
        frame("hello", time="now"),
        frame("hello", time=float("nan")),
        frame("hello", time=10**400),
        frame("gone", r=2, p="x"),
        frame("gone", r=0, p=7),
        frame("data", b"no zlib", r=0, p="x.csv", at=0),
        frame("data", zlib.compress(b"x")[:-1], r=0, p="x.csv", at=0),
        frame("data", zlib.compress(b"x") + b"more", r=0, p="x.csv", at=0),
        frame("data", zlib.compress(b"x"), r=0, p="x.csv", at=-1),
        frame("complete", r=0, p="x.csv", m=-5.0),
        checkpoints([{"p": "../checkpoint-5", "m": 1.0}]),
        checkpoints([{"p": "runs/checkpoint-5", "m": 1.0}]),
        checkpoints([{"p": ".bashrc", "m": 1.0}]),
        checkpoints([{"p": "checkpoint-5", "m": "now"}]),
        checkpoints([{"p": f"checkpoint-{n}", "m": 1.0} for n in range(MOST_CHECKPOINTS + 1)]),
        checkpoints(["checkpoint-5"]),
        checkpoints({"p": "checkpoint-5", "m": 1.0}),
        frame("checkpoints", zlib.compress(b"["), r=0, p=""),
    ],
)
def test_what_the_script_never_sends_is_refused(wrong: bytes) -> None:
    """At once, and with nothing but our own error."""
    with pytest.raises(ProtocolError):
        read(MARKER, wrong)


def test_a_frame_holds_a_whole_chunk_and_no_more() -> None:
    """A few kilobytes may stand for gigabytes: unpacking stops at the size of a chunk."""
    full = bytes(CHUNK_BYTES)
    assert read(MARKER, data(full)) == [FileData(0, "a/b.csv", 0, full)]
    with pytest.raises(ProtocolError, match="too much"):
        read(MARKER, data(full + b"\0"))
    with pytest.raises(ProtocolError, match="too much"):
        read(MARKER, data(bytes(200 << 20)))


def test_endless_text_in_place_of_frames_is_refused() -> None:
    """Only so much of it is kept."""
    reader = FrameReader(1)
    with pytest.raises(ProtocolError):
        for _ in range(2 * MAX_BANNER_BYTES // 1000):
            list(reader.feed(b"y\n" * 500))
    assert len(reader.banner) <= MAX_BANNER_BYTES


@given(st.binary(max_size=300))
def test_any_bytes_give_frames_or_our_own_error(noise: bytes) -> None:
    """Nothing else is raised."""
    try:
        read(MARKER, noise)
    except ProtocolError:
        return


def test_a_request_is_one_line() -> None:
    """Paths with any character in them are data, never part of a command."""
    roots = ["/a 'b\"\n$(c)", "~/d"]
    line = Request(roots, 1000, 10, have=[HaveFile(0, "x.csv", 5, 7)]).encode()
    assert line.count(b"\n") == 1
    request = json.loads(line)
    assert request["roots"] == roots
    assert request["have"] == [[0, "x.csv", 5, 7]]
