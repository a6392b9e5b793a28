"""SwanLab's record files: equal to SwanLab's own reader, whatever the cut, whatever the damage."""

from __future__ import annotations

import math
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.model import State
from ppo_top.parsers import detect_format
from ppo_top.parsers.swanlab.parser import FORMAT, SYSTEM_TAG_PREFIX, SwanlabParser
from tests.support.parser_harness import (
    ParserOutput,
    assert_same,
    chunks,
    cut_at,
    feed_parser,
    parse_every_way,
)
from tests.support.recordings import (
    assert_truncation_is_harmless,
    comparable_columns,
    damaged_bytes,
    recorded_file,
    recorded_points,
)

NEW, OLD = "swanlab_0.10.3", "swanlab_0.6.13"
RUNS = [f"{version}/{name}" for version in (NEW, OLD) for name in ("finished", "raised", "killed")]


def recorded(folder: str) -> bytes:
    """The record file of a recorded run."""
    return recorded_file(folder, "swanlog/run-*/*.swanlab").read_bytes()


@pytest.mark.parametrize("folder", RUNS)
def test_points_equal_swanlabs_own_reader(folder: str) -> None:
    """Every number, step and time, to the last bit, and nothing else."""
    own = comparable_columns([row for row in recorded_points(folder, "expected_store") if not row["tag"].startswith(SYSTEM_TAG_PREFIX)])  # fmt: skip # noqa: E501
    assert feed_parser(SwanlabParser(), [recorded(folder)]).points == own


@pytest.mark.parametrize("version", [NEW, OLD])
def test_points_are_those_that_were_logged(version: str) -> None:
    """Compared with the calls themselves; only the older store cannot tell -inf from inf."""
    read = feed_parser(SwanlabParser(), [recorded(f"{version}/finished")])
    logged = comparable_columns(recorded_points(f"{version}/finished"))
    for tag, points in logged.items():
        for (step, time, value), found in zip(points, read.points[tag], strict=True):
            assert found[0] == step
            assert 0 <= float(found[1]) - float(time) < 2
            assert found[2] == (value.removeprefix("-") if version == OLD and "inf" in value else value)  # fmt: skip # noqa: E501


@pytest.mark.parametrize("folder", RUNS)
def test_the_title_is_what_swanlab_shows(folder: str) -> None:
    """The experiment's name, in the start of both kinds; here that of its folder."""
    assert SwanlabParser().feed(recorded(folder)).title == folder.rpartition("/")[2]


def test_zero_is_a_value() -> None:
    """Protocol buffers leave zeros out: step 0 and value 0.0 are there all the same."""
    read = feed_parser(SwanlabParser(), [recorded(f"{NEW}/finished")])
    assert read.values_by_step()["rollout/ep_rew_mean"][0] == (0, 0.0)
    assert read.values("train/loss")[8] == 0.0


def test_non_finite_values_are_kept() -> None:
    """NaN and both infinities."""
    values = feed_parser(SwanlabParser(), [recorded(f"{NEW}/finished")]).values("train/loss")
    assert math.isnan(values[5])
    assert values[6:8] == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("folder", "state", "words"),
    [
        (f"{NEW}/finished", State.FINISHED, "finished"),
        (f"{NEW}/raised", State.DIED, "CUDA out of memory"),
        (f"{OLD}/finished", State.FINISHED, "finished"),
        (f"{OLD}/raised", State.DIED, "crashed"),
    ],
)
def test_the_end_is_reported(folder: str, state: State, words: str) -> None:
    """A finish record or a footer, with the last line of the error where there is one."""
    ended = feed_parser(SwanlabParser(), [recorded(folder)]).ended
    assert ended is not None
    assert ended.state is state
    assert words in ended.text


@pytest.mark.parametrize("version", [NEW, OLD])
def test_a_killed_run_has_no_end(version: str) -> None:
    """Nothing is said, and what was written is read."""
    read = feed_parser(SwanlabParser(), [recorded(f"{version}/killed")])
    assert read.ended is None
    assert len(read.values("train/approx_kl")) >= 58


@pytest.mark.parametrize("folder", RUNS)
def test_console_lines_are_kept(folder: str) -> None:
    """What the process printed."""
    assert "update 3 reward 4.5" in feed_parser(SwanlabParser(), [recorded(folder)]).texts()


@pytest.mark.parametrize("version", [NEW, OLD])
def test_every_way_of_feeding_agrees(version: str) -> None:
    """Whole, byte by byte and in odd pieces: the same."""
    parse_every_way(SwanlabParser, recorded(f"{version}/raised"))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 74_000), max_size=8))
def test_any_cut_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive, everything that is given is the same."""
    for version in (NEW, OLD):
        data = recorded(f"{version}/killed")
        assert_same(
            feed_parser(SwanlabParser(), cut_at(data, places)), feed_parser(SwanlabParser(), [data])
        )


@pytest.mark.parametrize("version", [NEW, OLD])
def test_cut_at_every_byte(version: str) -> None:
    """A log cut anywhere is read so far; the rest completes it."""
    data = recorded(f"{version}/raised")
    assert_truncation_is_harmless(SwanlabParser, data[:2000])
    assert_truncation_is_harmless(SwanlabParser, data, stride=67)


@pytest.mark.parametrize("version", [NEW, OLD])
def test_hundreds_of_kinds_of_damage(version: str) -> None:
    """Damage never raises, never hangs, never fills the memory, and is reported with its offset."""
    data = recorded(f"{version}/raised")
    whole = feed_parser(SwanlabParser(), [data])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(400):
        broken = damaged_bytes(data, seed)
        read = feed_parser(SwanlabParser(), chunks(broken, 4096))
        assert all(0 <= problem.offset <= len(broken) for problem in read.problems)
        assert read.problems or read.points == whole.points
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_an_unflushed_file_is_waited_for() -> None:
    """A live run shows no byte at first: no complaint, no answer yet."""
    assert FORMAT.claims("run-x.swanlab", b"") is None
    assert_same(feed_parser(SwanlabParser(), [recorded(f"{NEW}/raised")[:7]]), ParserOutput())


def test_the_file_is_recognised_by_its_first_bytes() -> None:
    """A record file, not the SQLite store with the same suffix."""
    assert detect_format("backup.swanlab", recorded(f"{OLD}/raised")[:4096]) is FORMAT
    assert FORMAT.claims("runs.swanlab", b"SQLite format 3\0") is False
