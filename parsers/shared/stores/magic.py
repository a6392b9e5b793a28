"""Recognises files by their first bytes."""

from __future__ import annotations

from collections.abc import Callable


def claims_by_magic(mark: bytes) -> Callable[[str, bytes], bool | None]:
    """A `Format.claims` that checks whether a file begins with a mark."""

    def claims(_name: str, head: bytes) -> bool | None:
        if len(head) < len(mark):
            return None if mark.startswith(head) else False
        return head.startswith(mark)

    return claims
