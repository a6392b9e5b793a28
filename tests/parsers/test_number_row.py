"""Files of one line of numbers between commas, whose name says what they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.parsers import detect_format
from ppo_top.parsers.number_row import FORMAT, NumberRowStore
from tests.support.parser_harness import ParserOutput

VALUES = [n * 1.5 - 20 for n in range(200)]
ROW = ",".join(map(str, VALUES)).encode()


def write(path: Path, data: bytes, moment: int = 1) -> Path:
    """Write the file as a script does, at a moment of its own."""
    path.write_bytes(data)
    os.utime(path, ns=(moment * 10**9, moment * 10**9))
    return path


def poll(store: NumberRowStore) -> ParserOutput:
    """All that one call gives."""
    read = ParserOutput()
    read.add_batch(store.poll(10))
    return read


@pytest.mark.parametrize(
    "data",
    [ROW, ROW + b"\n", ROW + b",", b"\n" + ROW.replace(b",", b", ") + b"\r\n"],
    ids=["bare", "line end", "comma at the end", "blanks"],
)
def test_every_number_is_a_point(data: bytes, tmp_path: Path) -> None:
    """The place is the step."""
    read = poll(NumberRowStore(write(tmp_path / "rewards_CartPole.txt", data)))
    assert read.values("rewards (CartPole)") == VALUES
    assert read.steps("rewards (CartPole)") == list(range(1, 201))


def test_only_what_is_new_comes_out(tmp_path: Path) -> None:
    """Whether the file is written anew or the line goes on."""
    path = write(tmp_path / "rewards.txt", b"1.5,2.5")
    store = NumberRowStore(path)
    assert poll(store).values("rewards") == [1.5, 2.5]
    write(path, b"1.5,2.5,3.5", 2)
    found = poll(store)
    assert (found.steps("rewards"), found.values("rewards")) == ([3], [3.5])


def test_half_a_number_waits(tmp_path: Path) -> None:
    """A file that ends where a buffer of its writer did ends in the midst of one."""
    whole = b"21.5," * 1000
    path = write(tmp_path / "rewards.txt", whole[:4096])
    assert whole[:4096].endswith(b",2")
    store = NumberRowStore(path)
    assert poll(store).values("rewards") == [21.5] * 819
    write(path, whole, 2)
    assert poll(store).steps("rewards") == list(range(820, 1001))


@pytest.mark.parametrize("name", ["rewards.txt", "returns.csv", "scores.dat", "ppo_pong.out"])
@pytest.mark.parametrize("end", [b"", b"\n"], ids=["bare", "line end"])
def test_a_long_row_is_a_list(name: str, end: bytes) -> None:
    """If the file's name says what it is."""
    assert detect_format(name, ROW + end) is FORMAT
    assert detect_format(name, ((ROW + b",") * 4)[:4096]) is FORMAT


@pytest.mark.parametrize(
    "data",
    [b"1,21.5,200\n", ROW + b"\n" + ROW, ROW + b",oops\n", b"reward," + ROW],
    ids=["a table's first row", "seeds", "words", "a name"],
)
def test_what_may_be_something_else_is_none(data: bytes) -> None:
    """A short row may be a table's first, several ones of seeds."""
    assert FORMAT.claims("rewards.txt", data) is not True
    assert FORMAT.claims("observations.txt", ROW) is False


def test_a_second_row_is_said(tmp_path: Path) -> None:
    """Which of them is the training's, nothing says."""
    read = poll(NumberRowStore(write(tmp_path / "rewards.txt", ROW + b"\n" + ROW)))
    assert not read.points
    assert read.problems[0].message == "2 rows of numbers: only one is read"


def test_it_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a directory, beside nothing else."""
    write(tmp_path / "rewards.txt", ROW)
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (metric,) = run["metrics"]
    assert (run["progress"]["step"], run["progress"]["axis"]) == (200, "update")
    assert (metric["concept"], metric["last"]) == ("reward_mean", VALUES[-1])
