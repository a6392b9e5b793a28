"""A pipe to ourselves: any thread can wake one that waits in `select`."""

from __future__ import annotations

import os
from contextlib import suppress


class WakePipe:
    """`handle` is readable from `wake` until `clear`; both may be called from any thread.

    An `os.pipe`, since only Linux has `os.eventfd`.
    """

    def __init__(self) -> None:
        self.handle, self._write = os.pipe()
        os.set_blocking(self.handle, False)
        os.set_blocking(self._write, False)

    def wake(self) -> None:
        """Make the handle readable."""
        with suppress(OSError):  # full: already readable; closed: nobody waits
            os.write(self._write, b"!")

    def clear(self) -> None:
        """Make it unreadable until the next `wake`."""
        with suppress(BlockingIOError):
            while len(os.read(self.handle, 4096)) == 4096:
                continue

    def close(self) -> None:
        """Close both ends."""
        os.close(self.handle)
        os.close(self._write)
