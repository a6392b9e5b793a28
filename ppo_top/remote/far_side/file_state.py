"""What a file is recognised by, so that only what it gained is sent."""

# ruff: noqa: PTH116
# Paths stay strings here: an object for each would cost more than the system call.

import os
import re
import time
import zlib
from typing import BinaryIO, Optional, Tuple

from ppo_top.remote.far_side.frames import SILENCE_S

EDGE_BYTES = 4096
"""Bytes at the beginning of a file, and before its offset, that show whether it only grew."""
REWRITTEN = re.compile(r"\.(json|csv|tsv|npz|ipynb|ya?ml)$")
"""Files that writers replace or change in the middle: all their bytes are compared."""
MOST_COMPARED_BYTES = 1 << 20
"""Larger ones are compared at their edges."""
FarStamp = Tuple[int, int, int]
"""Inode, size and modification time (ns): whether a file may have changed."""


class FarLog:
    """A file: how many of its bytes were sent, and how they are recognised."""

    def __init__(self, root: int, name: str, path: str) -> None:
        self.root, self.name, self.path = root, name, path
        self.offset = 0
        self.check = 0
        self.room = 0
        self.stamp: Optional[FarStamp] = None
        self.wal_stamp: Optional[FarStamp] = None
        self.mtime = 0.0
        self.next_look = 0.0


def is_compared(path: str, size: int) -> bool:
    """Whether all bytes of a file are compared, not only the edges."""
    return size <= MOST_COMPARED_BYTES and REWRITTEN.search(path) is not None


def checksum(file: BinaryIO, path: str, size: int) -> int:
    """What the first `size` bytes of a file are recognised by."""
    if is_compared(path, size):
        file.seek(0)
        return zlib.crc32(file.read(size))
    edge = min(size, EDGE_BYTES)
    file.seek(0)
    head = zlib.crc32(file.read(edge))
    file.seek(size - edge)
    return zlib.crc32(file.read(edge), head)


def stamp_of(found: os.stat_result) -> FarStamp:
    """The stamp of a file."""
    return found.st_ino, found.st_size, found.st_mtime_ns


def stamp_at(path: str) -> Optional[FarStamp]:
    """The stamp of a path; None if there is nothing."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def is_in_transaction(path: str) -> bool:
    """Whether a database without a write-ahead log is just being changed, by its journal."""
    try:
        with open(path + "-journal", "rb") as file:
            is_young = time.time() - os.fstat(file.fileno()).st_mtime < SILENCE_S
            return is_young and file.read(1) not in (b"", b"\0")
    except OSError:
        return False
