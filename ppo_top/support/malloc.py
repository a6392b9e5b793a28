"""Returns freed memory to the operating system.

Freed objects lie scattered among live ones, so the C library keeps their pages: without this,
resident memory stays at its peak.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


@cache
def _trimmer() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; None with another C library."""
    import ctypes

    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return found


def trim() -> None:
    """Return free pages to the system; takes some milliseconds."""
    trimmer = _trimmer()
    if trimmer is not None:
        trimmer(0)
