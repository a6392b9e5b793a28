"""Every point in long form: `run,source,tag,concept,step,time,value`."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, TextIO

from ppo_top.output.json_report import json_value
from ppo_top.runs.run import Run
from ppo_top.runs.timeline import Track

EXPORT_COLUMNS = ("run", "source", "tag", "concept", "step", "time", "value")

ExportRow = tuple[str, str, str, str, int, float, float]


def export(runs: Iterable[Run], out: TextIO, fmt: str, source: str) -> None:
    """Write the points of runs as `csv` or `jsonl`.

    `source` is `all` (every point of every file as written) or `best` (the merged series that are
    charted and judged, in the common sign and unit of their concept).
    """
    points = chain.from_iterable(map(_all_points if source == "all" else _best_points, runs))
    (write_csv if fmt == "csv" else _jsonl)(points, out)


def _all_points(run: Run) -> Iterator[ExportRow]:
    for key in sorted(run.sources):
        state = run.sources[key]
        for tag in sorted(state.series):
            series, concept = state.series[tag], run.evaluation.concept_of(state, tag) or ""
            for step, time, value in zip(series.steps, series.times, series.values, strict=True):
                yield run.name, key, tag, concept, step, time, value


def _best_points(run: Run) -> Iterator[ExportRow]:
    for name in sorted(run.timeline.tracks):
        yield from track_points(run, run.timeline.tracks[name])


def track_points(run: Run, track: Track, seen: int | None = None) -> Iterator[ExportRow]:
    """The first `seen` points of a charted series (None: all)."""
    concept = "" if track.concept.startswith("tag:") else track.concept
    points = zip(track.steps, track.times, track.values, strict=True)
    for step, time, value in islice(points, seen):
        yield run.name, track.source, track.tag, concept, step, time, value


def write_csv(points: Iterable[ExportRow], out: TextIO) -> None:
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
