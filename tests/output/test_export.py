"""`ppo-top export`: every point, number by number what the formats' own libraries read."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.runs.load import open_loader
from ppo_top.settings import Settings
from tests.support.growing_logs import DEMO_LOGS_FOLDER, demo_runs
from tests.support.machine_logs import gpu, inbox_lines
from tests.support.screens import write_unhealthy_run

HEADER = ["run", "source", "tag", "concept", "step", "time", "value"]


def exported(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> list[list[str]]:
    """The rows of an export, header first."""
    assert main(["export", "--format", "csv", str(path), *more]) == 0
    return list(csv.reader(io.StringIO(capsys.readouterr().out)))


def by_source(rows: list[list[str]]) -> dict[str, dict[str, list[tuple[int, str, float]]]]:
    """source -> tag -> (step, time, value)."""
    found: dict[str, dict[str, list[tuple[int, str, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for _, source, tag, _, step, time, value in rows[1:]:
        found[source][tag].append((int(step), time, float(value)))
    return found


def same(one: float, other: float) -> bool:
    """Equal, NaN equal to NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))


EVENT_FILES = sorted(DEMO_LOGS_FOLDER.glob("*/*tfevents*"))


@pytest.mark.parametrize("path", EVENT_FILES, ids=lambda path: path.parent.name)
def test_event_files_are_read_as_tensorboard_reads_them(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps, wall times and values of every scalar equal those of an unlimited EventAccumulator."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    oracle = EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
    oracle.Reload()
    ours = by_source(exported(capsys, path))[path.name]
    tags = oracle.Tags()["scalars"]
    assert tags
    for tag in tags:
        wanted = oracle.Scalars(tag)
        assert len(ours[tag]) == len(wanted)
        for (step, time, value), event in zip(ours[tag], wanted, strict=True):
            assert step == event.step
            assert float(time) == event.wall_time
            assert same(value, event.value)


CSV_FILES = sorted(DEMO_LOGS_FOLDER.glob("*/progress.csv"))


@pytest.mark.parametrize("path", CSV_FILES, ids=lambda path: path.parent.name)
def test_csv_files_are_read_as_python_reads_them(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every number cell of progress.csv is a point at its row's step."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    ours = by_source(exported(capsys, path))[path.name]
    for column in table[0]:
        wanted = [
            (int(float(row["time/total_timesteps"])), float(row[column]))
            for row in table
            if row[column] != ""
        ]
        if column != "time/total_timesteps":
            assert [(step, value) for step, _, value in ours[column]] == wanted, column


def test_the_header_is_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    """Other programs read these columns."""
    assert exported(capsys, DEMO_LOGS_FOLDER / "sb3_cartpole")[0] == HEADER


def test_values_read_back_as_the_same_float(capsys: pytest.CaptureFixture[str]) -> None:
    """CSV and JSON lines hold the same numbers to the last bit."""
    rows = exported(capsys, DEMO_LOGS_FOLDER / "trl_grpo")[1:]
    assert main(["export", "--format", "jsonl", str(DEMO_LOGS_FOLDER / "trl_grpo")]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows] == [[o["run"], o["source"], o["tag"]] for o in objects]
    assert all(
        same(float(row[6]), float(each["value"])) for row, each in zip(rows, objects, strict=True)
    )


def test_nan_is_spelt_nan(capsys: pytest.CaptureFixture[str]) -> None:
    """A NaN is a value and must not become an empty cell."""
    rows = exported(capsys, DEMO_LOGS_FOLDER / "torch_cartpole_nan")
    assert "nan" in {row[6] for row in rows}


@pytest.mark.parametrize("is_terminal", [True, False])
def test_only_a_terminal_gets_names_without_what_it_would_obey(
    is_terminal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Programs get them as they are, to look them up in the logs."""
    tag = "my/\x1b]0;title\x07\u202e"
    (tmp_path / "progress.csv").write_text(f"step,{tag},loss\n1,2,3\n2,3,4\n", encoding="utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    tags = {row[2] for row in exported(capsys, tmp_path)[1:]}
    assert ("my/�]0;title��" if is_terminal else tag) in tags


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_names_that_are_no_utf_8_leave_a_table_that_any_reader_decodes(tmp_path: Path) -> None:
    """Their bytes are spelt as in JSON."""
    folder = tmp_path / os.fsdecode(b"b\xffd")
    write_unhealthy_run(folder / "progress.csv", updates=5)
    command = [sys.executable, "-m", "ppo_top", "export", str(tmp_path), "--format"]
    table, lines = (
        subprocess.run([*command, fmt], capture_output=True, check=True).stdout.decode("utf-8")
        for fmt in ("csv", "jsonl")
    )
    (name,) = {row[0] for row in csv.reader(io.StringIO(table))} - {"run"}
    assert name == r"b\udcffd"
    assert rf'"run": "{name}"' in lines.splitlines()[0]


@pytest.mark.parametrize("run", demo_runs(), ids=lambda run: run.name)
def test_best_holds_one_series_a_concept_in_its_own_sign(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is charted: no concept from two sources, entropy positive, clip fraction a share."""
    sources: dict[str, set[str]] = defaultdict(set)
    for _, source, _, concept, _, _, value in exported(capsys, run, "--source", "best")[1:]:
        if concept:
            sources[concept].add(source)
        if concept == "clip_fraction":
            assert not float(value) > 1.0
        if concept == "entropy" and "torch" in run.name:
            assert not float(value) < 0.0
    assert sources
    assert all(len(each) == 1 for each in sources.values())


@pytest.mark.parametrize("source", ["all", "best"])
def test_an_export_of_many_points_is_that_of_few(
    source: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points that were freed while the rest was read are read again: each is there once."""
    usual = exported(capsys, DEMO_LOGS_FOLDER, "--source", source)
    monkeypatch.setattr("ppo_top.runs.session.MAX_HELD_POINTS", 1)
    monkeypatch.setattr("ppo_top.runs.session.MIN_DROPPABLE_POINTS", 1)
    assert exported(capsys, DEMO_LOGS_FOLDER, "--source", source) == usual
    assert len({row[0] for row in usual[1:]}) >= 9


def test_points_are_not_piled_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs there are, about as many points are held as are allowed."""
    monkeypatch.setattr("ppo_top.runs.session.MAX_HELD_POINTS", 15_000)
    for number in range(12):
        write_unhealthy_run(tmp_path / f"run{number:02}x" / "progress.csv", updates=1_000)
    loader = open_loader([tmp_path], Settings(), io.StringIO(), bounded=True)
    assert loader is not None
    with closing(loader):
        for run in loader.complete_runs():
            assert run.held_points == run.points
            assert sum(each.held_points for each in loader.session.runs.values()) < 45_000


def test_a_run_whose_logs_disappear_meanwhile_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the others every point is there; half a run would look like a whole one."""
    monkeypatch.setattr("ppo_top.runs.session.MAX_HELD_POINTS", 1)
    for name in ("first", "second", "third"):
        write_unhealthy_run(tmp_path / name / "progress.csv", updates=2_000)
    err = io.StringIO()
    loader = open_loader([tmp_path], Settings(), err, bounded=True)
    assert loader is not None
    seen = []
    with closing(loader):
        for run in loader.complete_runs():
            seen.append(run.name)
            for other in {"first", "second", "third"} - set(seen):
                shutil.rmtree(tmp_path / other, ignore_errors=True)
    assert len(seen) == 1
    assert err.getvalue().count("its logs were deleted while they were read") == 2


def test_a_missing_path_is_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """Export fails where there is nothing to export."""
    assert main(["export", "--format", "csv", "/no/such/place"]) == 2
    assert capsys.readouterr().out == ""


def test_measurements_of_the_machine_have_the_axis_of_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every one with `all`, as its tracker wrote it; with `best` their means at the updates."""
    path = tmp_path / "inbox" / "00000000.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(inbox_lines(10, lambda time: gpu(50.0))))
    assert main(["export", "--format", "jsonl", "--source", "all", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    measured = [row for row in rows if row["tag"] == "gpu/0/utilization"]
    assert len(measured) == 25
    assert {(row["concept"], row["axis"], row["value"]) for row in measured} == {
        ("gpu_busy", "second", 50.0)
    }
    assert all(row["step"] == int(row["time"]) for row in measured)
    best = exported(capsys, tmp_path, "--source", "best")
    shares = {(step, value) for _, _, _, concept, step, _, value in best if concept == "gpu_busy"}
    assert shares == {(str(100 * number), "0.5") for number in range(10)}
