"""The newest values of a long text log, from its first and its last bytes."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Points
from ppo_top.parsers.base import Newest, Parser


def of_lines(parser: Callable[[], Parser]) -> Newest:
    """For logs whose lines stand for themselves."""

    def newest(_first: bytes, last: bytes) -> list[Points]:
        return parser().feed(_whole(last)).points

    return newest


def of_table(parser: Callable[[], Parser]) -> Newest:
    """For tables whose first line names the columns."""

    def newest(first: bytes, last: bytes) -> list[Points]:
        return parser().feed(first[: first.find(b"\n") + 1] + _whole(last)).points

    return newest


def _whole(last: bytes) -> bytes:
    """Without the line that the bytes begin in the middle of."""
    return last[last.find(b"\n") + 1 :]
