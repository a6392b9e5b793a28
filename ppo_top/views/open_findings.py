"""The findings that stand at a moment of a run, and those that were over by then."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import Finding, Severity
from ppo_top.runs.run import Run


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """A finding as it stands at the moment that is looked at: for how many rows and seconds."""

    finding: Finding
    severity: Severity
    rows: int
    seconds: float | None


def open_findings(run: Run, row: int) -> tuple[OpenFinding, ...]:
    standing_now = [
        (finding.as_of(row), severity)
        for finding in run.findings
        if (severity := finding.severity_at(row)) is not None
    ]
    absorbed: dict[str, Severity] = {}
    for finding, severity in standing_now:
        for rule in finding.members:
            absorbed[rule] = max(severity, absorbed.get(rule, severity))
    shown = [
        OpenFinding(finding, severity, row - finding.since.row + 1, _age(run, finding, row))
        for finding, severity in standing_now
        if severity > absorbed.get(finding.rule, 0)
    ]
    return tuple(sorted(shown, key=_worst_first))


def _worst_first(opened: OpenFinding) -> tuple[int, bool, int]:
    """Worst first; of equals a diagnosis before its parts, and what began first before the rest."""
    return -opened.severity, not opened.finding.members, opened.finding.since.row


def _age(run: Run, finding: Finding, row: int) -> float | None:
    if row >= len(run.timeline):
        return None
    age = run.timeline.times[row] - finding.since.time
    return age if age == age else None


def cleared_findings(run: Run, row: int) -> tuple[Finding, ...]:
    over = [f for f in run.findings if f.cleared is not None and f.cleared.row <= row]
    return tuple(sorted(over, key=lambda f: -(f.cleared.row if f.cleared else 0)))
