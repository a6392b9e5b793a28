"""MLflow's stores: equal to its own client, read live, never touched."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.model import RunEnd, State
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Store
from ppo_top.parsers.mlflow import claims_run
from ppo_top.parsers.mlflow.database import MlflowDatabase
from ppo_top.parsers.mlflow.run_folder import MlflowRunFolder
from tests.support.parser_harness import ParserOutput
from tests.support.recordings import (
    DATA_FOLDER,
    damaged_bytes,
    memory_folder,
    recorded_points,
    shrink_database,
)

BASE = "mlflow_3.17.2"
DATABASE = DATA_FOLDER / BASE / "database" / "mlflow.db"
RUNS = DATA_FOLDER / BASE / "files" / "mlruns" / "0"
CONFIG = {"learning_rate": 3e-4, "clip_range": 0.2, "total_timesteps": 81920, "norm": True}
FINISHED, FAILED = RunEnd(State.FINISHED, "FINISHED"), RunEnd(State.DIED, "FAILED")
SMALL = {"runs": 3, "metrics": 400, "params": 9}
INSERT = "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)"


def read_all(store: Store, limit: int = 1000) -> dict[str, ParserOutput]:
    """Everything that is new in a store, by run."""
    runs: dict[str, ParserOutput] = {}
    while batch := store.poll(limit):
        runs.setdefault(batch.stored_run, ParserOutput()).add_batch(batch)
    return runs


def read_database(limit: int = 1000) -> list[ParserOutput]:
    """The runs of the recorded database."""
    store = MlflowDatabase(DATABASE)
    found = read_all(store, limit)
    store.close()
    return list(found.values())


def read_files(limit: int = 1000) -> list[ParserOutput]:
    """The runs of the recorded directories."""
    folders = sorted(RUNS.glob("*/meta.yaml"))
    return [
        output for path in folders for output in read_all(MlflowRunFolder(path), limit).values()
    ]


def kind_of(output: ParserOutput) -> str:
    """Which of the recorded runs it is: by its end."""
    return {FINISHED: "healthy", FAILED: "sick", None: "going on"}[output.ended]


def sorted_points(rows: list[tuple[int, str, str]]) -> list[tuple[str, int, str]]:
    """Points by time: the client returns those of one metric in no particular order."""
    return sorted((time, step, value) for step, time, value in rows)


@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.parametrize(("kind", "read"), [("database", read_database), ("files", read_files)])
def test_points_equal_those_of_mlflow(
    kind: str, read: Callable[[int], list[ParserOutput]], limit: int
) -> None:
    """Every value, step and time of every metric of every run, non-finite ones included."""
    expected: dict[tuple[str, str], list[tuple[int, str, str]]] = {}
    for row in recorded_points(f"{BASE}/{kind}"):
        point = (row["step"], repr(float(row["time"])), repr(float(row["value"])))
        expected.setdefault((row["run"], row["tag"]), []).append(point)
    outputs = {kind_of(output): output for output in read(limit)}
    assert outputs.keys() == {run for run, _ in expected}
    assert {(run, tag) for run, output in outputs.items() for tag in output.points} == set(expected)
    for (run, tag), points in expected.items():
        found = outputs[run].points[tag]
        if tag == "without_step":
            assert [step for step, _, _ in found] == list(range(40))
            found = [(0, time, value) for _, time, value in found]
        assert sorted_points(found) == sorted_points(points), (run, tag)
    for run, output in outputs.items():
        assert output.problems == []
        assert output.config == ({} if run == "going on" else CONFIG)


@pytest.mark.parametrize("kind", ["database", "files"])
def test_check_finds_the_sick_run(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run is one of its own, under MLflow's name for it, though two have the same."""
    assert main(["check", "--json", "--no-cache", str(DATA_FOLDER / BASE / kind)]) == 1
    runs = json.loads(capsys.readouterr().out)["runs"]
    found = {(run["state"], run["verdict"]) for run in runs if "ppo" in run["name"]}
    assert found == {("died", "crit"), ("finished", "healthy")}
    assert [run["name"] for run in runs if "ppo" not in run["name"]] == ["going on"]


