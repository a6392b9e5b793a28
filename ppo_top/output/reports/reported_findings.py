"""Findings and values of a report, read from its JSON: what other formats are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ppo_top.model import Axis, Severity, Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.reports.run_report import RunReport
from ppo_top.text.format import clean, dated, dated_title


class ReportedFinding(NamedTuple):
    """An open finding, without characters that a terminal could obey."""

    rule: str
    dated_title: str
    severity: Severity
    message: str
    evidence: Sequence[str]
    causes: Sequence[str]
    remedies: Sequence[str]


class ReportedValue(NamedTuple):
    """A value of the checklist; None if it is not logged."""

    concept: str
    label: str
    """What the checklist calls it."""
    status: Status
    value: float | None
    healthy: str
    note: str


def open_reported(report: RunReport) -> list[ReportedFinding]:
    """The open findings of a run, worst first, without those that an open diagnosis explains."""
    found = json.loads(report.json)
    open_now = {each["rule"]: each for each in found["findings"] if each["cleared_step"] is None}
    return [_reported(open_now[rule], report.summary.axis) for rule in found["open"]]


def _reported(found: dict[str, object], axis: Axis) -> ReportedFinding:
    def lines(key: str) -> list[str]:
        return [clean(str(line)) for line in found[key]]  # type: ignore[attr-defined]

    step, message = found["since_step"], clean(str(found["message"]))
    since = f"{found['since_word']} {dated(axis, step)}" if isinstance(step, int) else ""
    return ReportedFinding(
        rule=clean(str(found["rule"])),
        dated_title=dated_title(clean(str(found["title"])), since),
        severity=Severity[str(found["severity"]).upper()],
        message=clean(str(found["message_now"])),
        evidence=[line for line in lines("evidence") if line != message],
        causes=lines("causes"),
        remedies=lines("try"),
    )


def reported_values(report: RunReport) -> list[ReportedValue]:
    """The checklist of a run: its crucial values first."""
    return [
        ReportedValue(
            row["concept"],
            clean(row["label"]),
            Status(row["status"]),
            None if row["value"] is None else float(row["value"]),
            row["healthy"],
            row["note"],
        )
        for row in json.loads(report.json)["checklist"]
    ]
