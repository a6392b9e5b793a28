"""SwanLab's local store: equal to what was logged and to the files, and never touched."""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.model import State
from ppo_top.parsers import detect_format
from ppo_top.parsers.swanlab.sqlite_store import FORMATS, SwanlabStore
from tests.support.parser_harness import ParserOutput
from tests.support.recordings import (
    DATA_FOLDER,
    comparable_columns,
    cuts_of_pages,
    damaged_bytes,
    memory_folder,
    recorded_file,
    recorded_points,
    shrink_database,
)

OLD, LATER = "swanlab_0.4.12", "swanlab_0.6.13"


def copied(folder: str, target: Path) -> Path:
    """A recorded store where it may be changed, unpacked if it was compressed."""
    shutil.copytree(DATA_FOLDER / folder / "swanlog", target / "swanlog")
    for packed in (target / "swanlog").glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return target / "swanlog" / "runs.swanlab"


def read_all(store: SwanlabStore, limit: int = 100_000) -> dict[str, ParserOutput]:
    """Everything that is new in a store, by run."""
    runs: dict[str, ParserOutput] = {}
    while batch := store.poll(limit):
        runs.setdefault(batch.stored_run, ParserOutput()).add_batch(batch)
    return runs


def _all_into(read: ParserOutput, store: SwanlabStore) -> None:
    """Add everything that is new in a store."""
    while batch := store.poll(1000):
        read.add_batch(batch)


def only(runs: dict[str, ParserOutput]) -> ParserOutput:
    """The store's only run."""
    (read,) = runs.values()
    return read


def from_files(folder: str) -> dict[str, list[tuple[int, str, str]]]:
    """The points as json and the tags' folders in the database give them."""
    path = recorded_file(folder, "swanlog/runs.swanlab")
    base = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    tags = base.execute("SELECT name, folder FROM tag").fetchall()
    base.close()
    words = {"NaN": math.nan, "INF": math.inf}
    found: dict[str, list[tuple[int, str, str]]] = {}
    for name, number in tags:
        files = (DATA_FOLDER / folder).glob(f"swanlog/run-*/logs/{number}/*000.log")
        for file in sorted(files, key=lambda each: int(each.stem)):
            for line in file.read_text().splitlines():
                row = json.loads(line)
                time = datetime.fromisoformat(row["create_time"]).timestamp()
                value = float(words.get(row["data"], row["data"]))
                found.setdefault(name, []).append((row["index"], repr(time), repr(value)))
    return {tag: points for tag, points in found.items() if not tag.startswith("__swanlab__.")}


@pytest.mark.parametrize(
    "folder", [f"{OLD}/finished", f"{OLD}/raised", f"{OLD}/long", f"{LATER}/finished"]
)
@pytest.mark.parametrize("limit", [1, 50, 100_000])
def test_points_equal_those_in_the_files(folder: str, limit: int) -> None:
    """Every number, step and time of every tag, however many are asked for at once."""
    store = SwanlabStore(recorded_file(folder, "swanlog/runs.swanlab"))
    read = only(read_all(store, limit))
    store.close()
    assert read.points == from_files(folder)
    assert read.problems == []


@pytest.mark.parametrize("folder", [f"{OLD}/killed", f"{LATER}/killed", f"{OLD}/long"])
def test_points_are_those_that_were_logged(folder: str, tmp_path: Path) -> None:
    """Compared with the calls themselves; a store keeps -inf as inf."""
    store = SwanlabStore(copied(folder, tmp_path))
    read = only(read_all(store))
    store.close()
    for tag, points in comparable_columns(recorded_points(folder)).items():
        for (step, _, value), found in zip(points, read.points[tag], strict=True):
            assert (found[0], found[2]) == (step, value.replace("-inf", "inf"))


@pytest.mark.parametrize(
    ("folder", "state"),
    [
        (f"{OLD}/finished", State.FINISHED),
        (f"{OLD}/raised", State.DIED),
        (f"{LATER}/finished", State.FINISHED),
        (f"{LATER}/raised", State.DIED),
    ],
)
def test_the_database_tells_how_a_run_ended(folder: str, state: State) -> None:
    """1 is finished, -1 is crashed."""
    store = SwanlabStore(recorded_file(folder, "swanlog/runs.swanlab"))
    ended = only(read_all(store)).ended
    store.close()
    assert ended is not None
    assert ended.state is state


def test_a_killed_run_has_no_end(tmp_path: Path) -> None:
    """Its status stays 0; its tags are in the write-ahead log only."""
    path = copied(f"{OLD}/killed", tmp_path)
    store = SwanlabStore(path)
    assert only(read_all(store)).ended is None
    store.close()
    Path(f"{path}-wal").unlink()
    store = SwanlabStore(path)
    assert read_all(store).keys() <= {""}
    store.close()


def test_the_part_is_the_runs_folder() -> None:
    """So that the store's points join the other logs of the same run."""
    path = recorded_file(f"{OLD}/finished", "swanlog/runs.swanlab")
    store = SwanlabStore(path)
    (part,) = read_all(store)
    store.close()
    assert (path.parent / part).is_dir()


