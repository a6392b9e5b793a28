"""Makes an input that breaks a promise as small as is easily done: a finding one can look at."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path

MINIMISE_TIMEOUT_S = 20.0


def failure_of(target: Callable[[bytes], None], data: bytes) -> str:
    """Where in the code an input fails, and how; empty when it does not."""
    try:
        target(data)
    except Exception as error:  # noqa: BLE001 (whatever it is)
        return failure_place(error)
    return ""


def failure_place(error: Exception) -> str:
    """Where in the code it was raised, and what."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


def minimise(target: Callable[[bytes], None], data: bytes, place: str) -> bytes:
    """Leave out ever smaller pieces as long as it fails at the same place."""
    end = time.monotonic() + MINIMISE_TIMEOUT_S
    size = len(data) // 2
    while size and time.monotonic() < end:
        start, shrunk = 0, False
        while start < len(data) and time.monotonic() < end:
            shorter = data[:start] + data[start + size :]
            if failure_of(target, shorter) == place:
                data, shrunk = shorter, True
            else:
                start += size
        size = size if shrunk and size < len(data) else size // 2
    return data
