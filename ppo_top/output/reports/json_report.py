"""The JSON object that `check --json` prints."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ppo_top.model import NO_STEP, UNKNOWN_SAMPLE, Finding, Mark, Sample, Series, Status
from ppo_top.rules.engine.stats import NOISE_VALUES, noise_std
from ppo_top.runs.run import Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.views.judged_by import JudgedBy, judged_by
from ppo_top.views.open_findings import FindingKey, explained_findings, finding_key
from ppo_top.views.run_view import CheckRow, RunView


def run_json_text(run: Run, view: RunView) -> str:
    """The object of a run as JSON text; non-finite numbers are strings."""
    return json.dumps(run_object(run, view), allow_nan=False)


def run_object(run: Run, view: RunView) -> dict[str, Any]:
    """A run, as an element of `runs`, after its identity, which `run_report` writes."""
    config = sorted(run.evaluation.config.items())
    return {
        "verdict": view.verdict,
        "judged_by": _judged_by(judged_by(run), view),
        "sources": [_source(source, run) for source in _ordered(run)],
        "progress": {
            "axis": view.progress.axis,
            "row": view.progress.row_kind,
            "step": view.progress.step,
            "total": view.progress.total,
            "updates": view.progress.updates,
            "first_time": json_value(view.progress.first_time),
            "last_time": json_value(view.progress.last_time),
        },
        "config": {key: json_value(value) for key, value in config},
        "metrics": list(_metrics(run)),
        "checklist": [_check_row(row) for row in view.checklist],
        "open": [opened.finding.rule for opened in view.open_findings],
        "findings": list(_findings(run, view)),
        "problems": [
            {"path": source.key, "offset": problem.offset, "what": problem.message}
            for source in _ordered(run)
            for problem in source.problems
        ],
    }


def _judged_by(found: JudgedBy, view: RunView) -> dict[str, Any]:
    missing = (row for row in view.checklist if row.status is Status.MISSING and row.track is None)
    return {
        "rules": found.rules,
        "of": found.of,
        "not_logged": [row.concept for row in missing],
        "suggested_tags": found.suggested_tags,
    }


def json_value(value: Any) -> Any:
    """The value, with NaN and infinities as the strings `nan`, `inf` and `-inf`."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _ordered(run: Run) -> list[SourceState]:
    return [run.sources[key] for key in sorted(run.sources)]


def _source(source: SourceState, run: Run) -> dict[str, Any]:
    return {
        "path": source.key,
        "format": source.format,
        "points": source.points,
        "problems": source.problem_count,
        "left_out": source.left_out_values,
        "joined_by": run.joined_by.get(source.key) or None,
        "notes": source.all_notes,
    }


def _metrics(run: Run) -> Iterable[dict[str, Any]]:
    concepts = {(track.source, track.tag): name for name, track in run.timeline.tracks.items()}
    for source in _ordered(run):
        for tag in sorted(source.series):
            series = source.series[tag]
            name = concepts.get((source.key, tag)) or run.evaluation.concept_of(source, tag) or ""
            concept = name if not name.startswith("tag:") else ""
            sample = run.profile.samples.get(concept, UNKNOWN_SAMPLE)
            yield {**_metric(source, tag, concept or None, series), **_row_of(sample, series)}


def _row_of(sample: Sample, series: Series) -> dict[str, Any]:
    """What one value measures, and the standard deviation of its noise, in the log's unit."""
    newest = _finite(series.values[-NOISE_VALUES - 2 :])
    return {
        "row": sample.kind or None,
        "episodes_a_row": 1 if sample.kind == "episode" else sample.episodes or None,
        "noise": json_value(noise_std(newest)) if len(newest) > 2 else None,
    }


def _metric(source: SourceState, tag: str, concept: str | None, series: Series) -> dict[str, Any]:
    finite = _finite(series.values)
    return {
        "tag": tag,
        "concept": concept,
        "source": source.key,
        "points": len(series),
        "non_finite": len(series) - len(finite),
        "first_step": series.steps[0],
        "last_step": series.steps[-1],
        "first": json_value(series.values[0]),
        "last": json_value(series.values[-1]),
        "min": min(finite, default=None),
        "max": max(finite, default=None),
    }


def _finite(values: array[float]) -> Sequence[float]:
    """The values without NaN and infinities: nearly always all of them, as their sum tells."""
    if math.isfinite(sum(values)):
        return values
    return [value for value in values if math.isfinite(value)]


def _check_row(row: CheckRow) -> dict[str, Any]:
    return {
        "concept": row.concept,
        "label": row.label,
        "status": row.status.value,
        "value": json_value(row.value),
        "healthy": row.healthy,
        "note": row.note,
    }


def _findings(run: Run, view: RunView) -> Iterable[dict[str, Any]]:
    explained = explained_findings(run)
    said_now = {finding_key(each.finding): each.message for each in view.open_findings}
    for finding in run.findings:
        said = said_now.get(finding_key(finding), finding.message)
        yield {**finding_object(finding, run, explained), "message_now": said}


def finding_object(
    finding: Finding, run: Run, explained: Mapping[FindingKey, str]
) -> dict[str, Any]:
    """A finding, as an element of `findings`; `explained`: what open diagnoses explain."""
    tags = [run.profile.tags[name] for name in finding.concepts if name in run.profile.tags]
    return {
        "rule": finding.rule,
        "title": finding.title,
        "severity": finding.severity.word,
        "worst_severity": finding.worst_severity.word,
        "concepts": list(finding.concepts),
        "tags": tags,
        "since_step": _step(finding.since),
        "since_time": _time(finding.since),
        "since_word": finding.since_word,
        "opened_step": _step(finding.opened),
        "cleared_step": finding.cleared.step if finding.cleared else None,
        "value": json_value(finding.value),
        "limit": json_value(finding.limit),
        "message": finding.message,
        "evidence": list(finding.evidence),
        "causes": list(finding.causes),
        "try": list(finding.remedies),
        "source": finding.source,
        "members": list(finding.members),
        "explained_by": explained.get(finding_key(finding)),
    }


def _step(mark: Mark) -> int | None:
    return mark.step if mark.step != NO_STEP else None


def _time(mark: Mark) -> float | None:
    return mark.time if math.isfinite(mark.time) else None
