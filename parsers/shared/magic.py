"""Files that are recognised by their first bytes alone."""

from __future__ import annotations

from collections.abc import Callable


def claims_by_magic(mark: bytes) -> Callable[[str, bytes], bool | None]:
    """A `claims` that asks whether a file begins with a mark; None while it is too short to say."""

    def claims(_name: str, head: bytes) -> bool | None:
        if len(head) < len(mark):
            return None if mark.startswith(head) else False
        return head.startswith(mark)

    return claims
