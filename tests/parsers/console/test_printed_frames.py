"""Data frames in a console, as pandas prints them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

ROWS = [(str(n), f"{n}.5", "NaN" if n == 3 else f"0.{n:02}") for n in range(1, 31)]
NAMES = ("episode", "reward", "loss")
REWARDS = [(n, n + 0.5) for n in range(1, 31)]


def frame(names: Sequence[str], rows: Sequence[Sequence[str]], *, end: str = "") -> str:
    """What `print(frame)` writes: an index, then columns aligned to the right."""
    cells = [["", *names], *([str(at), *row] for at, row in enumerate(rows))]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        line[0].ljust(widths[0])
        + "".join(
            "  " + cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)
        )
        for line in cells
    ]
    return "\n".join([lines[0] + end, *lines[1:]]) + "\n"


def read(text: str) -> ParserOutput:
    """What every way of feeding gives."""
    return parse_every_way(ConsoleParser, text.encode())


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0)])
def test_each_row_is_a_record_at_its_step(order: tuple[int, ...]) -> None:
    """Wherever the step's column stands; what is not there is no value."""
    rows = [[row[at] for at in order] for row in ROWS]
    found = read("Training done\n" + frame([NAMES[at] for at in order], rows))
    assert found.values_by_step()["reward"] == REWARDS
    assert found.steps("loss") == [n for n in range(1, 31) if n != 3]


def test_rows_that_are_left_out_are_left_out() -> None:
    """Of a long frame the first and last five rows are printed, and how many there are."""
    lines = frame(NAMES, ROWS).splitlines()
    dots = "..      ...     ...   ..."
    text = "\n".join([*lines[:6], dots, *lines[-5:], "", "[30 rows x 3 columns]", ""])
    assert read(text).values_by_step()["reward"] == [*REWARDS[:5], *REWARDS[-5:]]


def test_columns_below_each_other_are_one_table() -> None:
    """A backslash ends the header of all but the last columns: the step stands in one of them."""
    first = frame(NAMES[:1], [row[:1] for row in ROWS], end="  \\")
    second = frame(NAMES[1:], [row[1:] for row in ROWS])
    found = read(f"{first}\n{second}[30 rows x 3 columns]\n")
    assert found.values_by_step()["reward"] == REWARDS
    assert not found.counts_updates


def test_a_table_without_an_index_is_no_frame() -> None:
    """Columns that are aligned by blanks, indented like a frame."""
    text = "  epoch  reward  kl\n" + "".join(f"  {n}  {n}.5  0.01\n" for n in range(1, 31))
    assert read(text).values_by_step()["reward"] == REWARDS


@pytest.mark.parametrize("names", [("mean", "std", "max"), ("step", "count", "size")])
def test_frames_that_log_no_training_are_left_alone(names: tuple[str, ...]) -> None:
    """Without a step, or without a metric."""
    assert read(frame(names, ROWS)).points == {}


def test_numbers_behind_a_frame_are_none_of_its_rows() -> None:
    """Another line ends it, whichever way it is read."""
    lines = [f"Iteration {n} | reward: {n}.5 | kl: 0.01\n" for n in range(1, 31)]
    text = "".join([*lines[:10], frame(NAMES, ROWS[:2]), *lines[10:], "3 7 21.5 0.5\n"])
    assert 7 not in read(text).steps("loss")
