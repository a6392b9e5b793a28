"""The bytes of a log as its parser is given them: decompressed, and ended where writing stopped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ppo_top.files.tail import Tail, TailChunk
from ppo_top.parsers.file_names import compression_of

if TYPE_CHECKING:
    from ppo_top.files.reading.decompress import Decompressor

QUIET_S = 60.0
"""After as many seconds without a byte, a last line without an end is taken for complete."""
_BUFFER_BYTES = 4096
"""A file of a multiple of this size ends where a buffer did, in the middle of a line."""


class LogBytes:
    """The bytes of one file, read on from where reading stopped.

    `more` says whether there are more than were read. A parser that was told of an end (`end_here`)
    is given the whole file again should it go on after all.
    """

    def __init__(self, path: str) -> None:
        self.tail = Tail(path, rewritten=True)  # until its format says otherwise
        self.more = False
        self._decompressor: Decompressor | None = None
        self._has_begun = self._has_open_line = self._has_ended_early = False

    @property
    def is_compressed(self) -> bool:
        """Whether the file was seen to be compressed."""
        return self._decompressor is not None

    def read(self, size: int) -> TailChunk:
        """The next bytes; of a compressed file those that were compressed."""
        if self._has_ended_early and self.tail.has_changed():
            self.tail.reread()
        chunk = self._unpack(size)
        self.more = chunk.more
        if chunk.reset:
            self._has_ended_early = False
        if chunk.data:
            self._has_begun = True
            self._has_open_line = not chunk.data.endswith((b"\n", b"\r"))
        return chunk

    def _unpack(self, size: int) -> TailChunk:
        packed = self._decompressor
        if packed is not None and packed.has_more:
            data = packed.read(size)
            return TailChunk(data, False, self.tail.has_unread or packed.has_more)
        chunk = self.tail.read_new_bytes(size)
        if chunk.reset or not (packed or self._has_begun):
            packed = self._decompressor = self._find_decompressor()
        if packed is None:
            return chunk
        packed.add_bytes(chunk.data)
        return TailChunk(packed.read(size), chunk.reset, chunk.more or packed.has_more)

    def _find_decompressor(self) -> Decompressor | None:
        """What decompresses the file; loaded only where its name says that it is compressed."""
        if not compression_of(self.tail.path):
            return None
        from ppo_top.files.reading.decompress import decompressor_for

        return decompressor_for(self.tail.path, self.tail.head)

    def ends_in_a_quiet_line(self) -> bool:
        """Whether the file ends without a line end, and has done so for a while."""
        if not self._has_open_line:
            return False
        return time.time() - self.tail.mtime > QUIET_S and self.tail.size % _BUFFER_BYTES != 0

    def end_here(self) -> None:
        """The parser is told that this is the end."""
        self._has_open_line, self._has_ended_early = False, True

    def pop_problem(self) -> str:
        """Why decompressing stopped, when asked for the first time; empty if it did not."""
        return self._decompressor.pop_problem() if self._decompressor is not None else ""

    def finish(self) -> str:
        """No more will come: what is wrong with the end of the file, if anything."""
        self.tail.forget_content()
        if self._decompressor is not None:
            return self._decompressor.finish()
        zeros = self.tail.trailing_zeros
        return f"{zeros:,} zero bytes at the end: never written" if zeros else ""

    def reject(self) -> None:
        """It is no log; what is wrong with the file may be the reason."""
        self.more = False
        if self._decompressor is not None and self._decompressor.problem:
            self.tail.problem = self._decompressor.problem
