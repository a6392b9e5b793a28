"""Writes `expected.points`: what a fixture's log holds, by another way than ours."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

OUT = Path(os.environ.get("OUT", "."))


def spell(value: float) -> float | str:
    """A float as itself, a non-finite one as a word that JSON knows."""
    number = float(value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def point(tag: str, step: int, value: float, time: float | None) -> dict[str, object]:
    """One line of `expected.points`."""
    return {"tag": tag, "step": step, "value": spell(value), "time": time}


def write_expected(folder: Path, rows: Iterable[dict[str, object]], name: str = "expected") -> None:
    """Write the lines beside the fixture."""
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    (folder / f"{name}.points").write_text(text)


def fresh(*parts: str) -> Path:
    """An empty folder below tests/data."""
    folder = OUT.joinpath(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def tensorboard_points(folder: Path) -> list[dict[str, object]]:
    """Every scalar of the event files below a folder, as TensorBoard's own accumulator reads it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    rows = []
    for file in sorted(folder.rglob("*tfevents*")):
        events = EventAccumulator(str(file), size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        where = {"file": file.relative_to(folder).as_posix()}
        for tag in events.Tags()["scalars"]:
            for e in events.Scalars(tag):
                rows.append(where | point(tag, e.step, e.value, e.wall_time))
        for tag in events.Tags()["tensors"]:
            if events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
                for t in events.Tensors(tag):
                    value = float(tensor_util.make_ndarray(t.tensor_proto))
                    rows.append(where | point(tag, t.step, value, t.wall_time))
    return rows
