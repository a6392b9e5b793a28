"""Reads what is new in a file: appended, truncated, replaced, rewritten, or gone.

Nothing is kept open between reads, so a thousand runs cost no descriptors and a deleted file frees
its space. Fingerprints (of the first bytes, and of those before the offset) show whether what was
read is still the beginning of the file. So a copy that grew under another inode (rsync, a writer
that saves to a new name) is the same log, and one that was truncated and has already grown past the
old offset is not.
"""

# ruff: noqa: PTH116
# Paths stay strings here: an object for each would cost more than the system call.

from __future__ import annotations

import errno
import os
import stat
import zlib

from ppo_top.model.named_tuple import NamedTuple

MAX_READ_BYTES = 4 << 20
"""The most that is read at once."""
HEAD_FINGERPRINT_BYTES = 4096
"""How many first bytes are remembered to recognise a file."""
LAST_FINGERPRINT_BYTES = 256
"""How many bytes before the offset are remembered."""
MAX_CHECKSUM_BYTES = 1 << 20
"""A rewritten file up to this size is compared as a whole (by checksum)."""
MIN_HOLE_BYTES = 4096
"""This many zero bytes at the end may be space for bytes that have not arrived yet."""
GAP_ZEROS = bytes(512)
"""This many zeros before data may be a page that a network file system has not delivered yet."""
MAX_GAPS = 8

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

FileStamp = tuple[int, ...]
"""Size, modification time (ns), inode and device: whether a file may have changed."""


class TailChunk(NamedTuple):
    """New bytes of a file; `reset`: they are its first ones, whatever was read before."""

    data: bytes
    reset: bool
    more: bool


EMPTY_CHUNK = TailChunk(b"", False, False)


