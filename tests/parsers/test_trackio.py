"""Trackio's database and inbox: equal to what sqlite3 reads, never touched, never in the way."""

from __future__ import annotations

import math
import shutil
import sqlite3
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.parsers import detect_format
from ppo_top.parsers.shared.stores.sqlite_snapshot import DatabaseBusy, SqliteSnapshot
from ppo_top.parsers.trackio import FORMATS, TrackioInboxParser, TrackioStore
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
    cuts_of_pages,
    damaged_bytes,
    memory_folder,
    recorded_points,
    shrink_database,
)

BASE = "trackio_0.43.0"
INSERT = "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)"
CONFIG = {"learning_rate": 3e-4, "beta": 0.04, "num_generations": 8, "model": "tiny", "bf16": False}


def database(name: str) -> Path:
    """A recorded database."""
    return DATA_FOLDER / BASE / name / "trackio" / "ppo.db"


def copied(name: str, folder: Path) -> Path:
    """The same with all files next to it, where it may be changed."""
    shutil.copytree(database(name).parent, folder / "trackio")
    return folder / "trackio" / "ppo.db"


def read_all(store: TrackioStore, limit: int = 1000) -> dict[str, ParserOutput]:
    """Everything that is new in a store, by run."""
    runs: dict[str, ParserOutput] = {}
    while batch := store.poll(limit):
        runs.setdefault(batch.stored_run, ParserOutput()).add_batch(batch)
    return runs


def _all_into(read: ParserOutput, store: TrackioStore) -> None:
    """Add everything that is new in a store."""
    while batch := store.poll(1000):
        read.add_batch(batch)


def rows_of(name: str) -> dict[str, list[dict[str, Any]]]:
    """The expected points of each run."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for row in recorded_points(f"{BASE}/{name}"):
        runs.setdefault(row["run"], []).append(row)
    return runs


@pytest.mark.parametrize("name", ["live", "closed"])
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_points_equal_those_of_sqlite(name: str, limit: int) -> None:
    """Every number, step and time of every run, however many rows are asked for at once."""
    store = TrackioStore(database(name))
    found = read_all(store, limit)
    store.close()
    assert {run: read.points for run, read in found.items()} == {
        run: comparable_columns(rows) for run, rows in rows_of(name).items()
    }
    assert all(read.config == CONFIG for read in found.values())
    assert all(read.problems == [] for read in found.values())


def test_rows_that_are_in_the_write_ahead_log_only_are_read(tmp_path: Path) -> None:
    """The recorded live database holds one row; the others are in its log."""
    path = copied("live", tmp_path)
    (path.parent / "ppo.db-wal").unlink()
    store = TrackioStore(path)
    assert len(read_all(store)["first"].values("train/loss")) == 1
    store.close()


def test_non_finite_values_are_kept() -> None:
    """Trackio spells them as words."""
    store = TrackioStore(database("closed"))
    values = read_all(store)["first"].values("train/loss")
    store.close()
    assert math.isnan(values[5])
    assert values[6:9] == [math.inf, -math.inf, 0.0]


def test_nothing_is_left_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file appears next to the database, none changes, and no copy stays, open or closed."""
    path = copied("live", tmp_path)
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    before = {each: (each.stat().st_mtime_ns, each.read_bytes()) for each in path.parent.iterdir()}
    store = TrackioStore(path)
    assert len(read_all(store)["first"].values("late")) == 1
    assert list(private.iterdir()) == []
    store.close()
    after = {each: (each.stat().st_mtime_ns, each.read_bytes()) for each in path.parent.iterdir()}
    assert after == before


def test_new_rows_are_seen_once(tmp_path: Path) -> None:
    """A writer that goes on, in the log or after a checkpoint: each row once."""
    path = copied("closed", tmp_path)
    store = TrackioStore(path)
    read_all(store)
    assert not store.poll(1000)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    for step in range(50):
        writer.execute(
            INSERT, ("x", "2026-11-21T02:40:41+00:00", "new", step, f'{{"loss": {step}.5}}')
        )
        if step == 20:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert read_all(store)["new"].values_by_step() == {"loss": [(step, step + 0.5)]}
    writer.close()
    store.close()


