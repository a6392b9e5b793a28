"""Tables without a header: the first column counts, the file's name may say what the second is."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.catalogue import identify, meaning
from ppo_top.cli import main
from ppo_top.parsers import detect_format
from ppo_top.parsers.bare_table import BareTableParser, claims, tag_of
from ppo_top.parsers.base import Format
from tests.support.parser_harness import chunks, feed_trainings, parse_every_way

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30))
def test_every_number_is_a_point(rows: list[tuple[float, float]]) -> None:
    """As Python's csv module writes them; the first column is the step."""
    text = "".join(f"{step},{a!r},{b!r}\r\n" for step, (a, b) in enumerate(rows))
    read = parse_every_way(BareTableParser, text.encode())
    assert read.steps("") == read.steps("column 3") == list(range(len(rows)))
    assert (read.values(""), read.values("column 3")) == tuple(map(list, zip(*rows, strict=True)))


def test_a_column_of_unix_seconds_is_the_time() -> None:
    """It is a column all the same; a line of anything else is a problem and costs nothing more."""
    log = b"0,-2.5,93,1755339958\n1,oops,26,1755339959\n2,nan,24,1755339960.5\n3\n"
    read = parse_every_way(BareTableParser, log)
    assert read.times("") == [1755339958.0, 1755339960.5]
    assert read.steps("column 4") == [0, 2]
    assert [each.message for each in read.problems] == ["not a row of numbers"] * 2


def test_trainings_one_after_the_other() -> None:
    """Each has a round number of episodes; one that crashed and began anew has not."""
    rows = [*range(1, 51), *range(1, 101), *range(1, 44), *range(1, 8)]
    log = "".join(f"{episode},{place}.5\n" for place, episode in enumerate(rows)).encode()
    for size in (1 << 20, 7):
        found = feed_trainings(BareTableParser(), chunks(log, size))
        assert [len(each.steps("")) for each in found.values()] == [50, 100, 50]
        assert [*found] == ["", "2", "3"]


HEADS = {
    b"": None,
    b"0,1.5\n1,2.5": None,
    b"0,1.5\n1,2.5\n2,3.5\n": True,
    b"1;1.5;7\n2;2.5;8\n3;3.5;9\n": True,
    b"0,1.5\n50,2.5\n400,3.5\n": True,
    b"0,1.5\n1,2.5\n2,3.5\n0,1.5\n1,2\n": True,
    b"  8        0 4.3\n  9   100000 2.3\n 10   200000 4.3\n": False,
    b"  0        0 4.3\n  1   100000 2.3\n  2   200000 4.3\n": True,
    b"0,1.5\n0,2.5\n1,3.5\n": False,
    b"7,1.5\n8,2.5\n9,3.5\n": False,
    b"0,1.5\n0.5,2.5\n1,3.5\n": False,
    b"0,1.5\n1,2.5,3\n2,3.5\n": False,
    b"episode,reward\n0,1.5\n1,2.5\n": False,
    b"0\n1\n2\n": False,
}


@pytest.mark.parametrize("head", HEADS)
def test_rows_of_as_many_numbers_that_are_counted_are_claimed(head: bytes) -> None:
    """Two rows may still go on as anything else."""
    assert claims("results.csv", head) is HEADS[head]


def test_a_table_named_after_a_reward_may_begin_at_any_step() -> None:
    """numpy.savetxt writes `9.04e+02,-2.1e+01`; what does not rise is no count there, either."""
    head = b"9.040000000000000000e+02,-2.1e+01\n1.769000000000000000e+03,-2.0e+01\n1.8e+03,1\n"
    assert claims("rewards.csv", head)
    assert not claims("results.csv", head)
    assert not claims("rewards.csv", b"9e+02,1\n9e+02,1\n9e+02,2\n")
    read = parse_every_way(BareTableParser, head)
    assert (read.steps(""), read.values("")) == ([904, 1769, 1800], [-21.0, -20.0, 1.0])


def test_a_frame_of_pandas_without_names() -> None:
    """`DataFrame(rewards).to_csv(path)`: its rows count from 0."""
    table = b",0,1\n0,21.5,200\n1,22.5,180\n2,-3.0,190\n"
    assert claims("rewards.csv", table) and not claims(
        "rewards.csv", table.replace(b",1", b",2", 1)
    )
    read = parse_every_way(BareTableParser, table)
    assert (read.steps(""), read.values("")) == ([0, 1, 2], [21.5, 22.5, -3.0])
    assert read.values("column 3") == [200.0, 180.0, 190.0] and read.counts_updates
    assert not parse_every_way(BareTableParser, table.partition(b"\n")[2]).counts_updates


