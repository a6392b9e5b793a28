"""`check --format markdown`: for issues, pull requests and the summary of a CI job.

GitHub's flavour (https://github.github.com/gfm): a heading, a table, lists. Text from logs cannot
become markup, a link, an address that somebody is notified by, or the number of an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ppo_top.catalogue import concept
from ppo_top.model import Status
from ppo_top.output.reports.overview import (
    MAX_BRIEFS,
    MAX_CALM_ROWS,
    counted_runs,
    facts_line,
    unread_lines,
)
from ppo_top.output.reports.reported_findings import (
    ReportedFinding,
    ReportedValue,
    open_reported,
    reported_values,
)
from ppo_top.output.reports.run_report import RunReport
from ppo_top.text.format import clean, format_metric_value, plural
from ppo_top.text.marks import MARKS

MAX_ROWS = 500
"""Rows of the table of runs: a job's summary may have one MiB."""

MAX_VALUES = 20
"""Rows of the table of values; the crucial ones come first."""

_MARKUP = re.compile(
    r"[\\`*\[\]<|~$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it is an underscore
    r"|:(?=\S)|&(?=[#\w])|(?<=\bwww)\."  # addresses and emoji, entities, addresses
    r"|^[-+](?!\w)|^[>#]|^\d+[.)](?=\s|$)",  # what a line may begin with
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"[@#](?=\w)")
"""`@name` notifies somebody and `#12` links to an issue, also where a backslash stands before."""


def markdown_report(reports: Sequence[RunReport], unread: Sequence[str] = ()) -> str:
    """Of one run its whole report; of several, worst first, a table and what is wrong with each."""
    if len(reports) == 1:
        parts = ["\n".join(_run_lines(reports[0], "##"))]
    else:
        notable = [each for each in reports if each.is_notable][:MAX_BRIEFS]
        briefs = ("\n".join(_brief_lines(each)) for each in notable)
        parts = ["\n".join(_table_lines(reports)), *briefs]
    if unread:
        parts.append("\n".join(f"- {markdown_text(line)}" for line in unread_lines(unread)))
    return "\n\n".join(parts)


def markdown_text(words: str) -> str:
    """Text that is shown as it is, in a line or in a cell of a table."""
    text = _MARKUP.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", clean(words).strip())
    return _REFERENCE.sub(lambda found: f"{found[0]}&#8203;", text)


def _run_lines(report: RunReport, heading: str) -> Iterator[str]:
    yield from _head_lines(report, heading)
    for finding in open_reported(report):
        yield ""
        yield from _finding_lines(finding, heading)
    yield ""
    yield from _value_lines(reported_values(report))


def _head_lines(report: RunReport, heading: str) -> Iterator[str]:
    summary = report.summary
    mark, name = MARKS[report.mark], markdown_text(report.identity.name)
    yield f"{heading} {mark} {name}: {markdown_text(summary.words)}"
    yield ""
    yield markdown_text(facts_line(report))
    for remark in report.remarks:
        yield ""
        yield markdown_text(remark)


def _finding_lines(finding: ReportedFinding, heading: str) -> Iterator[str]:
    mark, word = MARKS[finding.severity.status], finding.severity.word
    yield f"{heading}# {mark} {word}: {markdown_text(finding.dated_title)} (`{finding.rule}`)"
    yield ""
    yield markdown_text(finding.message)
    yield ""
    yield from (f"- Evidence: {markdown_text(line)}" for line in finding.evidence)
    yield from (f"- Why: {markdown_text(line)}" for line in finding.causes)
    if finding.remedies:
        yield ""
        yield "Try:"
        yield ""
        yield from (f"{n}. {markdown_text(line)}" for n, line in enumerate(finding.remedies, 1))


def _value_lines(values: Sequence[ReportedValue]) -> Iterator[str]:
    logged = [each for each in values if each.status is not Status.MISSING]
    if not logged:
        return
    yield "| | crucial value | now | healthy | |"
    yield "|---|---|---:|---|---|"
    for each in logged[:MAX_VALUES]:
        now = format_metric_value(each.value, concept(each.concept).fmt)
        cells = each.label, now, each.healthy, each.note
        yield f"| {MARKS[each.status]} | {' | '.join(map(markdown_text, cells))} |"


def _table_lines(reports: Sequence[RunReport]) -> Iterator[str]:
    calm = sum(not each.is_notable for each in reports)
    listed = [each for each in reports if each.is_notable or calm <= MAX_CALM_ROWS][:MAX_ROWS]
    yield f"## {counted_runs(reports)}"
    yield ""
    yield "| | run | verdict | state | reward | since step | finding |"
    yield "|---|---|---|---|---:|---:|---|"
    for each in listed:
        identity, summary = each.identity, each.summary
        words = identity.name, summary.verdict.words, identity.state.value, summary.reward
        cells = *words, summary.since, each.finding
        yield f"| {MARKS[each.mark]} | {' | '.join(map(markdown_text, cells))} |"
    if len(listed) < len(reports):
        yield ""
        yield f"{plural(len(reports) - len(listed), 'run')} more"


def _brief_lines(report: RunReport) -> Iterator[str]:
    """What is wrong with a run, its likely cause and the first thing to try."""
    summary = report.summary
    yield from _head_lines(report, "###")
    yield ""
    if summary.finding:
        yield f"**{markdown_text(summary.finding)}**, {markdown_text(summary.when)}"
    pairs = ("", summary.message), ("Why: ", summary.cause), ("Try: ", summary.remedy)
    for label, words in pairs:
        if words:
            yield f"- {label}{markdown_text(words)}"
