"""Stores that are files of their own kind: databases and archives, damaged or well made."""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ppo_top.parsers.base import Store
from tests.fuzz.framed import RECORD_SEPARATOR
from tests.support.parser_harness import ParserOutput
from tests.support.recordings import memory_folder

STORE_FILE_NAMES = {
    "sb3-evaluations": "evaluations.npz",
    "trackio": "project.db",
    "swanlab-store": "runs.swanlab",
    "mlflow-db": "mlflow.db",
    "mlflow-run": "meta.yaml",
    "notebook": "a.ipynb",
    "json-document": "history.json",
    "json-trainings": "results.json",
    "number-row": "rewards.txt",
    "numpy-array": "rewards.npy",
}
MAX_POLLS = 1_000

StoreFactory = Callable[[Path], Store]

SQLITE_INTEGERS = 2.0**63
"""An integer of SQLite is below this."""


def fuzz_store_file(make: StoreFactory, format_name: str, given: bytes) -> None:
    """The file is these bytes; the second half comes a moment later."""
    with memory_folder() as folder:
        path = folder / STORE_FILE_NAMES[format_name]
        path.write_bytes(given[: len(given) // 2])
        with closing(make(path)) as store:
            drain_store(store)
            path.write_bytes(given)
            drain_store(store)


def fuzz_built_store(
    make: StoreFactory, build: Callable[[Path, bytes], Path], given: bytes
) -> None:
    """The file is made of these bytes, and is asked for much and for little at once."""
    with memory_folder() as folder:
        path = build(folder, given)
        with closing(make(path)) as much, closing(make(path)) as little:
            slowly = drain_store(little, 1)
            for part, read in drain_store(much).items():
                assert slowly[part].points == read.points


def drain_store(store: Store, limit: int = 100_000) -> dict[str, ParserOutput]:
    """All that a store gives, by run."""
    runs: dict[str, ParserOutput] = {}
    for _ in range(MAX_POLLS):
        batch = store.poll(limit)
        if not batch:
            return runs
        runs.setdefault(batch.stored_run, ParserOutput()).add_batch(batch)
        store.side_files_changed()
    raise AssertionError("a store has no end")


def build_archive(folder: Path, given: bytes) -> Path:
    """SB3's archive with arrays of these bytes."""
    file = io.BytesIO()
    names = ("timesteps", "results", "ep_lengths", "successes")
    with zipfile.ZipFile(file, "w") as packed:
        for name, data in zip(names, given.split(RECORD_SEPARATOR), strict=False):
            packed.writestr(f"{name}.npy", data)
    path = folder / "evaluations.npz"
    path.write_bytes(file.getvalue())
    return path


def build_trackio_database(folder: Path, given: bytes) -> Path:
    """Trackio's database with rows of these bytes: time, run, step, metrics in turn."""
    path = folder / "project.db"
    base = _open_small_database(path)
    base.execute("CREATE TABLE metrics (timestamp, run_name, step, metrics)")
    base.execute("CREATE TABLE configs (run_name, config)")
    for row in given.split(RECORD_SEPARATOR):
        fields = [field.decode(errors="replace") for field in (*row.split(b"\0", 3), *[b""] * 4)]
        base.execute("INSERT INTO metrics VALUES (?, ?, ?, ?)", fields[:4])
        base.execute("INSERT INTO configs VALUES (?, ?)", (fields[1], fields[3]))
    base.commit()
    base.close()
    return path


def build_swanlab_store(folder: Path, given: bytes) -> Path:
    """SwanLab's older store: three words name a run, a tag and its folder, the rest are lines."""
    run, tag, place, lines = (*given.split(b"\0", 3), *[b""] * 4)[:4]
    path = folder / "runs.swanlab"
    base = _open_small_database(path)
    base.execute("CREATE TABLE experiment (id INTEGER, run_id TEXT, status INTEGER)")
    base.execute("CREATE TABLE tag (id INTEGER, experiment_id INTEGER, name TEXT, folder TEXT)")
    words = [word.decode(errors="replace") for word in (run, tag, place)]
    base.execute("INSERT INTO experiment VALUES (1, ?, 1)", (words[0],))
    base.execute("INSERT INTO tag VALUES (1, 1, ?, ?)", words[1:])
    base.commit()
    base.close()
    logs = folder / "run" / "logs" / "1"
    logs.mkdir(parents=True)
    (logs / "1000.log").write_bytes(lines)
    return path


def build_mlflow_database(folder: Path, given: bytes) -> Path:
    """MLflow's database with rows of these bytes: run, key, value, time, step, is_nan in turn."""
    path = folder / "mlflow.db"
    base = _open_small_database(path)
    base.execute("CREATE TABLE runs (run_uuid, name, status, lifecycle_stage)")
    base.execute("CREATE TABLE metrics (run_uuid, key, value, timestamp, step, is_nan)")
    base.execute("CREATE TABLE params (run_uuid, key, value)")
    for row in given.split(RECORD_SEPARATOR):
        cells = [cell.decode(errors="replace") for cell in (*row.split(b"\0", 5), *[b""] * 6)][:6]
        numbers = [float(cell) if cell.replace(".", "", 1).isdecimal() else cell for cell in cells]
        steps = [
            int(each) if isinstance(each, float) and each < SQLITE_INTEGERS else each
            for each in numbers
        ]
        base.execute(
            "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", (*cells[:2], numbers[2], *steps[3:])
        )
        base.execute("INSERT INTO runs VALUES (?, ?, ?, 'active')", (cells[0], *cells[1:3]))
        base.execute("INSERT INTO params VALUES (?, ?, ?)", cells[:3])
    base.commit()
    base.close()
    return path


def build_mlflow_run(folder: Path, given: bytes) -> Path:
    """The directory of a run: what describes it, then the files of two metrics."""
    meta, *metrics = (*given.split(RECORD_SEPARATOR, 2), b"", b"")[:3]
    (folder / "metrics" / "train").mkdir(parents=True)
    for name, lines in zip(("loss", "train/kl"), metrics, strict=True):
        (folder / "metrics" / name).write_bytes(lines)
    path = folder / "meta.yaml"
    path.write_bytes(meta)
    return path


def build_notebook(folder: Path, given: bytes) -> Path:
    """A notebook with a cell whose outputs are these texts: pages and prints in turn."""
    outputs = []
    for number, text in enumerate(given.decode(errors="replace").split("\0")):
        page = {"output_type": "display_data", "data": {"text/html": text}}
        printed = {"output_type": "stream", "name": "stdout", "text": text}
        outputs.append(printed if number % 2 else page)
    path = folder / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"outputs": outputs}]}))
    return path


