"""`check --format github`: annotations of a GitHub Actions job.

A finding is in no line of the repository, so they name no file. GitHub shows the first ten errors
and the first ten warnings of a step; https://docs.github.com/actions/reference, "Workflow
commands".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppo_top.model import Severity
from ppo_top.output.reports.overview import counted_runs, unread_lines
from ppo_top.output.reports.reported_findings import ReportedFinding, open_reported
from ppo_top.output.reports.run_report import RunReport
from ppo_top.text.format import clean

MAX_CHARS = 2_000
"""Of a message: longer ones are cut."""


def github_annotations(
    reports: Sequence[RunReport], fail_on: Severity, unread: Sequence[str] = ()
) -> str:
    """An annotation a finding that is more than information, then one that counts the runs.

    What could not be read is an error, and the first: nothing else says why the job failed.

    Findings at or above `fail_on` are errors, the others warnings. The worst of each run come
    before the second of any.
    """
    found = [
        (each.severity < fail_on, place, _annotation(report, each, fail_on))
        for report in reports
        for place, each in enumerate(open_reported(report))
        if each.severity > Severity.INFO
    ]
    lines = [_command("error", "ppo-top", line) for line in unread_lines(unread)]
    lines += [line for _, _, line in sorted(found, key=lambda entry: entry[:2])]
    return "\n".join([*lines, _command("notice", "ppo-top", counted_runs(reports))])


def _annotation(report: RunReport, finding: ReportedFinding, fail_on: Severity) -> str:
    level = "error" if finding.severity >= fail_on else "warning"
    title = f"{clean(report.identity.name)}: {finding.dated_title} [{finding.rule}]"
    return _command(level, title, "\n".join(_message_lines(finding)))


def _message_lines(finding: ReportedFinding) -> Iterator[str]:
    yield finding.message
    yield from (f"why: {cause}" for cause in finding.causes[:1])
    yield from (f"try {number}: {line}" for number, line in enumerate(finding.remedies, 1))


def _command(name: str, title: str, message: str) -> str:
    return f"::{name} title={_escaped_property(title)}::{_escaped(message[:MAX_CHARS])}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
