"""Reads recorded .swanlab files with the reader of the SwanLab that wrote them: `expected_store`.

Usage: run.sh VENV swanlab_oracle.py; takes the folder of the installed version.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path

import swanlab
from oracle import OUT, point, write_expected


def until_torn(store: Iterator[str]) -> Iterator[str]:
    """The records before the one that a killed writer left unfinished."""
    from swanlab.error import ValidationError

    try:
        yield from store
    except (ValidationError, AssertionError):
        return


def new_points(path: Path) -> Iterator[dict[str, object]]:
    """0.8 and later: protobuf records."""
    from swanlab.proto.swanlab.record.v1.record_pb2 import Record
    from swanlab.sdk.internal.core_python.store import DataStoreReader

    reader = DataStoreReader()
    reader.open(path)
    for data in reader:
        record = Record()
        record.ParseFromString(data)
        if record.HasField("scalar"):
            s = record.scalar
            time = s.timestamp.seconds + s.timestamp.nanos / 1e9
            yield point(s.key, s.step, s.value.number, time)
        elif record.HasField("finish"):
            print(path.name, "state", record.finish.state, record.finish.error[:60])
    reader.close()


def old_points(path: Path) -> Iterator[dict[str, object]]:
    """0.6 and 0.7: one JSON object a record."""
    from swanlab.data.porter.datastore import DataStore

    words = {"NaN": "nan", "INF": "inf"}
    store = DataStore()
    store.open_for_scan(str(path))
    for text in until_torn(store):
        record = json.loads(text)
        if record["model_type"] == "Scalar":
            data, metric = record["data"], record["data"]["metric"]
            value = metric["data"]
            time = datetime.datetime.fromisoformat(metric["create_time"]).timestamp()
            row = point(data["key"], data["step"], 0.0, time)
            yield row | {"value": words.get(value, value)}
        elif record["model_type"] == "Footer":
            print(path.name, record["data"])
    store.close()


def main() -> None:
    base = OUT / f"swanlab_{swanlab.__version__}"
    for folder in sorted(base.iterdir()):
        for path in folder.rglob("run-*/*.swanlab"):
            new = path.name.startswith("run-")
            rows = list(new_points(path) if new else old_points(path))
            write_expected(folder, rows, "expected_store")
            print(folder.name, len(rows), "points")


if __name__ == "__main__":
    main()