def test_nothing_is_left_where_the_store_lives(tmp_path: Path) -> None:
    """No file appears, none changes."""
    path = copied(f"{OLD}/killed", tmp_path)
    before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")}
    store = SwanlabStore(path)
    read_all(store)
    store.close()
    assert {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*")} == before


def test_growth_is_noticed_and_read_once(tmp_path: Path) -> None:
    """The database need not change: a line in a file, or a next file, is enough."""
    store = SwanlabStore(copied(f"{OLD}/finished", tmp_path))
    whole = only(read_all(store))
    assert not store.side_files_changed()
    (folder,) = tmp_path.glob("swanlog/run-*/logs/1")
    line = '{"index": 7, "data": 0.5, "create_time": "2026-11-21T02:36:55.656400+00:00"}\n'
    with open(folder / "1000.log", "a") as file:
        file.write(line[:20])
        file.flush()
        assert read_all(store) == {}
        file.write(line[20:])
    assert store.side_files_changed()
    assert only(read_all(store)).values_by_step() == {"train/loss": [(7, 0.5)]}
    assert not store.side_files_changed()
    (folder / "2000.log").write_text(line)
    assert store.side_files_changed()
    assert only(read_all(store)).values_by_step() == {"train/loss": [(7, 0.5)]}
    assert len(whole.values("train/loss")) == 20
    store.close()


def test_a_run_was_written_when_its_last_point_was(tmp_path: Path) -> None:
    """The database is not touched for a point, and other runs of the store touch it as well."""
    path = copied(f"{OLD}/finished", tmp_path)
    os.utime(path, (1.0, 1.0))
    feed = LogReader(FoundFile(str(path), "swanlog/runs.swanlab", str(tmp_path)), detect_format)
    gain = feed.read_update()
    while gain is not None and not gain.batch.points:
        gain = feed.read_update()
    assert gain is not None
    assert gain.mtime == max(max(points.times) for points in gain.batch.points)
    feed.close()


def test_hostile_names_lead_nowhere(tmp_path: Path) -> None:
    """A folder or a run that points elsewhere is not followed."""
    path = copied(f"{OLD}/finished", tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "1000.log").write_text('{"index": 1, "data": 1.0, "create_time": ""}\n')
    base = sqlite3.connect(path)
    base.execute("UPDATE tag SET folder = '../../../outside' WHERE name = 'train/loss'")
    base.execute("UPDATE tag SET folder = '..' WHERE name = 'n_updates'")
    base.commit()
    base.close()
    store = SwanlabStore(path)
    assert not {"train/loss", "n_updates"} & set(only(read_all(store)).points)
    store.close()


def test_hundreds_of_kinds_of_damage() -> None:
    """A damaged database or a damaged file of points never raises and never hangs."""
    with memory_folder() as folder:
        path = copied(f"{OLD}/finished", folder)
        (points,) = folder.glob("swanlog/run-*/logs/0/1000.log")
        bodies = {path: path.read_bytes(), points: points.read_bytes()}
        for seed in range(400):
            for place, (file, body) in enumerate(bodies.items()):
                file.write_bytes(damaged_bytes(body, seed) if seed % 2 == place else body)
            store = SwanlabStore(path)
            read_all(store)
            store.close()


def test_a_store_cut_anywhere() -> None:
    """Database or points, whatever part has arrived: the rest completes it, each point once."""
    with memory_folder() as folder:
        path = copied(f"{OLD}/finished", folder)
        path.unlink()
        shrink_database(
            recorded_file(f"{OLD}/finished", "swanlog/runs.swanlab"),
            path,
            {"experiment": 1, "tag": 1},
        )
        (points,) = folder.glob("swanlog/run-*/logs/0/1000.log")
        points.write_bytes(b"".join(points.read_bytes().splitlines(keepends=True)[:3]))
        store = SwanlabStore(path)
        whole = only(read_all(store)).points
        store.close()
        for file in (path, points):
            body = file.read_bytes()
            for size in cuts_of_pages(len(body)):
                file.write_bytes(body[:size])
                store, read = SwanlabStore(path), ParserOutput()
                _all_into(read, store)
                assert len(read.problems) <= 1
                file.write_bytes(body)
                _all_into(read, store)
                store.close()
                assert read.points == whole, (file.name, size)


def test_both_kinds_of_file_are_recognised() -> None:
    """The database is read; its points, which have no names of their own, are not read twice."""
    store, points = FORMATS
    path = recorded_file(f"{OLD}/finished", "swanlog/runs.swanlab")
    assert detect_format("runs.swanlab", path.read_bytes()[:4096]) is store
    file = recorded_file(f"{OLD}/finished", "swanlog/run-*/logs/0/1000.log")
    assert detect_format("1000.log", file.read_bytes()[:4096]) is points
    assert detect_format("1000.log", b"Iteration 1/2 | KL: 0.1\n") is not points
    assert points.parser is not None
    assert not points.parser().feed(file.read_bytes())
