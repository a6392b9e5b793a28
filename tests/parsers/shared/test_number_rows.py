"""Files of rows of numbers: many at once give what each line by itself gives."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from ppo_top.parsers.bare_table import BareTableParser
from ppo_top.parsers.dvclive import DvcLiveParser
from ppo_top.parsers.metric_files import TorchRlCsvParser
from ppo_top.parsers.number_list import NumberListParser
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser
from ppo_top.parsers.tensorboard_csv import TensorBoardCsvParser
from tests.support.parser_harness import assert_same, feed_parser

LINES: dict[str, tuple[Callable[[], NumberRowsParser], str, Callable[[int, str], str]]] = {
    "list": (NumberListParser, "", lambda _, value: value),
    "bare": (BareTableParser, "", lambda n, value: f"{n};{value};200;1755339958"),
    "torchrl": (TorchRlCsvParser, "", lambda n, value: f"{n},{value}"),
    "dvclive": (DvcLiveParser, "step\tloss\n", lambda n, value: f"{n}\t{value}"),
    "tensorboard": (
        TensorBoardCsvParser,
        "Wall time,Step,Value\n",
        lambda n, value: f"17000{n:05}.25,{n},{value}",
    ),
}
ODD = ["nan", "-inf", "-0", "-0.0", "1e-320", "1e400", "", "x", "1,2", "  7", "1_0", "5;"]


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("odd", [0, 3, 60])
def test_blocks_and_lines_agree(kind: str, end: str, odd: int) -> None:
    """Long files too, in which a few cells are no plain numbers, and rows too short or long."""
    draw = Random(odd)
    values = [f"{draw.gauss(0.0, 9.0):.6g}" for _ in range(4000)]
    for place in draw.sample(range(5, 4000), odd):
        values[place] = draw.choice(ODD)
    parser, heading, line = LINES[kind]
    data = (heading + "".join(line(n, value) + end for n, value in enumerate(values))).encode()
    slowly = feed_parser(parser(), [each + b"\n" for each in data.split(b"\n")[:-1]])
    assert_same(feed_parser(parser(), [data]), slowly)
    assert (
        len(slowly.steps("")) + len(slowly.problems) + values.count("") * (kind == "list") == 4000
    )