def test_columns_between_blanks() -> None:
    """Which of several is the reward no name of a file says; of two it is the second one."""
    read = parse_every_way(BareTableParser, b"  9       0 4.5\n 10  100000 -2.5\n")
    assert (read.values("column 2"), read.values("column 3")) == ([0.0, 1e5], [4.5, -2.5])
    read = parse_every_way(BareTableParser, b" 9 4.5\n10 -2.5\n")
    assert (read.steps(""), read.values("")) == ([9, 10], [4.5, -2.5])


@pytest.mark.parametrize(
    ("name", "tag"),
    [("episode_rewards.csv", "episode_rewards"), ("results.csv", "column 2")],
)
def test_the_name_may_say_what_is_counted(name: str, tag: str) -> None:
    """Of other files the user has to say it."""
    assert tag_of(f"runs/{name}") == tag
    found = detect_format(name, b"0,1.5,3\n1,2.5,4\n2,3.5,5\n")
    assert isinstance(found, Format) and found.name == "bare-table"


@pytest.mark.parametrize(
    ("name", "tag", "is_reward"),
    [
        ("reward_log.txt", "reward (log)", True),
        ("rewards_before.csv", "rewards (before)", True),
        ("Scores-Pong-v5.csv", "Scores (Pong-v5)", True),
        ("rewards_eval.csv", "rewards_eval", False),
        ("reward_std.csv", "reward_std", False),
        ("reward_ctrl_penalty.csv", "reward_ctrl_penalty", False),
        ("reward_lengths.txt", "reward_lengths", False),
    ],
)
def test_what_stands_behind_the_reward_is_a_remark(name: str, tag: str, is_reward: bool) -> None:
    """Unless it makes the reward another one, or may."""
    assert tag_of(f"runs/{name}") == tag
    known = meaning(identify([tag]), tag)
    assert (known is not None and known.concept == "reward_mean") is is_reward


def test_tables_of_other_programs_are_left_alone() -> None:
    """`results.csv` and the like only; a matrix has any name."""
    assert not detect_format("matrix.csv", b"0,1.5,3\n1,2.5,4\n2,3.5,5\n")


def write_rows(path: Path) -> None:
    """A run that learns, as `csv.writer` writes it."""
    draw = Random(3)
    with path.open("w", newline="") as log:
        rows = ([n, min(n, 150) + draw.gauss(0.0, 5.0), 200] for n in range(200))
        csv.writer(log).writerows(rows)


def test_a_named_table_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reward that its name says."""
    write_rows(tmp_path / "episode_rewards.csv")
    assert main(["check", "--json", str(tmp_path)]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    concepts = {each["tag"]: each["concept"] for each in run["metrics"]}
    assert concepts == {"episode_rewards": "reward_mean", "column 3": None}
    assert run["verdict"] == "healthy"


def test_each_training_of_a_named_table_has_its_reward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of the file is that of the second column in all of them."""
    path = tmp_path / "episode_rewards.csv"
    write_rows(path)
    path.write_bytes(path.read_bytes() * 3)
    assert main(["check", "--json", str(tmp_path)]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len(runs) == 3
    for run in runs:
        points = {each["tag"]: each["points"] for each in run["metrics"]}
        assert points == {"episode_rewards": 200, "column 3": 200}
        assert run["verdict"] == "healthy"


def test_of_another_table_the_report_says_which_line_would_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is guessed from a place; with the line in the settings it is judged."""
    write_rows(tmp_path / "results.csv")
    main(["check", str(tmp_path)])
    assert '[tags] "column 2" = "reward_mean"' in capsys.readouterr().out
    (tmp_path / "ppo-top.toml").write_text('[tags]\n"column 2" = "reward_mean"\n')
    main(["check", "--json", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["verdict"] == "healthy"


@pytest.mark.parametrize("name", ["rewards.log", "log.txt", "train_log.txt"])
def test_a_log_may_be_a_table_without_a_header(name: str) -> None:
    """A console of that name is one still."""
    found = detect_format(name, b"1,572.45\n2,565.72\n3,65.46\n")
    assert isinstance(found, Format) and found.name == "bare-table"
    found = detect_format(name, b"step 1, reward 572.45\nstep 2, reward 565.72\n")
    assert isinstance(found, Format) and found.name == "console"


def test_a_number_before_a_negative_one_may_be_a_length() -> None:
    """`0,870,-20.0`: which one the reward is nobody says."""
    read = parse_every_way(BareTableParser, b"0,870,-20.0\n1,1025,-19.0\n2,980,-20.0\n")
    assert read.values_by_step() == {
        "column 2": [(0, 870.0), (1, 1025.0), (2, 980.0)],
        "column 3": [(0, -20.0), (1, -19.0), (2, -20.0)],
    }
