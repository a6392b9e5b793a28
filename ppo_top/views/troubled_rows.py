"""Where a metric was in trouble: the rows of its findings, and of values beyond its limits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from ppo_top.model import Finding, Severity, Status, open_at
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.crucial_values import FALLBACK_CONCEPTS
from ppo_top.rules.engine.judged_run import AT_CEILING
from ppo_top.rules.engine.ranges import Band
from ppo_top.runs.ongoing_evaluation import LOGGED_SETTINGS
from ppo_top.runs.rows.timeline import Timeline

SETTLED_LOSS = 1e-3
"""A value loss below this share of its highest: the critic predicts well, returns hardly vary."""

WARMUP_POINTS = 5
"""Points after which a value without findings is called ok rather than warming up."""


Extremes = Sequence[tuple[float, float] | None]
"""The lowest and highest value of each column of a drawing; None: no value."""


class RowStatus(NamedTuple):
    """The status of a metric over the rows `first` to `last` (included)."""

    first: int
    last: int
    status: Status


def findings_about(findings: Iterable[Finding], name: str) -> Iterator[Finding]:
    """The findings about a metric; of diagnoses those that blame a setting."""
    names = {name} | {first for first, others in FALLBACK_CONCEPTS.items() if name in others}
    for finding in findings:
        if (not finding.members or name in LOGGED_SETTINGS) and not names.isdisjoint(
            finding.concepts
        ):
            yield finding


def worst_finding_on(
    findings: Iterable[Finding], name: str, row: int
) -> tuple[Finding, Severity] | None:
    """The worst finding open at a row about a metric, and how severe it was then."""
    return max(open_at(findings_about(findings, name), row), key=itemgetter(1), default=None)


def troubled_rows(findings: Iterable[Finding], name: str, row: int) -> tuple[RowStatus, ...]:
    """Where findings on a metric were open, as known at `row`; the worst come last.

    `Status.OK` stands where values mean nothing: explained variance of constant returns.
    """
    found: list[RowStatus] = []
    if name == "explained_variance":
        for finding in findings:
            if finding.rule == AT_CEILING:
                found += [each._replace(status=Status.OK) for each in _intervals(finding, row)]
    for finding in findings_about(findings, name):
        found += [each for each in _intervals(finding, row) if each.status is not Status.INFO]
    return tuple(sorted(found, key=lambda each: each.status.rank))


def returns_settled(timeline: Timeline, row: int) -> bool:
    """Whether all returns are nearly equal, so that explained variance divides by almost 0."""
    loss = timeline.tracks.get("value_loss")
    seen = loss.count_until(row) if loss else 0
    if loss is None or seen < WARMUP_POINTS:
        return False
    return loss.values[seen - 1] < SETTLED_LOSS * loss.highest(seen)


def _ever_settled(timeline: Timeline, row: int) -> bool:
    """Whether `returns_settled` may hold at any row so far: a cheap look at the extremes."""
    loss = timeline.tracks.get("value_loss")
    seen = loss.count_until(row) if loss else 0
    if loss is None or not seen:
        return False
    return loss.lowest(seen) < SETTLED_LOSS * loss.highest(seen)


def meaningful(
    name: str, extremes: Extremes, last_rows: Sequence[int], timeline: Timeline
) -> Extremes:
    """The extremes of a metric's columns, without those that say nothing at the column's last row:
    explained variance of constant returns.
    """
    if name != "explained_variance" or not last_rows or not _ever_settled(timeline, last_rows[-1]):
        return extremes
    return [
        None if returns_settled(timeline, row) else pair
        for pair, row in zip(extremes, last_rows, strict=True)
    ]


def _intervals(finding: Finding, row: int) -> Iterator[RowStatus]:
    """The intervals of a finding from its first bad row on, one for each severity."""
    if finding.opened.row > row:
        return
    then = finding.as_of(row)
    changes = [change for change in then.changes if change.mark.row <= row]
    cleared = then.cleared is not None and then.cleared.row <= row
    end = then.cleared.row if cleared and then.cleared is not None else row + 1
    starts = [then.since.row, *(change.mark.row for change in changes[1:]), end]
    for change, first, after in zip(changes, starts, starts[1:], strict=False):
        if first < after:
            yield RowStatus(first, after - 1, change.severity.status)


def column_statuses(
    first_rows: Sequence[int],
    extremes: Extremes,
    band: Band | None,
    troubled: Sequence[RowStatus],
) -> list[Status]:
    """The status of each column of a drawing: of its values by themselves, or of a finding.

    Column n holds the rows from `first_rows[n]` on.
    """
    statuses = _by_limits(extremes, band)
    for each in troubled:
        start = bisect_left(first_rows, each.first)
        if start == len(first_rows) or first_rows[start] != each.first:
            start = max(0, start - 1)
        for at in range(start, bisect_right(first_rows, each.last)):
            if each.status is Status.OK or each.status.rank > statuses[at].rank:
                statuses[at] = each.status
    return statuses


def _by_limits(extremes: Extremes, band: Band | None) -> list[Status]:
    """The status of values against the limits of their metric."""
    calm = [Status.OK] * len(extremes)
    known = [pair for pair in extremes if pair is not None]
    if band is None or not known:
        return calm
    ends = min(low for low, _ in known), max(high for _, high in known)
    if all(band.colour(end) is Status.OK for end in ends):
        return calm
    return [
        max((band.colour(value) for value in pair), key=lambda each: each.rank)
        if pair is not None
        else Status.OK
        for pair in extremes
    ]
