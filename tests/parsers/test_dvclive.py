"""DVCLive: one file a metric, named by its path; all of one directory are one run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.parsers import detect_format
from ppo_top.parsers.dvclive import FORMAT, DvcLiveParser, claims, tag_of
from tests.support.parser_harness import ParserOutput, feed_parser, parse_every_way
from tests.support.recordings import (
    DATA_FOLDER,
    assert_truncation_is_harmless,
    damaged_bytes,
    recorded_points,
)

BASE = DATA_FOLDER / "dvclive_3.49.1"
REWARD = (BASE / "sick/dvclive/plots/metrics/train/ep_rew_mean.tsv").read_bytes()
TIMED = (BASE / "sick/dvclive/plots/metrics/entropy.tsv").read_bytes()


def read(path: Path) -> ParserOutput:
    """A file as the follower reads it."""
    output = ParserOutput()
    file = LogReader(FoundFile(str(path), path.name, str(path.parent)), detect_format)
    while (file.has_changed() or file.more) and (update := file.read_update()) is not None:
        assert update.source.format is FORMAT
        output.add_batch(update.batch)
    return output


@pytest.mark.parametrize("kind", ["healthy", "sick"])
def test_every_point_equals_what_was_logged(kind: str) -> None:
    """Steps and values of all metrics under their names, non-finite ones included."""
    logged: dict[str, list[tuple[int, str]]] = {}
    for row in recorded_points(f"{BASE.name}/{kind}"):
        logged.setdefault(row["tag"], []).append((row["step"], repr(float(row["value"]))))
    found: dict[str, list[tuple[int, str]]] = {}
    for path in (BASE / kind).rglob("*.tsv"):
        output = read(path)
        assert output.problems == []
        for tag, points in output.points.items():
            found[tag] = [(step, value) for step, _, value in points]
    assert found == logged


def test_time_stamps_are_read_where_there_are_some() -> None:
    """In milliseconds, as the clock of the machine said them."""
    output = feed_parser(DvcLiveParser(), [TIMED])
    stamps = [int(line.split(b"\t")[0]) for line in TIMED.splitlines()[1:]]
    assert output.times("") == [stamp / 1000 for stamp in stamps]
    assert all(math.isnan(time) for time in feed_parser(DvcLiveParser(), [REWARD]).times(""))


def test_a_directory_is_one_run_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    """Its four metrics and `params.yaml`, named after the directory around `dvclive`."""
    assert main(["check", "--json", "--no-cache", str(BASE)]) == 1
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert {name: run["verdict"] for name, run in runs.items()} == {
        "healthy": "healthy",
        "sick": "crit",
    }
    formats = sorted(source["format"] for source in runs["sick"]["sources"])
    assert formats == ["dvclive"] * 4 + ["settings-yaml"]


@pytest.mark.parametrize("data", [REWARD, TIMED])
def test_the_cut_of_the_bytes_changes_nothing(data: bytes) -> None:
    """Whole, byte by byte, in odd chunks; half a line waits."""
    assert parse_every_way(DvcLiveParser, data).problems == []
    assert_truncation_is_harmless(DvcLiveParser, data, stride=7)


@given(st.integers(0, 10**9))
def test_nothing_before_a_random_damage_is_lost(seed: int) -> None:
    """The lines before the first changed byte are read; what cannot be read has a problem."""
    broken = damaged_bytes(REWARD, seed)
    pairs = enumerate(zip(REWARD, broken, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), len(broken))
    before = feed_parser(DvcLiveParser(), [REWARD[:same]]).values("")
    output = feed_parser(DvcLiveParser(), [broken])
    assert output.values("")[: len(before)] == before
    assert all(0 <= problem.offset <= len(broken) for problem in output.problems)


def test_other_tables_are_left_to_their_parsers() -> None:
    """By the header, in which the file's own name stands last."""
    assert claims("a.tsv", b"step\ta\n1\t2\n")
    assert claims("a.tsv", b"step\ta") is None
    assert claims("a.tsv", b"step\ta\tb\n") is False
    assert claims("b.tsv", b"step\ta\n1\t2\n") is False


def test_the_path_below_the_folder_of_metrics_is_the_tag() -> None:
    """Which the versions named differently; a file that was copied elsewhere has its name."""
    assert tag_of("/runs/dvclive/plots/metrics/train/loss.tsv") == "train/loss"
    assert tag_of("/runs/dvclive/scalars/train/loss.tsv") == "train/loss"
    assert tag_of("/runs/loss.tsv") == "loss"


def test_files_of_an_old_version_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Version 0 wrote them without `plots/metrics`; given alone one is read as well."""
    rows = "".join(f"{1646558615885 + 226 * n}\t{n}\t{n / 10}\n" for n in range(12))
    path = tmp_path / "mean_reward.tsv"
    path.write_text(f"timestamp\tstep\tmean_reward\n{rows}")
    main(["check", "--json", "--no-cache", str(path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (reward,) = run["metrics"]
    assert (reward["concept"], reward["last_step"], reward["last"]) == ("reward_mean", 11, 1.1)
