"""monitor.csv: one row an episode, with a clock."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ppo_top.parsers import sb3_monitor
from ppo_top.parsers.sb3_monitor import MonitorParser
from tests.support.parser_harness import parse_every_way

HERE = Path(__file__).parents[2]
FILES = [
    *sorted((HERE / "tests" / "data").glob("sb3*/*/*.monitor.csv")),
    HERE / "demo_logs" / "sb3_cartpole" / "0.monitor.csv",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_agrees_with_the_csv_module(path: Path) -> None:
    """Returns and lengths of every episode; the step is the sum of the lengths."""
    first, _, table = path.read_text().partition("\n")
    start = json.loads(first[1:])["t_start"]
    rows = list(csv.DictReader(table.splitlines()))
    read = parse_every_way(MonitorParser, path.read_bytes())
    step, expected = 0, []
    for row in rows:
        step += int(row["l"])
        expected.append((step, start + float(row["t"]), float(row["r"])))
    seen = zip(read.steps("r"), read.times("r"), read.values("r"), strict=True)
    assert list(seen) == expected
    assert read.values("l") == [float(row["l"]) for row in rows]
    assert read.problems == []


HEAD = b'#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}\nr,l,t,is_success\n'


def test_more_columns() -> None:
    """info_keywords add columns of their own; words in them give no point."""
    read = parse_every_way(MonitorParser, HEAD + b"1.5,10,2.5,1.0\n2.5,10,3.5,abc\n")
    assert read.values_by_step()["is_success"] == [(10, 1.0)]
    assert read.config == {"env_id": "CartPole-v1"}


def test_a_continued_monitor_restarts_its_clock() -> None:
    """Training that goes on in the same file writes the heading again."""
    again = HEAD.replace(b"1700000000.0", b"1700001000.0")
    read = parse_every_way(MonitorParser, HEAD + b"1.5,10,2.5,1\n" + again + b"1.5,10,2.5,1\n")
    assert read.times("r") == [1700000002.5, 1700001002.5]
    assert read.steps("r") == [10, 20]


@pytest.mark.parametrize("row", ["nan,10,2.5", "1.5,10.0,2.5", "1_0,10,2.5", "1.5,10", "1.5.1,1,2"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_an_odd_row_among_many_costs_no_other(row: str, end: str, more: int) -> None:
    """Rows that are read at once and rows that are read one by one give the same points."""
    head = HEAD.replace(b",is_success", b"".join([b",x", b",y", b",z"][:more]))
    rows = [f"{number}.5,10,{number}.25" + ",0.5" * more for number in range(200)]
    text = end.join([*rows[:100], row + ",0.5" * more, *rows[100:], ""])
    read = parse_every_way(MonitorParser, head + text.encode())
    plain = [value for value in read.values("r") if value % 1 == 0.5 and value != 1.5]
    assert plain == [number + 0.5 for number in range(200) if number != 1]
    assert read.steps("r")[-1] == sum(map(int, read.values("l")))


def test_bad_rows_are_problems() -> None:
    """Rows that are no episode are reported with their offset, the rest is read."""
    read = parse_every_way(MonitorParser, HEAD + b"1.5,10,2.5,1\nx,y\n1.5,-3,2,1\n1.5,10,3.5,1\n")
    assert read.steps("r") == [10, 20]
    assert [problem.offset for problem in read.problems] == [len(HEAD) + 13, len(HEAD) + 17]


def test_the_old_baselines_write_a_blank_after_the_hash() -> None:
    """OpenAI's monitor of 2019."""
    log = HEAD.replace(b"#{", b"# {") + b"1.5,10,2.5,1\n"
    assert sb3_monitor.claims("0.0.monitor.csv", log) is True
    read = parse_every_way(MonitorParser, log)
    assert (read.steps("r"), read.config) == ([10], {"env_id": "CartPole-v1"})


@pytest.mark.parametrize("rows", [1, 100], ids=["one_by_one", "at_once"])
def test_the_frames_of_an_atari_game_are_four_a_step(rows: int) -> None:
    """Their monitor is below the wrapper that repeats actions; lengths stay as they are logged."""
    log = HEAD.replace(b"CartPole-v1", b"PongNoFrameskip-v4") + b"-21.0,3057,12.5,0\n" * rows
    read = parse_every_way(MonitorParser, log)
    assert read.steps("r") == [3057 * number // 4 for number in range(1, rows + 1)]
    assert read.values("l") == [3057.0] * rows


def test_what_is_a_monitor() -> None:
    """The heading tells it from other CSV files."""
    assert sb3_monitor.claims("0.monitor.csv", HEAD) is True
    assert sb3_monitor.claims("monitor.csv", b"r,l,t\n") is False
    assert sb3_monitor.claims("monitor.csv", b"") is None
