"""TorchRL's CSV files: one a tag, which their path tells; all of one experiment are one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.log_reader import FileFeed
from ppo_top.parsers import claim
from ppo_top.parsers.torchrl_csv import FORMAT, Scalars, claims, tag_of
from ppo_top.runs.grouping import place_of
from tests.support.parser_harness import Read, assert_same, cuts, every_way, feed
from tests.support.recordings import DATA, columns, expected, spoilt, truncated_everywhere

RUN = DATA / "torchrl_0.14.1" / "csv"
REWARD = (RUN / "ppo/scalars/train/reward.csv").read_bytes()


def test_every_tag_equals_what_was_logged() -> None:
    """Steps and values of all files, nan and minus zero included, under the tags of their paths."""
    found: dict[str, object] = {}
    for path in sorted(RUN.rglob("scalars/**/*.csv")):
        read = Read()
        file = FileFeed(str(path), str(path.relative_to(RUN)), str(RUN), claim)
        while (file.changed() or file.more) and (gain := file.take()) is not None:
            assert gain.source.format is FORMAT
            read.add(gain.batch)
        assert not read.problems
        found.update(read.points)
    assert found == columns(expected("torchrl_0.14.1/csv"))


@given(st.lists(st.integers(0, len(REWARD)), max_size=20))
@settings(deadline=None)
def test_any_cut_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive."""
    assert_same(feed(Scalars(), cuts(REWARD, places)), feed(Scalars(), [REWARD]))


def test_cut_at_every_byte() -> None:
    """Half a number is never given."""
    truncated_everywhere(Scalars, REWARD)


def test_a_thousand_kinds_of_damage() -> None:
    """What is no step and value is told with its place."""
    for seed in range(1000):
        data = spoilt(REWARD, seed)
        for problem in feed(Scalars(), [data]).problems:
            assert 0 <= problem.offset <= len(data)
    read = every_way(Scalars, b"0,1.5\nnonsense\n2048,nan\n")
    assert [problem.offset for problem in read.problems] == [6]
    assert read.steps("") == [0, 2048]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", None),
        (b"20", None),
        (b"2048,-1.", None),
        (b"2048,nan\n", True),
        (b"0,1e-05\n1,", True),
        (b"step,value\n", False),
        (b"1,2,3\n", False),
    ],
)
def test_it_is_told_by_its_first_line(head: bytes, answer: bool | None) -> None:
    """A step, a comma and a number, without a header."""
    assert claims("reward.csv", head) is answer


def test_numbers_elsewhere_are_no_log(tmp_path: Path) -> None:
    """A table of two numbers counts only below `scalars`."""
    path = tmp_path / "data.csv"
    path.write_bytes(REWARD)
    file = FileFeed(str(path), "data.csv", str(tmp_path), claim)
    assert file.take() is None
    assert file.refused
    assert tag_of("/runs/ppo/scalars/train/reward.csv") == "train/reward"


def test_all_tags_of_an_experiment_are_one_run() -> None:
    """Whatever folders their names make."""
    places = {
        place_of(f"csv/ppo/scalars/{tag}.csv", {tag: (0, 1.0)})
        for tag in ("train/reward", "loss", "a b/c.d")
    }
    assert [(place.home, place.unit) for place in places] == [("csv/ppo", "csv/ppo")]
