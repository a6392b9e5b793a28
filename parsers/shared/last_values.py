"""Reads the latest values of a long text log from its first and last bytes."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Points
from ppo_top.parsers.base import LastPointsReader, Parser


def last_points_of_lines(parser: Callable[[], Parser]) -> LastPointsReader:
    """For logs whose lines are independent."""

    def read(_first: bytes, last: bytes) -> list[Points]:
        return parser().feed(_whole_lines(last)).points

    return read


def last_points_of_table(parser: Callable[[], Parser]) -> LastPointsReader:
    """For tables whose first line names the columns."""

    def read(first: bytes, last: bytes) -> list[Points]:
        return parser().feed(first[: first.find(b"\n") + 1] + _whole_lines(last)).points

    return read


def _whole_lines(last: bytes) -> bytes:
    """Without a first line that may be cut."""
    return last[last.find(b"\n") + 1 :]
