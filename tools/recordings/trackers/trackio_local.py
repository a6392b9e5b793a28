"""Records Trackio stores: one copied while the writer lives, one after its end, the inbox form.

The database is read back with sqlite3 from a copy: `expected.points`.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from oracle import fresh, point, spell, write_expected

CONFIG = {"learning_rate": 3e-4, "beta": 0.04, "num_generations": 8, "model": "tiny", "bf16": False}


def rows(count: int) -> list[dict[str, object]]:
    """What a trainer logs: flat names, every kind of number, one nested dictionary."""
    special = {5: math.nan, 6: math.inf, 7: -math.inf, 8: 0.0}
    return [
        {
            "train/loss": special.get(i, 1 / (i + 1)),
            "train/kl": 0.001 * i / 3,
            "train/reward": i * 1.5,
            "train/global_step": i + 1,
            "train/note": "text",
            "nested": {"deep": {"kl": i / 7}},
            "nothing": None,
        }
        for i in range(count)
    ]


def write(name: str, count: int, wait: bool) -> None:
    import trackio

    trackio.init(project="ppo", name=name, config=CONFIG, embed=False)
    for i, row in enumerate(rows(count)):
        trackio.log(row)
        if wait and i == 0:
            time.sleep(4)  # the database is made with the first row; a reader comes
    trackio.log({"late": 1.0}, step=500)
    if wait:
        time.sleep(4)
        print("written", flush=True)
        sys.stdin.readline()
    trackio.finish()


def flat(prefix: str, value: object) -> list[tuple[str, object]]:
    """The numbers of a stored row; words for non-finite ones are Trackio's."""
    words = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in flat(f"{prefix}.{k}" if prefix else k, v)]
    if isinstance(value, (bool, int, float)):
        return [(prefix, spell(value))]
    if isinstance(value, str) and value in words:
        return [(prefix, words[value])]
    return []


def seconds(text: str) -> float:
    """Trackio writes UTC with or without an offset."""
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def expected(
    stamp: str, run: str, counter: int, metrics: dict[str, Any]
) -> list[dict[str, object]]:
    step = metrics.get("train/global_step", counter)
    return [
        {"run": run} | point(tag, int(step), 0.0, seconds(stamp)) | {"value": value}
        for tag, value in flat("", metrics)
    ]


def read_database(path: Path) -> list[dict[str, object]]:
    """Every row of the table, by sqlite3 on a copy of database and write-ahead log."""
    with tempfile.TemporaryDirectory() as folder:
        for part in path.parent.glob(f"{path.name}*"):
            shutil.copy(part, folder)
        base = sqlite3.connect(Path(folder) / path.name)
        query = "SELECT timestamp, run_name, step, metrics FROM metrics ORDER BY id"
        found = base.execute(query).fetchall()
        base.close()
    return [p for t, run, step, m in found for p in expected(t, run, step, json.loads(m))]


def read_inbox(folder: Path) -> list[dict[str, object]]:
    """Every line of the inbox files, folder by folder."""
    result = []
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            if record["kind"] == "metric":
                result += expected(
                    record["timestamp"], record["run"], record["step"], record["metrics"]
                )
    return result


def environment(store: Path, mode: str) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(Path(__file__).parent),
        "TRACKIO_DIR": str(store),
        "TRACKIO_STORAGE_MODE": mode,
        "HF_HUB_OFFLINE": "1",
    }


def record(name: str, mode: str, live: bool, runs: list[str]) -> None:
    store = Path("work", name, "trackio").resolve()
    store.mkdir(parents=True)
    target = fresh(f"trackio_{sys.argv[1]}", name)
    for run in runs:
        command = [sys.executable, __file__, "write", run, "20" if run != "second" else "5"]
        process = subprocess.Popen(
            [*command, "wait" if live else "go"],
            env=environment(store, mode),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if live:
            # A dashboard in the middle of reading keeps the write-ahead log from being folded in.
            while not (store / "ppo.db").exists():
                time.sleep(0.05)
            time.sleep(1.0)
            dashboard = sqlite3.connect(store / "ppo.db", isolation_level=None)
            dashboard.execute("BEGIN")
            dashboard.execute("SELECT count(*) FROM sqlite_master").fetchall()
            while process.stdout and "written" not in process.stdout.readline():
                pass
            shutil.copytree(store, target / "trackio", ignore=shutil.ignore_patterns("*-shm"))
            dashboard.close()
        process.communicate("\n")
        print(name, run, "exit", process.returncode)
    if not live:
        shutil.copytree(store, target / "trackio")
    database = target / "trackio" / "ppo.db"
    found = read_database(database) if database.exists() else read_inbox(target / "trackio")
    write_expected(target, found)
    print(name, len(found), "points", sorted(p.name for p in target.rglob("*") if p.is_file()))


def main() -> None:
    import trackio

    if sys.argv[1:2] == ["write"]:
        return write(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "wait")
    sys.argv[1:] = [trackio.__version__]
    record("live", "sqlite", True, ["first"])
    record("closed", "sqlite", False, ["first", "second"])
    record("inbox", "jsonl", False, ["first"])
    return None


if __name__ == "__main__":
    main()
