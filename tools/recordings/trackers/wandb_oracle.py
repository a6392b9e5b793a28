"""Reads recorded .wandb files with wandb 0.16.6's DataStore and the newest protobuf classes.

wandb 0.31 ships no reader in Python any more, and its messages are newer than those of 0.16.6.
Usage: run.sh VENV(wandb==0.31.0) wandb_oracle.py \
    VENV(wandb==0.16.6)/lib/python3.11/site-packages/wandb/sdk/internal/datastore.py \
    wandb_0.31.0/finished ...
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wandb
from oracle import OUT, point, write_expected
from wandb.proto import wandb_internal_pb2


def records(reader: str, path: Path) -> Iterator[wandb_internal_pb2.Record]:
    """Every record until the file's end, or until a torn one."""
    spec = importlib.util.spec_from_file_location("datastore", reader)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    wandb._assert_is_internal_process = True  # the old reader asks for it, the new wandb lost it
    spec.loader.exec_module(module)
    store = module.DataStore()
    store.open_for_scan(str(path))
    while True:
        try:
            data = store.scan_data()
        except AssertionError:
            return
        if data is None:
            return
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        yield record


def numbers(prefix: str, value: object) -> Iterator[tuple[str, float]]:
    """The numbers in one decoded value; dictionaries are walked, lists are not."""
    if isinstance(value, (bool, int, float)):
        yield prefix, float(value)
    elif isinstance(value, dict) and "_type" not in value:
        for key, inner in value.items():
            yield from numbers(f"{prefix}.{key}", inner)


def step_of(row: dict[str, object], axes: list[str], counter: int) -> int:
    """The run's own step: an axis the run declared or that trainers share, else the counter."""
    for name in ("train/global_step", "global_step", *axes):
        value = row.get(name)
        if isinstance(value, (int, float)) and float(value).is_integer():
            return int(value)
    return counter


def history(record: wandb_internal_pb2.Record, axes: list[str]) -> Iterator[dict[str, object]]:
    """The points of one history record."""
    items = [
        (".".join(i.nested_key) if i.nested_key else i.key, json.loads(i.value_json))
        for i in record.history.item
    ]
    row = dict(items)
    histograms = {name[: -len("._type")] for name in row if name.endswith("._type")}
    step = step_of(row, axes, int(row.get("_step", record.history.step.num)))
    for name, value in items:
        if name in ("_step", "_timestamp", "_runtime", "_wandb"):
            continue
        if any(name.startswith(f"{h}.") for h in histograms):
            continue
        for tag, number in numbers(name, value):
            yield point(tag, step, number, row.get("_timestamp"))


def main() -> None:
    reader, *names = sys.argv[1:]
    for name in names:
        folder = OUT / name
        rows: list[dict[str, object]] = []
        axes: list[str] = []
        other: dict[str, Any] = {"config": {}, "lines": "", "exit": None}
        for record in records(reader, next(folder.rglob("*.wandb"))):
            kind = record.WhichOneof("record_type")
            if kind == "history":
                rows.extend(history(record, axes))
            elif kind == "metric" and record.metric.step_metric not in axes:
                axes += [record.metric.step_metric] if record.metric.step_metric else []
            elif kind == "exit":
                other["exit"] = record.exit.exit_code
            elif kind == "output_raw":
                other["lines"] += record.output_raw.line
            elif kind in ("run", "config"):
                config = record.run.config if kind == "run" else record.config
                for item in config.update:
                    key = ".".join(item.nested_key) or item.key
                    other["config"][key] = json.loads(item.value_json)
        other["config"].pop("_wandb", None)
        write_expected(folder, rows)
        (folder / "expected_rest.json").write_text(json.dumps(other, indent=1) + "\n")
        finite = sum(isinstance(r["value"], float) and math.isfinite(r["value"]) for r in rows)
        print(name, len(rows), "points", finite, "finite; exit", other["exit"])


if __name__ == "__main__":
    main()
