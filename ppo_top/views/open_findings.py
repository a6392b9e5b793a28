"""The findings that were open at a row of a run, and those that had cleared by then."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ppo_top.catalogue import concept
from ppo_top.model import NO_STEP, Axis, Finding, RowKind, Severity, open_at
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.book import BY_ID
from ppo_top.rules.console_text import NAMED_DEATHS
from ppo_top.rules.evidence import overlaps
from ppo_top.runs.run import Run
from ppo_top.text.format import (
    dated,
    dated_title,
    duration,
    format_metric_value,
    number,
    percent,
    plural,
    steps,
)

NAMED_DIGITS = 3
"""Significant digits of a number in a message."""

SAME_VALUE = 0.2
"""Values that differ by less, relative to the larger one, are told as one."""

CRASHED = "crashed"
"""Need not be told beside what says why it died: a finding on the same line, or a named death."""

SAYS_MORE = {
    "reward-wrong-way": "reward-never-moves",
    "learning-rate-cut": "learning-rate-zero",
}
"""Of a reward that is below its start it need not be told that it has not risen above it, nor of a
learning rate that was cut to zero that it is zero."""

COUNTED_ROWS = re.compile(r"(?<!first )(?<![\d,])\d[\d,]* (?:updates|episodes)\b")
"""A number of rows in a message."""


class OpenFinding(NamedTuple):
    """A finding as it was at a row, and for how many updates and seconds it had been open.

    `share` is the part of the run's updates so far; `axis` and `row_kind` are the run's.
    """

    finding: Finding
    severity: Severity
    updates: int
    seconds: float | None
    share: float
    axis: Axis
    row_kind: RowKind
    now: str = ""
    """The value of its metric at that row, where its message tells of quite another one."""
    said_at: str = ""
    """Where its message counted updates that are more by now."""

    @property
    def message(self) -> str:
        """What it says, with the number that stands in the metric's row if that differs."""
        said_at = f", as of {self.said_at}" if self.said_at else ""
        return self.finding.message + said_at + (f"; now {self.now}" if self.now else "")

    @property
    def evidence(self) -> tuple[str, ...]:
        """What it goes by, without a line of the console that is its message already."""
        return tuple(line for line in self.finding.evidence if line != self.finding.message)

    @property
    def first_step(self) -> str:
        """`14,336`; nothing in a run that has logged no step."""
        step = self.finding.since.step
        return steps(step, axis=self.axis) if step != NO_STEP else ""

    @property
    def when(self) -> str:
        """`since 14,336`, or `at 14,336` of an event; nothing without a step."""
        return f"{self.finding.since_word} {self.first_step}" if self.first_step else ""

    @property
    def since(self) -> str:
        """`since step 14,336`, or `at step 14,336` of an event; nothing without a step."""
        finding = self.finding
        step = f"{finding.since_word} {dated(self.axis, finding.since.step)}"
        return step if self.first_step else ""

    @property
    def dated_title(self) -> str:
        """`Update KL too high, since step 14,336`; only the title without a step."""
        return dated_title(self.finding.title, self.since)

    @property
    def cost(self) -> str:
        """What it has cost: `36 updates (90 %), 48 s`; of an event, how long ago it was."""
        if self.finding.since_word == "at":
            return self.age
        words = f"{plural(self.updates, self.row_kind)} ({percent(self.share)})"
        return f"{words}, {duration(self.seconds)}" if self.seconds else words

    @property
    def age(self) -> str:
        """How long it has been open: `10 updates, 17 s`, or `10 updates` in a log without times.

        Of an event `2 updates ago`, of a run's end `the last update`.
        """
        if self.finding.since_word == "at":
            ago, newest = self.updates - 1, "the last" if self.finding.is_moment else "this"
            return f"{plural(ago, self.row_kind)} ago" if ago else f"{newest} {self.row_kind}"
        words = plural(self.updates, self.row_kind)
        return f"{words}, {duration(self.seconds)}" if self.seconds else words


def open_findings(run: Run, row: int) -> tuple[OpenFinding, ...]:
    """Worst first; what an open diagnosis explains and does not surpass is left out."""
    open_now = [(finding.as_of(row), severity) for finding, severity in open_at(run.findings, row)]
    explained = explaining_rules(open_now)
    shown = [pair for pair in open_now if pair[0].rule not in explained]
    return tuple(sorted((_opened(run, row, *pair) for pair in shown), key=_worst_first))


def _opened(run: Run, row: int, finding: Finding, severity: Severity) -> OpenFinding:
    timeline = run.timeline
    updates = timeline.count_updates(row, finding.since.row)
    seconds, share = _age(run, finding, row), updates / timeline.count_updates(row)
    return OpenFinding(
        finding,
        severity,
        updates,
        seconds,
        share,
        axis=timeline.axis,
        row_kind=timeline.row_kind,
        now=_value_now(run, finding, row),
        said_at=_said_at(run, finding, row),
    )


