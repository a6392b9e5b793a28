"""Every point in long form: `run,source,tag,concept,step,time,value`.

JSON lines also have `axis`: what the step is, `step`, `episode`, (where it is only counted)
`update`, or `second` for measurements of the machine, which no step belongs to: their unix time.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TextIO

from ppo_top.catalogue import machine_tag
from ppo_top.model import Axis
from ppo_top.output.reports.json_report import json_value
from ppo_top.runs.meaning_by_values import counted_axis
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.runs.sources.source_chain import numbering_tags, numbers_as_steps
from ppo_top.text.format import clean

EXPORT_COLUMNS = ("run", "source", "tag", "concept", "step", "time", "value")

ExportRow = tuple[str, str, str, str, int, float, float, Axis]


def export(
    runs: Iterable[Run], out: TextIO, fmt: str, source: str, err: TextIO | None = None
) -> None:
    """Write the points of runs as `csv` or `jsonl`.

    `source` is `all` (every point of every file as written) or `best` (the merged series that are
    charted and judged, in the common sign and unit of their concept). CSV has no column for the
    axis: of which runs the steps are counted is told on `err`. Names are written as they are, but
    for bytes that are no UTF-8, and not to a terminal, which might obey them; JSON has escapes for
    that.
    """
    if err is not None and fmt == "csv":
        runs = _telling_axis(runs, err)
    points = exported_points(runs, source)
    if fmt == "jsonl":
        _jsonl(points, out)
    else:
        write_csv(map(_cleaned, points) if out.isatty() else points, out)


def exported_points(runs: Iterable[Run], source: str) -> Iterator[ExportRow]:
    """The points of runs, each of which is only looked at in its turn; `source` as in `export`."""
    return chain.from_iterable(map(_all_points if source == "all" else _best_points, runs))


def _telling_axis(runs: Iterable[Run], err: TextIO) -> Iterator[Run]:
    for run in runs:
        if run.timeline.axis is Axis.UPDATE:
            what = f"{clean(run.name)}: no log states a step; its updates are counted"
            print(f"ppo-top: {what}", file=err)
        yield run


def _cleaned(point: ExportRow) -> ExportRow:
    run, source, tag, concept, step, time, value, axis = point
    return clean(run), clean(source), clean(tag), clean(concept), step, time, value, axis


def _all_points(run: Run) -> Iterator[ExportRow]:
    for key in sorted(run.sources):
        state = run.sources[key]
        concepts = {tag: run.evaluation.concept_of(state, tag) or "" for tag in state.series}
        axis = _axis(state, concepts)
        for tag, concept in sorted(concepts.items()):
            series = state.series[tag]
            for step, time, value in zip(series.steps, series.times, series.values, strict=True):
                yield run.name, key, tag, concept, step, time, value, axis
        for tag in sorted(state.machine):
            series, known = state.machine[tag], machine_tag(tag)
            concept = known.metric if known is not None else ""
            for step, time, value in zip(series.steps, series.times, series.values, strict=True):
                yield run.name, key, tag, concept, step, time, value, Axis.SECOND


def _axis(source: SourceState, concepts: Mapping[str, str]) -> Axis:
    """What the steps of a source are, of which `concepts` tells what its tags mean."""
    if source.counts_updates:
        return counted_axis(source.series)
    return numbers_as_steps(source.facts, numbering_tags(concepts))[0]


def _best_points(run: Run) -> Iterator[ExportRow]:
    for name in sorted(run.timeline.tracks):
        yield from track_points(run, run.timeline.tracks[name])


def track_points(run: Run, track: Track, seen: int | None = None) -> Iterator[ExportRow]:
    """The first `seen` points of a charted series (None: all)."""
    concept = "" if track.concept.startswith("tag:") else track.concept
    points = zip(track.steps, track.times, track.values, strict=True)
    for step, time, value in islice(points, seen):
        yield run.name, track.source, track.tag, concept, step, time, value, run.timeline.axis


def write_csv(points: Iterable[ExportRow], out: TextIO) -> None:
    """Floats are written by `repr`, which reads back as the same float; NaN is `nan`."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(EXPORT_COLUMNS)
    for run, source, tag, concept, step, time, value, _ in points:
        names = map(_in_utf_8, (run, source, tag, concept))
        when = repr(time) if math.isfinite(time) else ""
        writer.writerow((*names, step, when, repr(value)))


@lru_cache(maxsize=1_000)
def _in_utf_8(name: str) -> str:
    """A name that any reader of CSV can decode: other bytes of file names are as JSON has them."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _jsonl(points: Iterable[ExportRow], out: TextIO) -> None:
    for point in points:
        record: dict[str, Any] = dict(zip((*EXPORT_COLUMNS, "axis"), point, strict=True))
        record["time"] = record["time"] if math.isfinite(record["time"]) else None
        record["value"] = json_value(record["value"])
        out.write(json.dumps(record) + "\n")
