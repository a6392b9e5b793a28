"""W&B's transaction log: equal to wandb's own reader, whatever the cut, whatever the damage."""

from __future__ import annotations

import json
import math
import resource
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.model import State
from ppo_top.parsers import detect_format
from ppo_top.parsers.wandb.parser import FORMAT, WandbParser
from tests.support.parser_harness import (
    ParserOutput,
    assert_same,
    chunks,
    cut_at,
    feed_parser,
    parse_every_way,
)
from tests.support.recordings import (
    DATA_FOLDER,
    assert_truncation_is_harmless,
    comparable_columns,
    damaged_bytes,
    recorded_file,
    recorded_points,
)

VERSIONS = ("0.31.0", "0.16.6")
RUNS = [f"wandb_{version}/{name}" for version in VERSIONS for name in ("finished", "raised", "killed", "hf_like")]  # fmt: skip # noqa: E501
RUNS.append("trl_0.11.4/ppo_wandb")
QUANTILES = ("/p1", "/p50", "/p99", "/max", "/min")


def recorded(folder: str) -> bytes:
    """The transaction log of a recorded run."""
    return recorded_file(folder, "*/*.wandb").read_bytes()


def rest_of(folder: str) -> dict[str, Any]:
    """Configuration, console and exit code as wandb's own classes read them."""
    found: dict[str, Any] = json.loads((DATA_FOLDER / folder / "expected_rest.json").read_text())
    return found


@pytest.mark.parametrize("folder", RUNS)
def test_points_equal_wandbs_own_reader(folder: str) -> None:
    """Every number, step and time is that of wandb's reader, to the last bit; nothing is added."""
    read = feed_parser(WandbParser(), [recorded(folder)])
    own = comparable_columns(recorded_points(folder))
    assert {tag: points for tag, points in read.points.items() if tag in own} == own
    assert all(tag.endswith(QUANTILES) for tag in read.points if tag not in own)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_title_is_what_wandb_shows(version: str) -> None:
    """The display name of the run's record."""
    batch = WandbParser().feed(recorded(f"wandb_{version}/raised"))
    assert batch.title == "plain-raised"


def test_non_finite_values_are_kept() -> None:
    """NaN and both infinities, which wandb writes as bare words, are numbers."""
    for version in VERSIONS:
        values = feed_parser(WandbParser(), [recorded(f"wandb_{version}/finished")]).values(
            "train/loss"
        )
        assert math.isnan(values[21])
        assert values[22:24] == [math.inf, -math.inf]


@pytest.mark.parametrize("version", VERSIONS)
def test_values_are_those_that_were_logged(version: str) -> None:
    """Compared with the calls themselves: numbers of every kind under their flat names."""
    folder = f"wandb_{version}/finished"
    read = feed_parser(WandbParser(), [recorded(folder)])
    for row in json.loads((DATA_FOLDER / folder / "logged.json").read_text()):
        for tag, value in row["scalars"].items():
            at = read.steps(tag).index(row["step"])
            found = read.values(tag)[at]
            assert found == pytest.approx(float(value), rel=1e-7, nan_ok=True), tag


