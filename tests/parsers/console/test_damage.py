"""Zeros and control bytes in a console: of a truncated log, a crashed node, a bad disk."""

from __future__ import annotations

import random

import pytest

from ppo_top.parsers import detect_format
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import feed_parser, parse_every_way

LINES = [f"step: {n} | reward: {n}.25 | kl: 0.0125\n".encode() for n in range(1, 201)]


def is_console(data: bytes) -> bool:
    """Whether a file with these bytes is read as a console."""
    found = detect_format("train.log", data[:HEAD_BYTES])
    return isinstance(found, Format) and found.name == "console"


def test_a_hole_before_the_first_line_costs_nothing() -> None:
    """`copytruncate` while a process goes on writing: zeros up to its place."""
    data = bytes(700) + b"".join(LINES)
    assert is_console(data)
    assert parse_every_way(ConsoleParser, data).steps("reward") == list(range(1, 201))


def test_nothing_but_zeros_is_not_decided_yet() -> None:
    """The next bytes will tell."""
    assert detect_format("train.log", bytes(HEAD_BYTES)) is None


@pytest.mark.parametrize(
    "head", [b"\x7fELF\x02\x01\x01" + bytes(40) + b"\x3e\x01\x04\x05\x06" * 60]
)
def test_programs_are_no_consoles(head: bytes) -> None:
    """`a.out` has the name of a log."""
    assert not is_console(head)


def test_rubbish_costs_the_lines_it_stands_in() -> None:
    """400 damages, each somewhere in the log: all other lines are read, and it is reported."""
    chance = random.Random(3)
    for _ in range(400):
        data = bytearray(b"".join(LINES))
        start = chance.randrange(len(data) - 40)
        size = chance.choice([1, 1, 1, 4, 16, 40])
        byte = chance.choice([0, 1, 5, 0x10, 0x1A])
        before = bytes(data[:start]).count(b"\n")
        data[start : start + size] = bytes([byte]) * size
        lost = (start + size - sum(map(len, LINES[:before]))) // 30 + 2
        read = feed_parser(ConsoleParser(), [bytes(data)])
        steps = read.steps("reward")
        assert is_console(bytes(data))
        assert set(range(1, before + 1)) <= set(steps)
        assert set(range(before + lost + 1, 201)) <= set(steps)
        assert read.values("reward") == [step + 0.25 for step in steps]
