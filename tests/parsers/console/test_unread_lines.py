"""A console that is full of numbers under names that nobody knows."""

from __future__ import annotations

import re
import tomllib

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way

LOG = "".join(f"[{n}] foo={3 * n} bar={n}.500 qux: {n}\n" for n in range(40)).encode()


def test_the_line_that_would_read_it_is_said() -> None:
    """It can be pasted: with it, the numbers are read."""
    read = parse_every_way(ConsoleParser, LOG)
    assert read.points == {}
    (note,) = read.notes
    line = re.search(r"console = \[.*?'\]", note)
    assert line is not None
    patterns = [re.compile(each) for each in tomllib.loads(line[0])["console"]]
    fitted = parse_every_way(lambda: ConsoleParser(patterns), LOG)
    assert fitted.values("foo") == [3.0 * n for n in range(40)]
    assert fitted.values("qux") == [float(n) for n in range(40)]


def test_nothing_is_said_of_text_or_of_what_is_read() -> None:
    """Prose, a few lines, or a console in which more than a tenth are records."""
    assert parse_every_way(ConsoleParser, b"downloading the model, please wait\n" * 60).notes == []
    assert parse_every_way(ConsoleParser, LOG[:200]).notes == []
    assert parse_every_way(ConsoleParser, LOG + b"step: 3 | reward: 0.5\n" * 5).notes == []


def test_one_record_among_many_unread_lines_is_not_enough() -> None:
    """The names are those of most lines, in any script."""
    first = "port=8080\nEpisodes: 12, reward: 0.5\n"
    rows = "".join(f"Episode 完成: 功率={n}.50 EU/t, 堆温={n}\n" for n in range(40))
    (note,) = parse_every_way(ConsoleParser, (first + rows).encode()).notes[-1:]
    assert "(?P<功率>" in note
    assert "port" not in note


def test_the_variables_of_tensorflow_hold_no_numbers() -> None:
    """`logger.info('  {} <- {}'.format(target_var.name, var.name))` of Baselines' DDPG."""
    lines = "".join(f"  target/dense_{n}/kernel:0 <- actor/dense_{n}/kernel:0\n" for n in range(40))
    assert parse_every_way(ConsoleParser, lines.encode()).notes == []
