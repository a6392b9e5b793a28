"""What a file gained since the last look: appended, cut short, replaced, rewritten, or gone.

Nothing is kept open between two looks, so a thousand runs cost no descriptors and a deleted file
frees its space. Whether the bytes that were read are still the beginning of the file is told by
fingerprints: the first bytes and those before the place where reading stopped. A copy that grew
under another inode (rsync, a writer that saves to a new name) is thereby the same log, and one that
was cut and has already grown past the old place is not.
"""

# ruff: noqa: PTH116
# Paths stay text here: an object for each would cost more than the system call.

from __future__ import annotations

import errno
import os
import stat
import zlib
from typing import NamedTuple

PIECE = 4 << 20
"""At most so many bytes are read at once."""
HEAD = 4096
"""So many first bytes are remembered to recognise a file."""
LAST = 256
"""So many bytes before the place where reading stopped are remembered."""
WHOLE = 1 << 20
"""A rewritten file up to this size is compared byte for byte (by checksum)."""
HOLE = 4096
"""A run of this many zero bytes at the end may be room for bytes that have not arrived yet."""

GAP = bytes(512)
"""So many zeros before data may be a page that a network file system has not delivered yet."""
MOST_GAPS = 8

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


Stamp = tuple[int, ...]
"""Size, time of the last change (ns), inode and device: whether a file may be another one now."""


class Piece(NamedTuple):
    """New bytes of a file; `reset` says that they are its first ones, whatever was read before."""

    data: bytes
    reset: bool
    more: bool


NOTHING = Piece(b"", False, False)


class Tail:
    """Follows one file by its path; opened only for reading, only while it is read.

    `offset` is the place where reading stopped, `zeros` the number of zero bytes after it that are
    held back (they may be room for bytes to come), `size` and `mtime` are the file's own as last
    seen, `stamp` what tells whether it changed. `rewritten` asks for a closer look at what was read
    before, each time. `trouble` says in words why the file cannot be read, and is empty while it
    can.
    """

    __slots__ = (
        "_again", "_crc", "_gaps", "_head", "_last", "_reading", "_seen", "mtime", "offset", "path",
        "rewritten", "size", "stamp", "trouble", "zeros",
    )  # fmt: skip

    def __init__(self, path: str, rewritten: bool = False) -> None:
        self.path = path
        self.rewritten = rewritten
        self.size = 0
        self.mtime = 0.0
        self.trouble = ""
        self.stamp: Stamp = ()
        self._seen: Stamp = ()
        self._reading: Stamp = ()
        self._again = False
        self._forget()

    def _forget(self) -> None:
        """Stand at the beginning again."""
        self.offset = 0
        self.zeros = 0
        self._crc = 0
        self._head = b""
        self._last = b""
        self._gaps: list[int] = []

    @property
    def head(self) -> bytes:
        """The first bytes that were read."""
        return self._head

    def again(self) -> None:
        """Read from the beginning once more; the next piece is a reset."""
        self._again = True

    def edges(self, count: int) -> tuple[bytes, bytes]:
        """The first and the last `count` bytes that the file has now; empty where it is gone."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return b"", b""
        try:
            last = max(0, os.fstat(handle).st_size - count)
            return _pread(handle, count, 0), _pread(handle, count, last)
        except OSError:
            return b"", b""
        finally:
            os.close(handle)

    def changed(self) -> bool:
        """One stat: whether the file is another than when it was read; False if it is missing."""
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        self._look(found)
        return self.stamp != self._seen and stat.S_ISREG(found.st_mode)

    def _look(self, found: os.stat_result) -> None:
        self.size, self.mtime = found.st_size, found.st_mtime
        self.stamp = found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev

    def read(self, limit: int = PIECE) -> Piece:
        """The next bytes, at most `limit`."""
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):  # opening a device can have effects
                self.trouble = "is not a regular file"
                return NOTHING
            handle = os.open(self.path, _FLAGS)
        except OSError as error:
            self.trouble = "" if error.errno == errno.ENOENT else words(error)
            return NOTHING
        try:
            return self._read(handle, min(limit, PIECE))
        except OSError as error:
            self.trouble = words(error)
            return NOTHING
        finally:
            os.close(handle)

    def _read(self, handle: int, limit: int) -> Piece:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return NOTHING
        self.trouble = ""
        self._look(found)
        reset = self._again or not self._continues(handle, found)
        self._again = False
        if reset:
            self._forget()
        if self._reading[1:] != self.stamp[1:]:
            self.zeros = 0  # what was not there yet may be there now
        self._reading = self.stamp
        data = self._next(handle, limit)
        done = self.offset + self.zeros >= found.st_size
        if done:
            self._seen = self.stamp
        return Piece(data, reset, not done)

    def _continues(self, handle: int, found: os.stat_result) -> bool:
        """Whether the file still begins with the bytes that were read."""
        if not self.offset:
            return True
        if found.st_size < self.offset or any(_pread(handle, 1, at) != b"\0" for at in self._gaps):
            return False
        if self.rewritten and self.offset <= WHOLE:
            return zlib.crc32(_pread(handle, self.offset, 0)) == self._crc
        other = self._reading[2:] != self.stamp[2:]
        strange = other or self.rewritten or found.st_size == self.offset
        if strange and _pread(handle, len(self._head), 0) != self._head:
            return False
        return _pread(handle, len(self._last), self.offset - len(self._last)) == self._last

    def _next(self, handle: int, limit: int) -> bytes:
        """The bytes after the offset, without a long run of zeros at the end of the file."""
        start = self.offset + self.zeros
        if self._only_hole(handle, start):
            self.zeros = self.size - self.offset
            return b""
        data = _pread(handle, limit, start)
        if self.zeros and not data.strip(b"\0"):
            self.zeros += len(data)
            return b""
        if self.zeros:  # data follows after all: the zeros are part of the log
            data = bytes(min(self.zeros, limit))
            self.zeros -= len(data)
        else:
            data = self._without_hole(data)
        self._take(data)
        return data

    def _only_hole(self, handle: int, start: int) -> bool:
        """Whether the file system itself says that no data follows."""
        if self.size - start < HOLE:
            return False
        try:
            os.lseek(handle, start, os.SEEK_DATA)
        except OSError as error:
            return error.errno == errno.ENXIO
        return False

    def _without_hole(self, data: bytes) -> bytes:
        """Hold back zeros at the end of the piece if they are many."""
        if data[-HOLE:].strip(b"\0") or len(data) < HOLE:
            return data
        kept = data.rstrip(b"\0")
        self.zeros = len(data) - len(kept)
        return kept

    def _take(self, data: bytes) -> None:
        """Remember what was given."""
        gap = data.find(GAP)
        if gap >= 0 and len(self._gaps) < MOST_GAPS:
            self._gaps.append(self.offset + gap)
        self.offset += len(data)
        if len(self._head) < HEAD:
            self._head += data[: HEAD - len(self._head)]
        self._last = (self._last + data[-LAST:])[-LAST:]
        if self.offset <= WHOLE:
            self._crc = zlib.crc32(data, self._crc)


def _pread(handle: int, count: int, offset: int) -> bytes:
    """Exactly `count` bytes unless the file ends before."""
    data = os.pread(handle, count, offset)
    while data and len(data) < count:  # a signal or a network can cut a read short
        rest = os.pread(handle, count - len(data), offset + len(data))
        if not rest:
            break
        data += rest
    return data


def words(error: OSError) -> str:
    """What is wrong with a file, as the end of a sentence that begins with its name."""
    return f"cannot be read: {(error.strerror or str(error)).lower()}"