class Tail:
    """Follows one file by its path; it is open only while it is read.

    `offset` is where reading stopped; `trailing_zeros` the number of zero bytes after it that are
    held back (they may be space for bytes to come); `size`, `mtime` and `stamp` are those of the
    file as last seen. `rewritten`: compare what was read before more closely, each time. `problem`
    says why the file cannot be read; empty if it can.
    """

    __slots__ = (
        "_crc", "_gaps", "_last_bytes", "_last_stamp", "_reread_requested", "head", "mtime",
        "offset", "path", "problem", "read_stamp", "rewritten", "size", "stamp", "trailing_zeros",
    )  # fmt: skip

    def __init__(self, path: str, rewritten: bool = False) -> None:
        self.path = path
        self.rewritten = rewritten
        self.size = 0
        self.mtime = 0.0
        self.problem = ""
        self.stamp: FileStamp = ()
        self.read_stamp: FileStamp = ()
        """What the file was like when it had been read to its end; empty before."""
        self._last_stamp: FileStamp = ()
        """What it was like when any of it was read last."""
        self._reread_requested = False
        self._reset()

    def _reset(self) -> None:
        self.offset = 0
        self.trailing_zeros = 0
        self._crc = 0
        self.head = b""
        """The first bytes that were read."""
        self._last_bytes = b""
        self._gaps: list[int] = []

    def reread(self) -> None:
        """Read from the beginning again; the next chunk is a reset."""
        self._reread_requested = True

    def forget_content(self) -> None:
        """Keep no bytes of a file that is only read again from its beginning."""
        self.head = self._last_bytes = b""

    def read_head(self, count: int) -> bytes:
        """The first `count` bytes of the file now; empty if it is gone."""
        try:
            handle = os.open(self.path, _FLAGS)
        except OSError:
            return b""
        try:
            return _pread(handle, count, 0)
        except OSError:
            return b""
        finally:
            os.close(handle)

    @property
    def has_unread(self) -> bool:
        """Whether the file, as last seen, holds more than was read."""
        return self.offset + self.trailing_zeros < self.size

    def skip(self, stamp: FileStamp) -> None:
        """Take a file with this stamp as read; if it changes it is read from its beginning."""
        self.read_stamp = stamp
        self._reread_requested = True

    def has_changed(self) -> bool:
        """One stat: whether the file changed since it was read; False if it is missing."""
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        self._update_stat(found)
        return self.stamp != self.read_stamp and stat.S_ISREG(found.st_mode)

    def _update_stat(self, found: os.stat_result) -> None:
        self.size, self.mtime = found.st_size, found.st_mtime
        self.stamp = _stamp(found)

    def read_new_bytes(self, limit: int = MAX_READ_BYTES) -> TailChunk:
        """The next bytes, at most `limit`."""
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):  # opening a device can have effects
                self.problem = "not a regular file"
                return EMPTY_CHUNK
            handle = os.open(self.path, _FLAGS)
        except OSError as error:
            self.problem = "" if error.errno == errno.ENOENT else describe_read_error(error)
            return EMPTY_CHUNK
        try:
            return self._read_from(handle, min(limit, MAX_READ_BYTES))
        except OSError as error:
            self.problem = describe_read_error(error)
            return EMPTY_CHUNK
        finally:
            os.close(handle)

    def _read_from(self, handle: int, limit: int) -> TailChunk:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return EMPTY_CHUNK
        self.problem = ""
        self._update_stat(found)
        reset = self._reread_requested or not self._continues(handle, found)
        self._reread_requested = False
        if reset:
            self._reset()
        if self._last_stamp[1:] != self.stamp[1:]:
            self.trailing_zeros = 0  # the missing bytes may have arrived
        self._last_stamp = self.stamp
        data = self._next_bytes(handle, limit)
        done = self.offset + self.trailing_zeros >= found.st_size
        if done:
            self.read_stamp = self.stamp
        return TailChunk(data, reset, not done)

    def _continues(self, handle: int, found: os.stat_result) -> bool:
        """Whether the file still begins with the bytes that were read before."""
        if not self.offset:
            return True
        if found.st_size < self.offset or any(_pread(handle, 1, at) != b"\0" for at in self._gaps):
            return False
        if self.rewritten and self.offset <= MAX_CHECKSUM_BYTES:
            return zlib.crc32(_pread(handle, self.offset, 0)) == self._crc
        new_inode = self._last_stamp[2:] != self.stamp[2:]
        suspicious = new_inode or self.rewritten or found.st_size == self.offset
        if suspicious and _pread(handle, len(self.head), 0) != self.head:
            return False
        last = self._last_bytes
        return _pread(handle, len(last), self.offset - len(last)) == last

    def _next_bytes(self, handle: int, limit: int) -> bytes:
        """The bytes after the offset, without a long run of zeros at the end of the file."""
        start = self.offset + self.trailing_zeros
        if self._is_only_hole(handle, start):
            self.trailing_zeros = self.size - self.offset
            return b""
        data = _pread(handle, limit, start)
        if self.trailing_zeros and not data.strip(b"\0"):
            self.trailing_zeros += len(data)
            return b""
        if self.trailing_zeros:  # data follows after all, so the zeros belong to the log
            data = bytes(min(self.trailing_zeros, limit))
            self.trailing_zeros -= len(data)
        else:
            data = self._hold_back_zeros(data)
        self._remember(data)
        return data

    def _is_only_hole(self, handle: int, start: int) -> bool:
        """Whether the file system says that no data follows."""
        if self.size - start < MIN_HOLE_BYTES:
            return False
        try:
            os.lseek(handle, start, os.SEEK_DATA)
        except OSError as error:
            return error.errno == errno.ENXIO
        return False

    def _hold_back_zeros(self, data: bytes) -> bytes:
        """Hold back the zeros at the end if there are many."""
        if data[-MIN_HOLE_BYTES:].strip(b"\0") or len(data) < MIN_HOLE_BYTES:
            return data
        kept = data.rstrip(b"\0")
        self.trailing_zeros = len(data) - len(kept)
        return kept

    def _remember(self, data: bytes) -> None:
        gap = data.find(GAP_ZEROS)
        if gap >= 0 and len(self._gaps) < MAX_GAPS:
            self._gaps.append(self.offset + gap)
        self.offset += len(data)
        if len(self.head) < HEAD_FINGERPRINT_BYTES:
            self.head += data[: HEAD_FINGERPRINT_BYTES - len(self.head)]
        last = self._last_bytes + data[-LAST_FINGERPRINT_BYTES:]
        self._last_bytes = last[-LAST_FINGERPRINT_BYTES:]
        if self.offset <= MAX_CHECKSUM_BYTES:
            self._crc = zlib.crc32(data, self._crc)


def _stamp(found: os.stat_result) -> FileStamp:
    return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev


def file_stamp(path: str) -> FileStamp:
    """The stamp of a file; empty if there is none."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return ()


def _pread(handle: int, count: int, offset: int) -> bytes:
    """Exactly `count` bytes unless the file ends first."""
    data = os.pread(handle, count, offset)
    while data and len(data) < count:  # signals and networks can cut a read short
        rest = os.pread(handle, count - len(data), offset + len(data))
        if not rest:
            break
        data += rest
    return data


def describe_read_error(error: OSError) -> str:
    """Why a file cannot be read, to follow its name and a colon."""
    return f"cannot read: {(error.strerror or str(error)).lower()}"
