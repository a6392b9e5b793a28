"""Recognises files by their first bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

_PICKLE = re.compile(rb"\x80[\x02-\x05][^\0]")
"""The protocols that begin with a mark; zeros follow in an event file with a long first record."""


def claims_by_magic(mark: bytes) -> Callable[[str, bytes], bool | None]:
    """A `Format.claims` that checks whether a file begins with a mark."""

    def claims(_name: str, head: bytes) -> bool | None:
        if len(head) < len(mark):
            return None if mark.startswith(head) else False
        return head.startswith(mark)

    return claims


def is_pickle(head: bytes) -> bool:
    """Whether a file is what Python's `pickle.dump` writes: loading one may run any code."""
    return _PICKLE.match(head) is not None
