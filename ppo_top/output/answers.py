"""The answer of `check`: printed in a style, with an exit code; parsers and rules stay unloaded."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model import Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.exit_codes import exit_code
from ppo_top.output.reports.overview import OutputStyle, overview
from ppo_top.output.reports.remarks import with_remarks
from ppo_top.output.reports.run_report import (
    JSON_PART,
    SKIPPED_PART,
    TEXT_PART,
    RunReport,
    report_json,
)
from ppo_top.output.standard_output import discard_stdout


def answer_parts(style: OutputStyle) -> list[str]:
    """The parts of a run's report that printing in this style needs."""
    if style.format != "text":
        return [JSON_PART]
    return [TEXT_PART, SKIPPED_PART] if style.verbose else [TEXT_PART]


class Answer(NamedTuple):
    """Reports, worst first, lines on what could not be read, and how many files gave nothing.

    `unopened_folders`: in how many all logs were too old to be opened (`--active`). `unread`: lines
    on what was asked for and could not be opened; they are problems, too.
    """

    reports: list[RunReport]
    problems: list[str]
    passed_over: int = 0
    unopened_folders: int = 0
    unread: Sequence[str] = ()


def print_answer(answer: Answer, fail_on: Severity, style: OutputStyle) -> int:
    """Print what `check` prints; returns its exit code."""
    try:
        print(answer_text(answer, fail_on, style), flush=True)
    except BrokenPipeError:  # `| head` does not change the exit code
        discard_stdout()
    return answer_code(answer, fail_on)


def answer_text(answer: Answer, fail_on: Severity, style: OutputStyle) -> str:
    """What `check` prints in a style; its last line has no line break."""
    reports, unread = with_remarks(answer.reports), answer.unread
    if style.format == "text":
        return overview(reports, answer.passed_over, style, unread)
    if style.format == "json":
        return report_json(reports, answer.problems, answer.unopened_folders, unread)
    if style.format == "markdown":
        from ppo_top.output.reports.markdown_report import markdown_report

        return markdown_report(reports, unread)
    if style.format == "github":
        from ppo_top.output.reports.github_annotations import github_annotations

        return github_annotations(reports, fail_on, unread)
    from ppo_top.output.reports.junit_report import junit_report

    return junit_report(reports, fail_on, unread)


def answer_code(answer: Answer, fail_on: Severity) -> int:
    """The exit code of `check`: whether a finding at or above a severity is open in some run."""
    bad = any(report.summary.severity >= fail_on for report in answer.reports)
    return exit_code(bad, answer.unread)
