"""Ordinary words with numbers in them must not become metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import feed_parser

PROSE = (Path(__file__).parent / "data" / "prose.txt").read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("line", [line for line in PROSE if line])
def test_prose_is_no_metric(line: str) -> None:
    """pip, warnings, trackers, schedulers, tracebacks, code, tables, plain sentences."""
    assert feed_parser(ConsoleParser(), [line.encode() + b"\n"]).points == {}


def test_prose_is_shown_word_for_word() -> None:
    """What is no metric is a line of the log pane all the same."""
    read = feed_parser(ConsoleParser(), ["\n".join(PROSE).encode()])
    assert read.texts() == [line for line in PROSE if line]


def test_prose_between_records_changes_nothing() -> None:
    """A record among pages of prose has the same points and steps."""
    records = [f"Iteration {k}/9 | Mean Reward: {k}.5 | KL: 0.01" for k in range(1, 10)]
    mixed = []
    for record in records:
        mixed += [*PROSE, record]
    alone = feed_parser(ConsoleParser(), ["\n".join([*records, ""]).encode()])
    among = feed_parser(ConsoleParser(), ["\n".join([*mixed, ""]).encode()])
    assert among.points == alone.points
