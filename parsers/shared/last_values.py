"""The newest values of a long text log, from its first and its last bytes."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Points
from ppo_top.parsers.base import LastPointsReader, Parser


def last_points_of_lines(parser: Callable[[], Parser]) -> LastPointsReader:
    """For logs whose lines stand for themselves."""

    def newest(_first: bytes, last: bytes) -> list[Points]:
        return parser().feed(_whole_lines(last)).points

    return newest


def last_points_of_table(parser: Callable[[], Parser]) -> LastPointsReader:
    """For tables whose first line names the columns."""

    def newest(first: bytes, last: bytes) -> list[Points]:
        return parser().feed(first[: first.find(b"\n") + 1] + _whole_lines(last)).points

    return newest


def _whole_lines(last: bytes) -> bytes:
    """Without the line that the bytes begin in the middle of."""
    return last[last.find(b"\n") + 1 :]