def test_a_growing_log_does_not_copy_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as the writer only adds to its log, the database is copied once."""
    path = copied("closed", tmp_path)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    store = TrackioStore(path)
    read_all(store)
    copies: list[str] = []
    copy = shutil.copyfile

    def counted_copy(source: str, target: str) -> str:
        copies.append(source)
        return copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", counted_copy)
    for step in range(30):
        writer.execute(INSERT, ("x", "2026-11-21T02:40:41+00:00", "new", step, b'{"loss": 1.5}'))
        assert read_all(store)["new"].values_by_step() == {"loss": [(step, 1.5)]}
    assert copies == []
    writer.execute("PRAGMA wal_checkpoint(RESTART)")
    writer.execute(INSERT, ("x", "2026-11-21T02:40:41+00:00", "new", 30, b'{"loss": 2.5}'))
    assert read_all(store)["new"].values_by_step() == {"loss": [(30, 2.5)]}
    assert copies
    writer.close()
    store.close()


def test_a_large_database_without_a_log_is_not_copied_at_each_commit(tmp_path: Path) -> None:
    """Fifty times as long as a copy took there is none; what was committed meanwhile then comes."""
    path, ticks, copies = tmp_path / "metrics.db", count(), []
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE metrics (value)")
    writer.execute("INSERT INTO metrics VALUES (zeroblob(9000000))")
    snapshot = SqliteSnapshot(path, lambda: float(next(ticks)))
    for number in range(200):
        writer.execute("INSERT INTO metrics VALUES (1)")
        try:
            snapshot.refresh()
        except DatabaseBusy:
            continue
        copies.append(number)
        assert snapshot.rows("SELECT count(*) FROM metrics") == [(number + 2,)]
    assert len(copies) <= 5
    assert any(snapshot.is_due for _ in range(100))
    snapshot.refresh()
    assert snapshot.rows("SELECT count(*) FROM metrics") == [(201,)]
    assert not snapshot.is_due
    snapshot.close()
    writer.close()


def test_runs_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    """Two runs may be called the same, and a name may hold anything."""
    path = copied("closed", tmp_path)
    writer = sqlite3.connect(path)
    for run, name in (("aaaaaaaaaa", "first"), ("b", "../../etc\n"), ("c", "..")):
        writer.execute(INSERT, (run, "", name, 1, b'{"loss": 1}'))
    writer.commit()
    writer.close()
    store = TrackioStore(path)
    assert list(read_all(store)) == ["first", "second", "first_aaaaaaaa", ".._.._etc_", ".._c"]
    store.close()


def test_system_metrics_are_kept_apart_from_the_training(tmp_path: Path) -> None:
    """They have a table of their own, without a step; none is lost where they are many."""
    path = copied("closed", tmp_path)
    writer = sqlite3.connect(path)
    insert = INSERT.replace("INTO metrics", "INTO system_metrics").replace("step, ", "")
    for second in range(30):
        stamp = f"2026-11-21T02:40:{second:02}+00:00"
        text = b'{"gpu/0/utilization": %d, "gpu/0/name": "x", "gpu/0/temp": NaN}' % second
        writer.execute(insert.replace("?, ?, ?, ?, ?", "?, ?, ?, ?"), ("a", stamp, "first", text))
    writer.execute(insert.replace("?, ?, ?, ?, ?", "?, ?, ?, ?"), ("a", "", "first", b"{broken"))
    writer.commit()
    writer.close()
    store = TrackioStore(path)
    read = read_all(store, limit=7)
    store.close()
    assert read["first"].points == {}
    assert list(read["first"].machine) == ["gpu/0/utilization"]
    measured = read["first"].machine["gpu/0/utilization"]
    assert [float(value) for _, _, value in measured] == list(map(float, range(30)))
    assert [step - measured[0][0] for step, _, _ in measured] == list(range(30))
    assert sum(map(len, read["second"].points.values())) > 0


def test_older_tables_without_a_run_id_are_read(tmp_path: Path) -> None:
    """Up to 0.10 a run is known by its name only, and up to 0.2 the numbers are text."""
    path = tmp_path / "old.db"
    writer = sqlite3.connect(path)
    writer.execute(
        "CREATE TABLE metrics"
        " (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)"
    )
    writer.execute(
        "INSERT INTO metrics VALUES (1, '2026-01-01T00:00:00', 'a', 3, '{\"loss\": NaN}')"
    )
    writer.commit()
    writer.close()
    store = TrackioStore(path)
    read = read_all(store)["a"]
    store.close()
    assert read.steps("loss") == [3]
    assert math.isnan(read.values("loss")[0])
    assert read.times("loss") == [1767225600.0]


def test_another_programs_database_is_let_alone(tmp_path: Path) -> None:
    """No copy, no points, no complaint."""
    path = tmp_path / "mlflow.db"
    writer = sqlite3.connect(path)
    writer.execute("CREATE TABLE metrics (key TEXT, value REAL, step INTEGER)")
    writer.commit()
    writer.close()
    store = TrackioStore(path)
    assert not store.poll(10)
    assert store._snapshot._connection is None
    store.close()


def test_a_bad_row_costs_only_itself(tmp_path: Path) -> None:
    """A row that is not JSON is reported by its number; the next one is read."""
    path = copied("closed", tmp_path)
    writer = sqlite3.connect(path)
    for text in (b"{", b'{"loss": 1}', "\x00"):
        writer.execute(INSERT, ("x", "y", "bad", 1, text))
    writer.commit()
    writer.close()
    store = TrackioStore(path)
    read = read_all(store)["bad"]
    store.close()
    assert read.values("loss") == [1.0]
    assert [problem.offset for problem in read.problems] == [28, 30]


def test_hundreds_of_kinds_of_damage() -> None:
    """A damaged database or log never raises and never hangs; what it gives are numbers."""
    names = ("ppo.db", "ppo.db-wal")
    bodies = {name: (database("live").parent / name).read_bytes() for name in names}
    with memory_folder() as folder:
        for seed in range(400):
            for place, (name, body) in enumerate(bodies.items()):
                (folder / name).write_bytes(
                    damaged_bytes(body, seed) if seed % 2 == place else body
                )
            store = TrackioStore(folder / "ppo.db")
            for read in read_all(store).values():
                assert all(problem.offset >= 0 for problem in read.problems)
            store.close()


def test_a_cut_database_is_told_and_read_when_it_is_whole(tmp_path: Path) -> None:
    """A database that is being copied to its place is complained of once, then read."""
    whole = database("closed").read_bytes()
    path = tmp_path / "ppo.db"
    path.write_bytes(whole[: len(whole) // 3])
    store = TrackioStore(path)
    batches = [store.poll(1000) for _ in range(4)]
    assert sum(len(batch.problems) for batch in batches) <= 1
    path.write_bytes(whole)
    assert (
        sum(len(read.values("train/loss")) for read in read_all(store).values())
        + sum(
            len(points)
            for batch in batches
            for points in batch.points
            if points.tag == "train/loss"
        )
        == 25
    )
    store.close()


def test_a_database_cut_anywhere() -> None:
    """Whatever part has arrived, nothing is raised; the rest completes it, each row once."""
    with memory_folder() as folder:
        path = folder / "ppo.db"
        shrink_database(database("closed"), path, {"metrics": 2, "configs": 1})
        whole = path.read_bytes()
        store = TrackioStore(path)
        expected_points = read_all(store)["first"].points
        store.close()
        for size in cuts_of_pages(len(whole)):
            path.write_bytes(whole[:size])
            store, read = TrackioStore(path), ParserOutput()
            _all_into(read, store)
            assert len(read.problems) <= 1
            path.write_bytes(whole)
            _all_into(read, store)
            store.close()
            assert read.points == expected_points, size


def test_a_log_cut_anywhere() -> None:
    """Of the write-ahead log the whole commits are read, and the others when they are whole."""
    with memory_folder() as folder:
        path = folder / "ppo.db"
        shrink_database(database("closed"), path, {"metrics": 1})
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute(INSERT, ("x", "2026-11-21T02:40:41+00:00", "new", 1, b'{"loss": 1.5}'))
        writer.execute(INSERT, ("x", "2026-11-21T02:40:41+00:00", "new", 2, b'{"loss": 2.5}'))
        copy = folder / "copy.db"
        shutil.copyfile(path, copy)
        log = (folder / "ppo.db-wal").read_bytes()
        writer.close()
        for size in cuts_of_pages(len(log)):
            (folder / "copy.db-wal").write_bytes(log[:size])
            store = TrackioStore(copy)
            steps = read_all(store).get("new", ParserOutput()).steps("loss")
            assert steps == [1, 2][: len(steps)]
            (folder / "copy.db-wal").write_bytes(log)
            steps += read_all(store).get("new", ParserOutput()).steps("loss")
            assert steps == [1, 2], size
            store.close()


def test_each_run_of_a_database_is_a_source_of_its_own() -> None:
    """As if each run had its own folder next to the database."""
    path = database("closed")
    feed = LogReader(FoundFile(str(path), "trackio/ppo.db", str(path.parent.parent)), detect_format)
    keys = []
    while feed.has_changed() or feed.more:
        gain = feed.read_update()
        if gain is not None and gain.batch:
            keys.append(gain.source.key)
    assert set(keys) == {"trackio/first/ppo.db", "trackio/second/ppo.db"}
    assert [source.key for source in feed.sources] == [
        "trackio/first/ppo.db",
        "trackio/second/ppo.db",
    ]
    feed.close()


# --- the inbox -------------------------------------------------------------------------------


def inbox() -> bytes:
    """The recorded file of the inbox."""
    (found,) = (DATA_FOLDER / BASE / "inbox").rglob("00000000.jsonl")
    return found.read_bytes()


def test_the_inbox_equals_its_lines() -> None:
    """Every number, step and time, and the configuration, in every way of feeding."""
    read = parse_every_way(TrackioInboxParser, inbox())
    assert read.points == comparable_columns(recorded_points(f"{BASE}/inbox"))
    assert read.config == CONFIG
    assert read.problems == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8400), max_size=8))
def test_any_cut_of_the_inbox_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive, everything that is given is the same."""
    assert_same(
        feed_parser(TrackioInboxParser(), cut_at(inbox(), places)),
        feed_parser(TrackioInboxParser(), [inbox()]),
    )


def test_the_inbox_cut_at_every_byte() -> None:
    """An inbox file cut anywhere is read so far; the rest completes it."""
    assert_truncation_is_harmless(TrackioInboxParser, inbox()[:2500])
    assert_truncation_is_harmless(TrackioInboxParser, inbox(), stride=61)


def test_hundreds_of_kinds_of_damage_to_the_inbox() -> None:
    """Damage never raises and is reported with its offset."""
    for seed in range(400):
        broken = damaged_bytes(inbox(), seed)
        read = feed_parser(TrackioInboxParser(), chunks(broken, 1000))
        assert all(0 <= problem.offset <= len(broken) for problem in read.problems)


def test_both_are_recognised() -> None:
    """By the name and the first bytes."""
    trackio, jsonl = FORMATS
    assert detect_format("ppo.db", database("closed").read_bytes()[:4096]) is trackio
    assert detect_format("00000000.jsonl", inbox()[:4096]) is jsonl
    assert trackio.claims("x.db", b"") is None
    assert trackio.claims("x.db", b"not SQLite at all") is False