def test_text_none_and_wandbs_own_values_are_no_metrics() -> None:
    """Words, None, `_runtime` and the like give no points."""
    read = feed_parser(WandbParser(), [recorded("wandb_0.31.0/finished")])
    assert not {"note", "nothing", "_step", "_timestamp", "_runtime", "nested.deep.word"} & set(
        read.points
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_histograms_become_quantiles(version: str) -> None:
    """A histogram of 200 numbers around 1 (spread 0.1) keeps its middle and its ends."""
    read = feed_parser(WandbParser(), [recorded(f"wandb_{version}/finished")])
    assert read.steps("ratio/p50") == [0, 10, 20]
    for low, middle, high in zip(*(read.values(f"ratio/{part}") for part in ("min", "p50", "max")), strict=True):  # fmt: skip # noqa: E501
        assert 0.6 < low < 0.9 < middle < 1.1 < high < 1.4


def test_lists_become_quantiles_too() -> None:
    """A short array is written as a list: 1, 2, 3 has the middle 2."""
    read = feed_parser(WandbParser(), [recorded("wandb_0.31.0/finished")])
    assert set(read.values("list/p50")) == {2.0}
    assert set(read.values("list/max")) == {3.0}


def test_the_first_ppo_trainer_has_its_ratio_here() -> None:
    """TRL's first trainer writes the ratio's histogram to W&B only."""
    read = feed_parser(WandbParser(), [recorded("trl_0.11.4/ppo_wandb")])
    assert len(read.values("ppo/policy/ratio/p50")) == 8
    assert all(0.8 < value < 1.25 for value in read.values("ppo/policy/ratio/p50"))


def test_rows_of_the_hugging_face_trainer_stand_at_its_own_step() -> None:
    """Profiling rows count in `_step`; the training step is what counts."""
    read = feed_parser(WandbParser(), [recorded("wandb_0.31.0/hf_like")])
    assert read.steps("train/loss") == list(range(1, 13))
    assert math.isnan(read.values("train/grad_norm")[8])


@pytest.mark.parametrize("folder", RUNS)
def test_exit_code_tells_the_end(folder: str) -> None:
    """0 is finished, 1 is died, and a killed run says nothing."""
    ended = feed_parser(WandbParser(), [recorded(folder)]).ended
    code = rest_of(folder)["exit"]
    if code is None:
        assert ended is None
    else:
        assert ended is not None
        assert ended.state is (State.DIED if code else State.FINISHED)
        assert str(code) in ended.text


def test_configuration_is_flat_and_plain() -> None:
    """The configuration of init and its later updates, nested names joined by dots."""
    for version in VERSIONS:
        config = feed_parser(WandbParser(), [recorded(f"wandb_{version}/finished")]).config
        assert config == {
            "learning_rate": 3e-4,
            "clip_range": 0.2,
            "n_epochs": 10,
            "env_id": "CartPole-v1",
            "anneal": True,
            "policy.activation": "tanh",
            "late_setting": 12,
        }


@pytest.mark.parametrize("folder", RUNS)
def test_console_lines_are_kept(folder: str) -> None:
    """What the process printed, line by line, with the time and the place of the write."""
    read = feed_parser(WandbParser(), [recorded(folder)])
    words = [line.strip() for line in rest_of(folder)["lines"].splitlines() if line.strip()]
    found = [text.strip() for text in read.texts()]
    assert sorted(found) == sorted(words)
    assert all(offset > 0 for offset, *_ in read.lines)


def test_a_killed_run_is_read_to_its_last_whole_record() -> None:
    """The torn record at the end is a problem at its place, and only when the file is over."""
    data = recorded("wandb_0.31.0/killed")
    assert feed_parser(WandbParser(), [data], finish=False).problems == []
    (problem,) = feed_parser(WandbParser(), [data]).problems
    assert 0 < problem.offset < len(data)


@pytest.mark.parametrize("folder", ["wandb_0.31.0/finished", "wandb_0.16.6/raised"])
def test_every_way_of_feeding_agrees(folder: str) -> None:
    """Whole, byte by byte and in odd pieces: the same."""
    parse_every_way(WandbParser, recorded(folder))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 41_000), max_size=8))
def test_any_cut_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive, everything that is given is the same."""
    data = recorded("wandb_0.31.0/finished")
    assert_same(
        feed_parser(WandbParser(), cut_at(data, places)), feed_parser(WandbParser(), [data])
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_cut_anywhere(version: str) -> None:
    """A small log cut at every third byte is read so far; the rest completes it."""
    assert_truncation_is_harmless(WandbParser, recorded(f"wandb_{version}/raised"), stride=3)


def test_cut_around_the_blocks() -> None:
    """A log of two blocks cut at places of all kinds, the blocks' seam among them."""
    assert_truncation_is_harmless(WandbParser, recorded("wandb_0.31.0/finished"), stride=997)


def test_hundreds_of_kinds_of_damage() -> None:
    """Damage never raises, never hangs, never fills the memory, and is reported with its offset."""
    data = recorded("wandb_0.31.0/hf_like")
    whole = feed_parser(WandbParser(), [data])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    silent = 0
    for seed in range(400):
        broken = damaged_bytes(data, seed)
        read = feed_parser(WandbParser(), chunks(broken, 8192))
        assert all(0 <= problem.offset <= len(broken) for problem in read.problems)
        if not read.problems and read.points != whole.points:
            silent += 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert silent == 0


def test_a_damaged_record_loses_one_row() -> None:
    """One flipped bit in the middle costs one record; all others are read."""
    data = bytearray(recorded("wandb_0.31.0/killed"))
    whole = feed_parser(WandbParser(), [bytes(data)])
    data[len(data) // 2] ^= 4
    read = feed_parser(WandbParser(), [bytes(data)])
    lost = sum(map(len, whole.points.values())) - sum(map(len, read.points.values()))
    assert 0 <= lost <= 17
    assert len(read.problems) == len(whole.problems) + 1


def test_damaged_files_give_the_same_in_any_cut() -> None:
    """Damage is skipped in the same way however the file is cut."""
    for seed in range(20):
        broken = damaged_bytes(recorded("wandb_0.31.0/raised"), seed)
        assert_same(
            feed_parser(WandbParser(), chunks(broken, 13)), feed_parser(WandbParser(), [broken])
        )


def test_the_file_is_recognised_by_its_first_bytes() -> None:
    """Its name and its header are needed; an empty file is asked again."""
    assert detect_format("run-abc.wandb", recorded("wandb_0.31.0/raised")[:4096]) is FORMAT
    assert FORMAT.claims("run-abc.wandb", b"") is None
    assert FORMAT.claims("run-abc.wandb", b":W&B") is None
    assert FORMAT.claims("run-abc.wandb", b"SQLite format 3") is False


def test_an_empty_log_is_nothing() -> None:
    """The seven bytes that a live run shows at first give nothing and complain of nothing."""
    assert_same(feed_parser(WandbParser(), [recorded("wandb_0.31.0/raised")[:7]]), ParserOutput())
