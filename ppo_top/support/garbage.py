"""How often Python looks for garbage: not while modules are loaded, rarely afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MAX_NEW_OBJECTS = 20_000
"""New objects between two searches: reading logs leaves values, no garbage. At Python's 700 they
cost a twentieth of a short check and a fifteenth of a live screen."""


@contextmanager
def loading() -> Iterator[None]:
    """While modules are loaded: they are no garbage, nor looked at in any later search."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(MAX_NEW_OBJECTS)
