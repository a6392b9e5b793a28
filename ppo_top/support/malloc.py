"""Freed memory goes back to the system.

What is let go lies scattered between what is kept. The C library keeps such pages for itself, so
that a monitor which has read a thousand runs would for ever take what the largest moment took.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


@cache
def _trimmer() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; None with a C library that has none."""
    import ctypes

    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return found


def trim() -> None:
    """Give back the pages on which nothing is kept; takes some milliseconds."""
    trimmer = _trimmer()
    if trimmer is not None:
        trimmer(0)
