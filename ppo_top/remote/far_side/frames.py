"""Frames as they are sent: a line of JSON, then bytes (`ppo_top.remote.protocol` reads them)."""

import json
import os
import signal
import time
from typing import Any, BinaryIO, Set, Tuple

MARKER = b"ppo-top-1\n"
"""Begins the output, after whatever a login script prints."""
CHUNK_BYTES = 1 << 20
"""Most bytes of a file in one frame."""
MOST_CHECKPOINTS = 1000
"""Of a folder: a list of them fits into a frame."""
BEAT_S = 5.0
SILENCE_S = 60
"""A process that nobody listens or speaks to for so long ends."""
MOST_TROUBLES = 1000


class FrameWriter:
    """Writes frames, each at once."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.next_beat = time.monotonic() + BEAT_S
        self.reported: Set[Tuple[int, str, str]] = set()

    def send(self, frame: str, body: bytes = b"", **fields: Any) -> None:
        """Send a frame; a write that nobody takes for a minute ends the process."""
        fields.update(t=frame, n=len(body))
        if "p" in fields:
            fields["p"] = to_wire(fields["p"])
        signal.alarm(SILENCE_S)
        self.out.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n" + body)
        if not body:
            self.out.flush()
        signal.alarm(0)

    def beat(self) -> None:
        """Say from time to time that all is well."""
        if time.monotonic() >= self.next_beat:
            self.next_beat = time.monotonic() + BEAT_S
            self.send("beat")

    def report(self, root: int, name: str, why: str) -> None:
        """Send once why a path is left out."""
        if (root, name, why) not in self.reported and len(self.reported) < MOST_TROUBLES:
            self.reported.add((root, name, why))
            self.send("trouble", r=root, p=name, why=why)


def sent_time(mtime: float) -> float:
    """A modification time as it is sent; file systems may hold any number."""
    return min(max(mtime, 0.0), 1e10)


def from_wire(text: str) -> str:
    """A path of the request as this system writes it, whatever its locale."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def to_wire(path: str) -> str:
    """A path of this system as it is sent."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")