def test_nothing_is_left_beside_the_database(tmp_path: Path) -> None:
    """It is read from a private copy: no journal, no lock, no change."""
    path = Path(shutil.copy(DATABASE, tmp_path))
    before = path.stat().st_mtime_ns, path.read_bytes()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")  # nobody else may read
    store = MlflowDatabase(path)
    assert len(read_all(store)) == 3
    writer.execute("ROLLBACK")
    writer.close()
    store.close()
    assert [each.name for each in tmp_path.iterdir()] == ["mlflow.db"]
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_database_is_read_live(journal: str, tmp_path: Path) -> None:
    """Each new row once, a run that begins, and a run that ends without another row."""
    path = Path(shutil.copy(DATABASE, tmp_path))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute(f"PRAGMA journal_mode = {journal}")
    store = MlflowDatabase(path)
    read_all(store)
    (run,) = writer.execute("SELECT run_uuid FROM runs WHERE status = 'RUNNING'").fetchone()
    for step in range(5, 9):
        writer.execute(INSERT, ("loss", step / 2, 1000 * step, run, step, False))
        assert read_all(store)["going on"].points == {
            "loss": [(step, repr(float(step)), repr(step / 2))]
        }
    assert not store.poll(1000)
    writer.execute("UPDATE runs SET status = 'KILLED' WHERE run_uuid = ?", (run,))
    assert read_all(store)["going on"].ended == RunEnd(State.ENDED, "KILLED")
    columns = "run_uuid, name, status, lifecycle_stage, experiment_id"
    writer.execute(f"INSERT INTO runs ({columns}) VALUES ('n', 'new', 'RUNNING', 'active', 0)")
    writer.execute(INSERT, ("loss", 0, 1000, "n", 3, True))
    ((step, time, value),) = read_all(store)["new"].points["loss"]
    assert (step, time, value) == (3, "1.0", "nan")
    writer.close()
    store.close()


def test_system_metrics_are_kept_apart_from_the_training(tmp_path: Path) -> None:
    """MLflow numbers them as if they were updates."""
    tag = "system/gpu_0_utilization_percentage"
    path = Path(shutil.copy(DATABASE, tmp_path))
    writer = sqlite3.connect(path, isolation_level=None)
    (run,) = writer.execute("SELECT run_uuid FROM runs WHERE status = 'RUNNING'").fetchone()
    writer.execute(INSERT, (tag, 55.0, 1_790_000_000_500, run, 0, False))
    writer.close()
    found = read_all(MlflowDatabase(path))["going on"]
    folder = run_folder(tmp_path, status="1")
    (folder / "metrics" / "system").mkdir()
    (folder / "metrics" / tag).write_text("1790000000500 55.0 0\n")
    (read,) = read_all(MlflowRunFolder(folder / "meta.yaml")).values()
    for output in (found, read):
        assert output.machine == {tag: [(1_790_000_000, "1790000000.5", "55.0")]}
        assert tag not in output.points


def test_deleted_runs_are_left_out(tmp_path: Path) -> None:
    """MLflow marks them; their files and rows stay."""
    path = Path(shutil.copy(DATABASE, tmp_path))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE runs SET lifecycle_stage = 'deleted' WHERE status != 'RUNNING'")
    writer.close()
    assert list(read_all(MlflowDatabase(path))) == ["going on"]
    meta = run_folder(tmp_path) / "meta.yaml"
    meta.write_text(meta.read_text().replace("active", "deleted"))
    assert read_all(MlflowRunFolder(meta)) == {}


def run_folder(folder: Path, status: str = "3") -> Path:
    """A copy of a recorded run that ended with this status."""
    for meta in RUNS.glob("*/meta.yaml"):
        if f"status: {status}" in meta.read_text():
            return Path(shutil.copytree(meta.parent, folder / "run"))
    raise AssertionError(status)


def test_a_directory_is_read_live(tmp_path: Path) -> None:
    """Further lines, half a line, a new metric, a parameter, the end."""
    folder = run_folder(tmp_path, status="1")
    store = MlflowRunFolder(folder / "meta.yaml")
    read_all(store)
    assert not store.side_files_changed()
    with (folder / "metrics" / "loss").open("a") as file:
        file.write("5000 0.5 5\n6000 0.")
        file.flush()
        assert store.side_files_changed()
        assert read_all(store)["going on"].points == {"loss": [(5, "5.0", "0.5")]}
        file.write("25 6 validation 1f3a\n")
    assert read_all(store)["going on"].points == {"loss": [(6, "6.0", "0.25")]}
    (folder / "metrics" / "eval").mkdir()
    (folder / "metrics" / "eval" / "reward").write_text("7000 1.5 7\n")
    assert store.side_files_changed()
    assert read_all(store)["going on"].points == {"eval/reward": [(7, "7.0", "1.5")]}
    (folder / "params").mkdir()
    (folder / "params" / "gamma").write_text("0.99")
    meta = folder / "meta.yaml"
    meta.write_text(meta.read_text().replace("status: 1", "status: 4"))
    output = read_all(store)["going on"]
    assert output.config == {"gamma": 0.99}
    assert output.ended == FAILED
    assert not store.poll(1000)