def explaining_rules(open_now: Iterable[tuple[Finding, Severity]]) -> dict[str, str]:
    """rule -> the rule whose open finding explains it and is at least as severe."""
    found = list(open_now)
    explained: dict[str, tuple[Severity, str]] = {}
    last_words = next((finding.message for finding, _ in found if finding.rule == CRASHED), None)
    for finding, severity in found:
        is_last = finding.rule != CRASHED and finding.message == last_words
        says_why = is_last or finding.rule in NAMED_DEATHS
        said = (SAYS_MORE.get(finding.rule, ""), CRASHED if says_why else "")
        for rule in (*finding.members, *filter(None, said)):
            if rule not in explained or severity > explained[rule][0]:
                explained[rule] = severity, finding.rule
    severities = {finding.rule: severity for finding, severity in found}
    return {
        rule: by for rule, (most, by) in explained.items() if severities.get(rule, most) <= most
    }


FindingKey = tuple[str, int]


def finding_key(finding: Finding) -> FindingKey:
    """What a finding is known by; that of which it is part may move the row since which it is."""
    return finding.rule, finding.opened.row


def parts_of_open(findings: Iterable[Finding], row: int) -> dict[FindingKey, str]:
    """The findings that had cleared by a row but are part of a diagnosis that is open there, or of
    such a part; and the rule of what they are part of.

    A policy that is frozen has no large updates any more: that is no recovery from them.
    """
    every = list(findings)
    cleared = [f for f in every if f.cleared is not None and f.cleared.row <= row]
    holders = [finding.as_of(row) for finding, _ in open_at(every, row)]
    taken_in: dict[FindingKey, str] = {}
    for holder in holders:  # grows
        parts = [f for f in cleared if f.rule in holder.members and overlaps(f, holder)]
        new = [f for f in parts if finding_key(f) not in taken_in]
        taken_in |= {finding_key(f): holder.rule for f in new}
        holders += new
    return taken_in


def explained_findings(run: Run) -> dict[FindingKey, str]:
    """At the end of a run, the rule of the open diagnosis that each finding is a part of."""
    row = len(run.timeline)
    open_now = open_at(run.findings, row)
    rules = explaining_rules(open_now)
    found = {finding_key(f): rules[f.rule] for f, _ in open_now if f.rule in rules}
    return found | parts_of_open(run.findings, row)


def _worst_first(opened: OpenFinding) -> tuple[int, bool, int]:
    """By severity, then diagnoses before single rules, then the oldest first."""
    return -opened.severity, not opened.finding.members, opened.finding.since.row


def _age(run: Run, finding: Finding, row: int) -> float | None:
    if row >= len(run.timeline):
        return None
    age = run.timeline.times[row] - finding.since.time
    return age if age == age else None


def _said_at(run: Run, finding: Finding, row: int) -> str:
    """The step at which a message counted updates, if there are more by now.

    Not where it says that they were the first.
    """
    said = finding.opened.row
    for version in reversed(finding.versions):
        if version.message != finding.message:
            break
        said = version.row
    timeline = run.timeline
    if not COUNTED_ROWS.search(finding.message) or said >= row or said >= len(timeline):
        return ""
    return dated(timeline.axis, timeline.steps[said])


def _value_now(run: Run, finding: Finding, row: int) -> str:
    """The value of a finding's only metric, if the one that its message names is another by now.

    What is judged may be a setting, not logged as a metric: then the finding is shown at another.
    """
    name = finding.concepts[0] if len(finding.concepts) == 1 else ""
    rule = BY_ID.get(finding.rule)
    is_judged = rule is None or not rule.judged_at or name in rule.concepts
    track = run.timeline.tracks.get(name) if is_judged else None
    seen = track.count_until(row) if track is not None else 0
    if track is None or not seen:
        return ""
    value, fmt = track.values[seen - 1], concept(name).fmt
    named = percent(finding.value) if fmt == "pct" else number(finding.value, NAMED_DIGITS)
    both_nan = math.isnan(value) and math.isnan(finding.value)
    same = both_nan or math.isclose(value, finding.value, rel_tol=SAME_VALUE)
    return "" if same or named not in finding.message else format_metric_value(value, fmt)


def cleared_findings(run: Run, row: int) -> tuple[Finding, ...]:
    """The findings that had cleared by a row, the newest first, without those that never held.

    What an open diagnosis has taken in is not over.
    """
    taken_in = parts_of_open(run.findings, row)
    cleared = [
        (f.cleared.row, f)
        for f in run.findings
        if f.cleared and f.opened.row < f.cleared.row <= row and finding_key(f) not in taken_in
    ]
    return tuple(f for _, f in sorted(cleared, key=lambda pair: -pair[0]))