def _open_small_database(path: Path) -> sqlite3.Connection:
    """A database of small pages: as a whole it is a seed that is not too long."""
    base = sqlite3.connect(path)
    base.execute("PRAGMA page_size = 512")
    return base


def seed_of_archive(data: bytes) -> bytes:
    """The arrays of a recorded archive, ready to be packed again."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        members = [f"{name}.npy" for name in ("timesteps", "results", "ep_lengths")]
        return RECORD_SEPARATOR.join(packed.read(name) for name in members)


def seed_of_trackio_database() -> bytes:
    """Two rows as Trackio writes them."""
    metrics = json.dumps({"train/loss": 0.5, "train/global_step": 7, "a": {"b": "NaN"}})
    row = f"2026-01-02T03:04:05+00:00\0run\x003\0{metrics}".encode()
    return RECORD_SEPARATOR.join([row, row.replace(b"7", b"8")])


def seed_of_swanlab_store() -> bytes:
    """Lines as SwanLab writes them."""
    line = {"index": 3, "data": 0.25, "create_time": "2026-01-02T03:04:05+00:00"}
    return b"run\0loss\x001\0" + 2 * (json.dumps(line).encode() + b"\n")


def seed_of_mlflow_database() -> bytes:
    """Two rows as MLflow writes them."""
    row = b"a1\0train/loss\x000.5\x001700000000000\x007\x000"
    return RECORD_SEPARATOR.join([row, row.replace(b"7", b"8")])


def seed_of_mlflow_run() -> bytes:
    """What describes a run, and lines of its metrics."""
    meta = b"artifact_uri: x\nlifecycle_stage: active\nrun_id: a1\nrun_name: ppo\nstatus: 3\n"
    lines = b"1700000000000 0.5 7\n1700000000001 nan 8\n"
    return RECORD_SEPARATOR.join([meta, lines, lines])


def seed_of_notebook() -> bytes:
    """The trainer's table, and lines of a loop."""
    head = "<table><tr><th>Step</th><th>Training Loss</th><th>reward</th></tr>"
    row = "<tr><td>1</td><td>0.5</td><td>No Log</td></tr></table>"
    return f"<progress value='1' max='2'>{head}{row}\0step: 1 | loss: 0.5\n".encode()


def seed_of_false_header() -> bytes:
    """An array whose header lies about its shape."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(24)
    return RECORD_SEPARATOR.join([array, array])


def database_bytes(make: Callable[[Path, bytes], Path], given: bytes) -> bytes:
    """A whole small database, to be damaged."""
    with memory_folder() as folder:
        return make(folder, given).read_bytes()


STORE_BUILDERS: dict[str, tuple[str, Callable[[Path, bytes], Path]]] = {
    "sb3-evaluations-arrays": ("sb3-evaluations", build_archive),
    "trackio-rows": ("trackio", build_trackio_database),
    "swanlab-store-lines": ("swanlab-store", build_swanlab_store),
    "mlflow-rows": ("mlflow-db", build_mlflow_database),
    "mlflow-lines": ("mlflow-run", build_mlflow_run),
    "notebook-outputs": ("notebook", build_notebook),
}
"""target -> its format, and what makes a file of an input."""