def test_a_metric_that_was_cut_starts_the_run_anew(tmp_path: Path) -> None:
    """Through the reader of files: what was read before is void."""
    folder = run_folder(tmp_path)
    store = MlflowRunFolder(folder / "meta.yaml")
    whole = read_all(store)["ppo"]
    (folder / "metrics" / "odd").write_text("1000 7.0 1\n")
    batch = store.poll(10_000)
    assert batch.restarted
    again = ParserOutput()
    again.add_batch(batch)
    assert again.points["odd"] == [(1, "1.0", "7.0")]
    assert again.points["train/value_loss"] == whole.points["train/value_loss"]


def test_the_age_of_a_run_is_that_of_its_last_point(tmp_path: Path) -> None:
    """meta.yaml is as old as the start of the run."""
    folder = run_folder(tmp_path, status="1")
    (folder / "metrics" / "loss").write_text("1700000000000 0.5 5\n")
    reader = LogReader(
        FoundFile(str(folder / "meta.yaml"), "run/meta.yaml", str(tmp_path)), detect_format
    )
    update = reader.read_update()
    assert update is not None
    assert update.mtime == 1_700_000_000.0


@pytest.mark.parametrize("line", ["", "1 2 3 4", "x 1 2", "1 x 2", "1 1 x", f"1 1 {2**63}"])
def test_a_damaged_line_costs_itself(line: str, tmp_path: Path) -> None:
    """The lines around it are read; an empty one is nothing."""
    folder = run_folder(tmp_path)
    (folder / "metrics" / "odd").write_text(f"1000 7.0 1\n{line}\n3000 9.0 3\n")
    output = read_all(MlflowRunFolder(folder / "meta.yaml"))["ppo"]
    assert output.values_by_step()["odd"] == [(1, 7.0), (3, 9.0)]
    assert len(output.problems) == (1 if line else 0)


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_nothing_before_a_random_damage_is_lost(seed: int) -> None:
    """In files: the lines before the first changed byte."""
    (source,) = (each for each in RUNS.glob("*/metrics/odd") if "status: 3" in meta_of(each))
    whole = source.read_bytes()
    broken = damaged_bytes(whole, seed)
    same = next(
        (at for at, pair in enumerate(zip(whole, broken, strict=False)) if pair[0] != pair[1]),
        len(broken),
    )
    with memory_folder() as folder:
        (folder / "metrics").mkdir()
        (folder / "meta.yaml").write_text("status: 1\n")
        (folder / "metrics" / "odd").write_bytes(broken)
        outputs = read_all(MlflowRunFolder(folder / "meta.yaml"))
    values = [value for output in outputs.values() for value in output.values("odd")]
    before = [float(line.split()[1]) for line in whole[:same].decode().split("\n")[:-1]]
    assert repr(values[: len(before)]) == repr(before)


def meta_of(metric: Path) -> str:
    """What describes the run of a metric's file."""
    return (metric.parents[1] / "meta.yaml").read_text()


@cache
def small_database() -> bytes:
    """Some rows of the recorded one."""
    with memory_folder() as folder:
        shrink_database(DATABASE, folder / "small.db", SMALL)
        return (folder / "small.db").read_bytes()


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_a_damaged_database_is_reported_or_read(seed: int) -> None:
    """SQLite itself finds most damage; nothing is raised, nothing is read twice."""
    with memory_folder() as folder:
        path = folder / "mlflow.db"
        path.write_bytes(damaged_bytes(small_database(), seed))
        store = MlflowDatabase(path)
        found = read_all(store)
        store.close()
    points = sum(len(rows) for output in found.values() for rows in output.points.values())
    assert points <= 2 * SMALL["metrics"]
    assert not any(math.isnan(each) for output in found.values() for each in output.times("loss"))


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """An experiment's meta.yaml, and a database with other tables."""
    assert claims_run("meta.yaml", b"artifact_location: x\ncreation_time: 1\nname: a\n") is False
    assert claims_run("meta.yaml", b"lay") is None
    path = tmp_path / "mlflow.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE metrics (run_uuid, key)")
    other.close()
    assert read_all(MlflowDatabase(path)) == {}
