"""What goes over the connection: a request there, then frames back; no input or output here.

A frame is a line of JSON of at most 64 KiB, which says in `t` what it is and in `n` how many bytes
follow it. The far side is not trusted: every path, size and number is checked before it is used.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppo_top.catalogue.checkpoints import any_checkpoint_name
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.file_names import ANY_FILE_NAME
from ppo_top.paths import NON_LOG_SUFFIXES, NOTEBOOK_SUFFIX, SKIPPED_FOLDERS
from ppo_top.remote.far_side.frames import CHUNK_BYTES, MARKER, MOST_CHECKPOINTS

MAX_HEADER_BYTES = 1 << 16
MAX_BODY_BYTES = CHUNK_BYTES + (1 << 16)
"""Of compressed bytes, which may be slightly more than the plain ones."""
MAX_BANNER_BYTES = 1 << 16
"""What a login script may print before the first frame."""
MAX_NAME_BYTES, MAX_PATH_BYTES, MAX_PARTS = 255, 3000, 48
MAX_TIME = 1e11
"""In unix seconds."""
WAL_SUFFIX = "-wal"
"""Of the write-ahead log of a database."""


class ProtocolError(Exception):
    """The other machine sent what our script never sends."""


class HaveFile(NamedTuple):
    """A file that is here already: number of its path, name below it, size, `checksum` of that."""

    root: int
    name: str
    size: int
    check: int


class Request(NamedTuple):
    """What the far side is asked for.

    `roots` are paths there, `space` the most bytes of all files together. With `once` it ends when
    everything was sent.
    """

    roots: Sequence[str]
    space: int
    most_files: int
    once: bool = False
    notebooks: bool = False
    have: Sequence[HaveFile] = ()

    def encode(self) -> bytes:
        """The line that the script reads."""
        other_suffixes = NON_LOG_SUFFIXES - ({NOTEBOOK_SUFFIX[1:]} if self.notebooks else set())
        pattern = ANY_FILE_NAME + (rf"|\{NOTEBOOK_SUFFIX}$" if self.notebooks else "")
        names = {
            "wanted": pattern,
            "other_suffixes": sorted(other_suffixes),
            "skipped_folders": sorted(SKIPPED_FOLDERS),
            "checkpoint": any_checkpoint_name(),
        }
        return json.dumps({**self._asdict(), **names}).encode() + b"\n"


class Hello(NamedTuple):
    """The script runs; `time` is its clock (unix seconds)."""

    time: float


class RootState(NamedTuple):
    """A path is a `folder`, a `file` or nothing (""); `why` it cannot be read, empty if it can."""

    root: int
    kind: str
    why: str


class FileData(NamedTuple):
    """Bytes of a file; those at 0 begin it anew."""

    root: int
    name: str
    at: int
    data: bytes


class FileComplete(NamedTuple):
    """All that a file holds now was sent; `mtime` by the clock there (unix seconds).

    `has_wal`: whether a database has a write-ahead log; None for other files.
    """

    root: int
    name: str
    mtime: float
    has_wal: bool | None


class RemoteCheckpoint(NamedTuple):
    """A checkpoint there: its name in its folder, `mtime` as in `FileComplete`."""

    name: str
    mtime: float
    is_folder: bool


class CheckpointList(NamedTuple):
    """All checkpoints in a folder below a root; their content is not sent."""

    root: int
    folder: str
    checkpoints: tuple[RemoteCheckpoint, ...]


class Gone(NamedTuple):
    """A file no longer exists."""

    root: int
    name: str


class Trouble(NamedTuple):
    """Why something is left out."""

    root: int
    name: str
    why: str


class Swept(NamedTuple):
    """Everything that was there has been sent."""


class KeepAlive(NamedTuple):
    """There is nothing new."""


Frame = (
    Hello
    | RootState
    | FileData
    | FileComplete
    | CheckpointList
    | Gone
    | Trouble
    | Swept
    | KeepAlive
)


class FrameReader:
    """Turns the bytes of a connection, cut anywhere, into frames.

    `banner` is what came before the first frame, `has_begun` whether one may come.
    """

    def __init__(self, root_count: int) -> None:
        self._root_count = root_count
        self._buffer = bytearray()
        self._header: Mapping[str, Any] | None = None
        self.banner = b""
        self.has_begun = False

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes; raises `ProtocolError`."""
        self._buffer += data
        if not self.has_begun and not self._find_marker():
            return
        while True:
            if self._header is None:
                line = self._take_line()
                if line is None:
                    return
                self._header = _parsed_header(line)
            size = _integer(self._header, "n", MAX_BODY_BYTES)
            if len(self._buffer) < size:
                return
            body = bytes(self._buffer[:size])
            del self._buffer[:size]
            header, self._header = self._header, None
            yield self._frame(header, body)

    def _find_marker(self) -> bool:
        place = self._buffer.find(MARKER)
        self.banner = bytes(self._buffer[: place if place >= 0 else MAX_BANNER_BYTES])
        if place < 0:
            if len(self._buffer) > MAX_BANNER_BYTES:
                raise ProtocolError("something else is printed there")
            return False
        del self._buffer[: place + len(MARKER)]
        self.has_begun = True
        return True

    def _take_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", 0, MAX_HEADER_BYTES)
        if end < 0:
            if len(self._buffer) >= MAX_HEADER_BYTES:
                raise ProtocolError("a frame without an end")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _frame(self, header: Mapping[str, Any], body: bytes) -> Frame:
        kind = header.get("t")
        if kind == "hello":
            return Hello(_number(header, "time"))
        if kind in ("swept", "beat"):
            return Swept() if kind == "swept" else KeepAlive()
        root = _integer(header, "r", self._root_count - 1)
        if kind == "root":
            return RootState(root, _text(header, "kind"), _text(header, "why"))
        if kind == "trouble":
            return Trouble(root, _text(header, "p"), _text(header, "why"))
        name = checked_name(_text(header, "p"))
        if kind == "data":
            return FileData(root, name, _integer(header, "at", 1 << 62), _unpacked(body))
        if kind == "complete":
            wal = header.get("wal")
            has_wal = None if wal is None else bool(wal)
            return FileComplete(root, name, _number(header, "m"), has_wal)
        if kind == "checkpoints":
            return CheckpointList(root, name, _checkpoints(body))
        if kind == "gone":
            return Gone(root, name)
        raise ProtocolError("a frame of an unknown kind")


