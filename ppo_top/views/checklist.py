"""The checklist: the crucial values of a run at a moment, each with its range and its colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ppo_top.catalogue import TAG_PREFIX, Trainer, concept, logged_as
from ppo_top.model import Finding, Severity, Status
from ppo_top.rules.crucial_values import crucial_values, not_logged_text
from ppo_top.rules.engine.ranges import HealthyRange, colour, healthy_range
from ppo_top.runs.run import Run
from ppo_top.runs.timeline import Track
from ppo_top.text.format import count
from ppo_top.text.format import format_metric_value as value_text
from ppo_top.views.open_findings import OpenFinding

WARMUP_POINTS = 5
"""Points after which a value without findings is called ok rather than warming up."""

AT_CEILING_RULE = "at-ceiling"
"""While this finding is open, values that need a spread of returns mean little."""

FALLBACK_CONCEPTS = {"approx_kl": "approx_kl_k1"}
"""Some trainers log a plainer estimate of the same: it is shown where the first is not logged."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the checklist.

    `status` is the colour: of the newest value against its range, or of an open finding where that
    is worse. `healthy` is the range in words ("0.001-0.02", "should rise"). `note` says what is to
    be said beside it: "since 14,336", "warming up 7/15", "not logged: ...". `rule` names the
    finding that speaks of this row, if one is open.
    """

    concept: str
    label: str
    status: Status
    value: float | None
    text: str
    healthy: str
    healthy_range: HealthyRange | None
    since_step: int | None
    note: str
    rule: str | None
    track: Track | None
    is_crucial: bool


def make_check_rows(run: Run, row: int, opened: tuple[OpenFinding, ...]) -> Iterator[CheckRow]:
    listed = set()
    for name, label in crucial_values(run.profile):
        for spelt in _logged_names(run, name):
            listed.add(spelt)
            yield _check_row(
                run, row, spelt, label if spelt == name else concept(spelt).label, opened, True
            )
    for name in sorted(logged_concepts(run), key=lambda each: concept(each).order):
        if name not in listed and healthy_range(name, run.profile) is not None:
            yield _check_row(run, row, name, concept(name).label, opened, False)


def _logged_names(run: Run, name: str) -> list[str]:
    """The concept, what stands in for it, or each of its parametrised forms that the run logs."""
    if not name.endswith("{f}"):
        other, tracks = FALLBACK_CONCEPTS.get(name, ""), run.timeline.tracks
        return [other if other in tracks and name not in tracks else name]
    stem = name[: -len("f}")]
    return sorted(track for track in run.timeline.tracks if track.startswith(stem))


def _check_row(
    run: Run, row: int, name: str, label: str, opened: tuple[OpenFinding, ...], is_crucial: bool
) -> CheckRow:
    track = run.timeline.tracks.get(name)
    seen = track.count_until(row) if track else 0
    limits = healthy_range(name, run.profile)
    if track is None or not seen:
        note = _why_missing(name, run.trainer) if track is None or not len(track) else "no data yet"
        return CheckRow(
            name, label, Status.MISSING, None, "", limits.text if limits else "", limits,
            None, note, None, None, is_crucial,
        )  # fmt: skip
    value = track.values[seen - 1]
    speaks = _worst_finding_on(run, row, name)
    settled = any(each.finding.rule == AT_CEILING_RULE for each in opened)
    status = colour(name, value, run.profile, settled)
    note = (
        "" if status is colour(name, value, run.profile) else "uninformative: returns are constant"
    )
    if speaks is not None:
        finding, severity = speaks
        status = worse(status, severity.status)
        note = f"since {count(finding.since.step)}"
    elif status is Status.OK and seen < WARMUP_POINTS:
        status, note = Status.WARMING_UP, f"warming up {seen}/{WARMUP_POINTS}"
    return CheckRow(
        concept=name,
        label=label,
        status=status,
        value=value,
        text=value_text(value, concept(name).fmt),
        healthy=limits.text if limits else "",
        healthy_range=limits,
        since_step=speaks[0].since.step if speaks else None,
        note=note,
        rule=speaks[0].rule if speaks else None,
        track=track,
        is_crucial=is_crucial,
    )


def _why_missing(name: str, producer: Trainer) -> str:
    """What to say of a value that is not logged: how it would be, else what its tag would be."""
    words = not_logged_text(name, producer.id)
    if ":" in words:
        return words
    tags = logged_as(name, producer)
    return f"not logged ({producer.label} tag: {tags[0].tag})" if tags else words


def _worst_finding_on(run: Run, row: int, name: str) -> tuple[Finding, Severity] | None:
    """The worst finding that is open at a row and is first of all about a concept."""
    names = {name} | {first for first, second in FALLBACK_CONCEPTS.items() if second == name}
    about = [
        (finding, severity)
        for finding in run.findings
        if not names.isdisjoint(finding.concepts)
        and not finding.members
        and (severity := finding.severity_at(row)) is not None
    ]
    return max(about, key=lambda pair: pair[1], default=None)


def with_newest_values(rows: Iterable[CheckRow], run: Run) -> Iterator[CheckRow]:
    """While a long log is read: the rows with the values that stand at its end."""
    newest = run.newest_values
    for row in rows:
        value = newest.get(row.concept)
        if value is None:
            yield row
            continue
        yield replace(
            row,
            value=value,
            text=value_text(value, concept(row.concept).fmt),
            status=worse(row.status, colour(row.concept, value, run.profile)),
            note="still reading",
        )


def worse(one: Status, other: Status) -> Status:
    """The one of two that says more trouble."""
    return one if one.rank >= other.rank else other


def logged_concepts(run: Run) -> Iterator[str]:
    """The concepts that a run logs."""
    for name, track in run.timeline.tracks.items():
        if len(track) and not name.startswith(TAG_PREFIX):
            yield name
