"""Inputs of a few bytes, drawn from few characters: what is rare in a log is common here.

A blank line in a table of one column, a lone quote, a heading without rows, half a line ending.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from ppo_top.parsers import formats
from ppo_top.parsers.base import Parser
from tests.support.parser_harness import assert_same, chunks, cut_at, feed_parser

DRAWS = int(os.environ.get("PPO_TOP_SMALL_INPUTS", "1500"))
"""How many inputs are drawn for each format."""

PIECES = [
    *(bytes([byte]) for byte in b"01279[],; \n\r\t.-e%\"'aR=:|#/_({}\0\x1b\x85\xc2\xff"),
    b"\xef\xbb\xbf", b"nan", b"\n1\n",
]  # fmt: skip
PARSERS = {each.name: each.parser for each in formats() if each.parser is not None}


def small_input(draw: random.Random) -> bytes:
    """Up to ten pieces of two to six kinds."""
    kinds = draw.sample(PIECES, draw.randint(2, 6))
    return b"".join(draw.choice(kinds) for _ in range(draw.randint(1, 10)))


def assert_cuts_change_nothing(make: Callable[[], Parser], data: bytes, cut: int) -> None:
    """Whole, byte by byte and in two parts a parser gives the same."""
    whole = feed_parser(make(), [data])
    assert_same(feed_parser(make(), chunks(data, 1)), whole)
    assert_same(feed_parser(make(), cut_at(data, [cut])), whole)


@pytest.mark.parametrize("name", PARSERS)
def test_no_cut_changes_what_is_read(name: str) -> None:
    """Of any format."""
    draw = random.Random(name)
    for _ in range(DRAWS):
        data = small_input(draw)
        assert_cuts_change_nothing(PARSERS[name], data, draw.randint(0, len(data)))


@pytest.mark.parametrize(
    "data",
    [b"a\n1\n\n1\n\r\n1\n", b"a\n1\n=\r\n1\n", b"a\r\n1\n\x85\r\r", b"a\tb\n1\t2\n\t\n3\t4\n"],
)
@pytest.mark.parametrize("name", ["csv", "sb3-csv"])
def test_blank_lines_are_no_rows_of_a_table(name: str, data: bytes) -> None:
    """A row of one empty cell, or of empty cells between tabs, looks the same."""
    for cut in range(len(data)):
        assert_cuts_change_nothing(PARSERS[name], data, cut)
