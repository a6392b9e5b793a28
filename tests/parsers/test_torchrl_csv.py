"""TorchRL's CSV files: one a tag, which their path tells; all of one experiment are one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.metric_files import TorchRlCsvParser, claims_torchrl, torchrl_tag
from ppo_top.runs.grouping.locations import locate_run
from tests.support.parser_harness import (
    ParserOutput,
    assert_same,
    cut_at,
    feed_parser,
    parse_every_way,
)
from tests.support.recordings import (
    DATA_FOLDER,
    assert_truncation_is_harmless,
    comparable_columns,
    damaged_bytes,
    recorded_points,
)

RUN = DATA_FOLDER / "torchrl_0.14.1" / "csv"
REWARD = (RUN / "ppo/scalars/train/reward.csv").read_bytes()


def test_every_tag_equals_what_was_logged() -> None:
    """Steps and values of all files, nan and minus zero included, under the tags of their paths."""
    found: dict[str, object] = {}
    for path in sorted(RUN.rglob("scalars/**/*.csv")):
        read = ParserOutput()
        file = LogReader(FoundFile(str(path), str(path.relative_to(RUN)), str(RUN)), detect_format)
        while (file.has_changed() or file.more) and (gain := file.read_update()) is not None:
            assert gain.source.format.name == "torchrl-csv"
            read.add_batch(gain.batch)
        assert not read.problems
        found.update(read.points)
    assert found == comparable_columns(recorded_points("torchrl_0.14.1/csv"))


@given(st.lists(st.integers(0, len(REWARD)), max_size=20))
@settings(deadline=None)
def test_any_cut_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive."""
    assert_same(
        feed_parser(TorchRlCsvParser(), cut_at(REWARD, places)),
        feed_parser(TorchRlCsvParser(), [REWARD]),
    )


def test_cut_at_every_byte() -> None:
    """Half a number is never given."""
    assert_truncation_is_harmless(TorchRlCsvParser, REWARD)


def test_a_thousand_kinds_of_damage() -> None:
    """What is not a step and a value is reported with its offset."""
    for seed in range(1000):
        data = damaged_bytes(REWARD, seed)
        for problem in feed_parser(TorchRlCsvParser(), [data]).problems:
            assert 0 <= problem.offset <= len(data)
    read = parse_every_way(TorchRlCsvParser, b"0,1.5\nnonsense\n2048,nan\n")
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
    assert claims_torchrl("reward.csv", head) is answer


def test_numbers_elsewhere_are_no_log(tmp_path: Path) -> None:
    """A table of two numbers counts only below `scalars`."""
    path = tmp_path / "data.csv"
    path.write_bytes(REWARD)
    file = LogReader(FoundFile(str(path), "data.csv", str(tmp_path)), detect_format)
    assert file.read_update() is None
    assert file.rejected
    assert torchrl_tag("/runs/ppo/scalars/train/reward.csv") == "train/reward"


def test_all_tags_of_an_experiment_are_one_run() -> None:
    """Whatever folders their names make."""
    places = {
        locate_run(f"csv/ppo/scalars/{tag}.csv", (tag,))
        for tag in ("train/reward", "loss", "a b/c.d")
    }
    assert [(place.directory, place.unit) for place in places] == [("csv/ppo", "csv/ppo")]


@pytest.mark.parametrize("name", ["training_rewards.csv", "logs/episode_returns.csv"])
def test_a_scripts_own_file_of_the_same_form_is_named_after_a_reward(name: str) -> None:
    """`1,-1178.5`: a step and a value, in no folder of TorchRL's."""
    assert torchrl_tag(f"/runs/{name}") == Path(name).stem
    assert torchrl_tag("/runs/table.csv") == ""
    found = detect_format(name, b"1,-1178.5\n2,-714.25\n3,-334.5\n")
    assert isinstance(found, Format) and found.name == "torchrl-csv"


def test_in_a_file_named_after_a_training_the_column_has_a_name() -> None:
    """Which a line of `[tags]` may say the meaning of."""
    assert torchrl_tag("/runs/train_log.csv") == "column 2"
