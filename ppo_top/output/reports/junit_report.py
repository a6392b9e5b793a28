"""`check --format junit`: a run is a test case, for CI systems that show test results.

The elements are those of the schema of Jenkins' xUnit plugin (junit-10.xsd), which GitLab, Azure
and CircleCI read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ppo_top.model import Severity
from ppo_top.output.reports.overview import facts_line
from ppo_top.output.reports.reported_findings import ReportedFinding, open_reported
from ppo_top.output.reports.run_report import RunReport
from ppo_top.text.format import clean


def junit_report(
    reports: Sequence[RunReport], fail_on: Severity, unread: Sequence[str] = ()
) -> str:
    """A test case fails with the findings at or above `fail_on` that are open at its end.

    What could not be read is a case that ends in an error, a run that is not judged yet is skipped.
    Milder findings and what is known of the run are the output of its test case.
    """
    cases = ["".join(_test_case(report, fail_on)) for report in reports]
    failed = sum("<failure " in case for case in cases)
    skipped = sum("<skipped " in case for case in cases)
    cases += map(_unread_case, unread)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="{len(unread)}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="ppo-top" {counts}>',
            f'<testsuite name="ppo-top" {counts} skipped="{skipped}">',
            *cases,
            "</testsuite>",
            "</testsuites>",
        ]
    )


def _test_case(report: RunReport, fail_on: Severity) -> Iterator[str]:
    name, summary = report.identity.name, report.summary
    found = open_reported(report)
    failures = [each for each in found if each.severity >= fail_on]
    rest = [each for each in found if each.severity < fail_on]
    yield f'<testcase classname="ppo-top.{_text(summary.producer)}" name="{_text(name)}">'
    if failures:
        title, kind = _text(failures[0].dated_title), _text(failures[0].rule)
        yield f'<failure type="{kind}" message="{title}">{_findings_text(failures)}</failure>'
    elif not summary.verdict.is_judged:
        yield f'<skipped message="{_text(summary.words)}"/>'
    lines = [facts_line(report), *report.remarks]
    output = [_text(line) for line in lines] + [_findings_text(rest)] * bool(rest)
    yield "<system-out>" + "\n".join(output) + "</system-out></testcase>"


def _unread_case(line: str) -> str:
    words = _text(line)
    error = f'<error type="unread" message="{words}"/>'
    return f'<testcase classname="ppo-top.unread" name="{words}">{error}</testcase>'


def _findings_text(findings: Sequence[ReportedFinding]) -> str:
    return "\n\n".join("\n".join(map(_text, _finding_lines(each))) for each in findings)


def _finding_lines(finding: ReportedFinding) -> Iterator[str]:
    yield f"{finding.severity.word.upper()} {finding.dated_title} [{finding.rule}]"
    yield finding.message
    yield from (f"evidence: {line}" for line in finding.evidence)
    yield from (f"why: {line}" for line in finding.causes)
    yield from (f"try {number}: {line}" for number, line in enumerate(finding.remedies, 1))


def _text(words: str) -> str:
    """Text for an element or an attribute, without characters that XML 1.0 cannot hold."""
    return escape(clean(words))
