"""Every point in long form: `run,source,tag,concept,step,time,value`."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TextIO

from ppo_top.output.json_report import json_value
from ppo_top.runs.run import Run

EXPORT_COLUMNS = ("run", "source", "tag", "concept", "step", "time", "value")

ExportRow = tuple[str, str, str, str, int, float, float]


def export(runs: Iterable[Run], out: TextIO, fmt: str, source: str) -> None:
    """Write the points of runs as `csv` or `jsonl`.

    `source` is `all` (every point of every file as written) or `best` (the merged series that are
    charted and judged, in the common sign and unit of their concept).
    """
    points = chain.from_iterable(map(_all_points if source == "all" else _best_points, runs))
    (_csv if fmt == "csv" else _jsonl)(points, out)


def _all_points(run: Run) -> Iterator[ExportRow]:
    for key in sorted(run.sources):
        state = run.sources[key]
        for tag in sorted(state.series):
            series, concept = state.series[tag], run.evaluation.concept_of(state, tag) or ""
            for step, time, value in zip(series.steps, series.times, series.values, strict=True):
                yield run.name, key, tag, concept, step, time, value


def _best_points(run: Run) -> Iterator[ExportRow]:
    for name in sorted(run.timeline.tracks):
        track = run.timeline.tracks[name]
        concept = "" if name.startswith("tag:") else name
        for step, time, value in zip(track.steps, track.times, track.values, strict=True):
            yield run.name, track.source, track.tag, concept, step, time, value


def _csv(points: Iterable[ExportRow], out: TextIO) -> None:
    """Floats are written by `repr`, which reads back as the same float; NaN is `nan`."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(EXPORT_COLUMNS)
    for run, source, tag, concept, step, time, value in points:
        when = repr(time) if math.isfinite(time) else ""
        writer.writerow((run, source, tag, concept, step, when, repr(value)))


def _jsonl(points: Iterable[ExportRow], out: TextIO) -> None:
    for point in points:
        record: dict[str, Any] = dict(zip(EXPORT_COLUMNS, point, strict=True))
        record["time"] = record["time"] if math.isfinite(record["time"]) else None
        record["value"] = json_value(record["value"])
        out.write(json.dumps(record) + "\n")