def checked_name(name: str) -> str:
    """A path below a root, which cannot lead out of it; empty for the root itself."""
    parts = name.split("/") if name else []
    try:
        sizes = [len(part.encode("utf-8", "surrogateescape")) for part in parts]
    except UnicodeEncodeError:
        raise ProtocolError("a path that no system has") from None
    is_sound = (
        not {"", ".", ".."}.intersection(parts)
        and "\0" not in name
        and len(parts) <= MAX_PARTS
        and sum(sizes) <= MAX_PATH_BYTES
        and all(size <= MAX_NAME_BYTES for size in sizes)
    )
    if not is_sound:
        raise ProtocolError("a path that leads elsewhere")
    return name


def _parsed_header(line: bytes) -> Mapping[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise ProtocolError("a frame that is none")
    return header


def _integer(header: Mapping[str, Any], field: str, most: int) -> int:
    value = header.get(field)
    if type(value) is not int or not 0 <= value <= most:
        raise ProtocolError(f"a frame with a wrong `{field}`")
    return value


def _number(header: Mapping[str, Any], field: str) -> float:
    value = header.get(field)
    if isinstance(value, int | float) and 0 <= value < MAX_TIME:
        return float(value)
    raise ProtocolError(f"a frame with a wrong `{field}`")


def _text(header: Mapping[str, Any], field: str) -> str:
    value = header.get(field)
    if not isinstance(value, str):
        raise ProtocolError(f"a frame with a wrong `{field}`")
    return value


def _checkpoints(body: bytes) -> tuple[RemoteCheckpoint, ...]:
    try:
        entries = json.loads(_unpacked(body))
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or len(entries) > MOST_CHECKPOINTS:
        raise ProtocolError("a list of checkpoints that is none")
    return tuple(map(_checkpoint, entries))


def _checkpoint(entry: object) -> RemoteCheckpoint:
    fields = entry if isinstance(entry, dict) else {}
    name = checked_name(_text(fields, "p"))
    if "/" in name or not re.fullmatch(any_checkpoint_name(), name):
        raise ProtocolError("a checkpoint that was not asked for")
    return RemoteCheckpoint(name, _number(fields, "m"), fields.get("folder") is True)


def _unpacked(body: bytes) -> bytes:
    """The bytes of a file, not more than a frame may hold."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(body, CHUNK_BYTES)
        more = unpacker.decompress(unpacker.unconsumed_tail, 1)
    except zlib.error:
        raise ProtocolError("bytes that cannot be unpacked") from None
    if more or not unpacker.eof or unpacker.unused_data:
        raise ProtocolError("a frame that unpacks to too much")
    return data
