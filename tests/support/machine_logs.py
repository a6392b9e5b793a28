"""Logs that hold measurements of the machine beside the training: an inbox of Trackio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

START = 1_790_000_000.0
"""When the first update is logged (unix seconds)."""
UPDATE_S, MEASUREMENT_S = 10.0, 4.0
"""The time between two updates, and between two measurements."""

Measurement = Callable[[float], Mapping[str, float]]
"""Seconds since the first update -> values by Trackio's tag."""


def gpu(busy: float, memory: float = 0.5) -> dict[str, float]:
    """What Trackio logs of one GPU that is busy for some per cent of the time."""
    return {"gpu/0/utilization": busy, "gpu/0/memory_usage": memory, "cpu/utilization": 90.0}


def inbox_lines(updates: int, measured: Measurement) -> Iterator[bytes]:
    """The records of a training in the order of time, with measurements between the updates."""
    rows = [(UPDATE_S * number, number) for number in range(updates)]
    times = [MEASUREMENT_S * number for number in range(int(updates * UPDATE_S / MEASUREMENT_S))]
    for time, number in sorted([*rows, *((time, -1) for time in times)]):
        if number < 0:
            yield _record("system_metric", time, dict(measured(time)))
        else:
            values = {"train/global_step": 100 * number, "train/reward": 1.0 + number % 3}
            yield _record("metric", time, values, step=number)


def _record(kind: str, time: float, metrics: dict[str, float], **rest: object) -> bytes:
    stamp = datetime.fromtimestamp(START + time, UTC).isoformat()
    record = {"v": 1, "kind": kind, "project": "p", "run": "r", "metrics": metrics, **rest}
    return json.dumps({**record, "timestamp": stamp}, separators=(",", ":")).encode() + b"\n"
