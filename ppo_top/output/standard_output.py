"""Standard output whose reader may go away (`| head`, a closed terminal), which is no error."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from typing import TextIO


def discard_stdout() -> None:
    """Write no more: neither what is left in the buffer nor what is printed later."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def reader_is_gone(out: TextIO) -> bool:
    """Whether nobody can read what is printed any more: an ssh session died, a pager was left.

    Without this a follower of a quiet log would only notice at its next line.
    """
    poller = select.poll()
    try:
        poller.register(out.fileno(), 0)  # errors and hang-ups are always reported
    except (OSError, ValueError):  # not a stream of the system
        return False
    return bool(poller.poll(0))
