"""What changes in runs, as events: `check --follow` prints them, and hooks are started by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ppo_top.model import Finding, Severity, State, Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.reports.json_report import finding_object
from ppo_top.rules.console_text import TRACEBACK
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.text.format import clean, dated
from ppo_top.text.marks import MARKS
from ppo_top.views.open_findings import FindingKey, explained_findings, finding_key

RunEvent = dict[str, Any]
"""What `check --follow --json` prints in a line."""


class EmittedFinding(NamedTuple):
    """What was last emitted of a finding; `event` where it was open."""

    severity: Severity
    explained_by: str | None
    event: RunEvent | None


class ChangeReporter:
    """Emits an event for each change of a run's state or of a finding since the last call."""

    def __init__(self, session: Session, emit: Callable[[RunEvent], None]) -> None:
        self._session = session
        self._emit = emit
        self._reported_findings: dict[str, dict[FindingKey, EmittedFinding]] = {}
        """By run; then by rule and the row since which it is found."""
        self._reported_states: dict[str, tuple[State, RunEvent]] = {}

    def report_changes(self, now: float) -> None:
        """Compare the runs with what was reported before."""
        for run in self._session.sorted_runs():
            if run.has_more_to_read or not run.judged:
                continue  # half of a log tells half a story
            self._report_state(run, now)
            self._report_findings(run)
        if len(self._reported_states) > len(self._session.runs):
            self._report_gone_runs()

    def _report_gone_runs(self) -> None:
        """Forget runs whose logs are gone: a session may last for weeks, and they may come back."""
        for run in [each for each in self._reported_states if each not in self._session.runs]:
            _, event = self._reported_states.pop(run)
            self._reported_findings.pop(run, None)
            self._emit({**event, "event": "run-gone", "text": "its logs are gone"})

    def _report_state(self, run: Run, now: float) -> None:
        state, text = run_status(run, now)
        before = self._reported_states.get(run.id)
        if before is not None and state is before[0]:
            return
        fields: RunEvent = {"run": run.name, "path": run.path, "state": state.value, "text": text}
        self._reported_states[run.id] = state, fields
        if before is None:
            self._emit({"event": "run-started", **fields, "text": ""})
        if before is not None or state not in (State.STARTING, State.LIVE):
            self._emit({"event": f"run-{state.value}", **fields})

    def _report_findings(self, run: Run) -> None:
        """Report what changed; findings are gone where a log began anew.

        A traceback whose end is still to come is none yet: it may be that of Ctrl-C.
        """
        reported = self._reported_findings.setdefault(run.id, {})
        is_live = self._reported_states[run.id][0] is State.LIVE
        explained = explained_findings(run)
        new_first = sorted(run.findings, key=lambda finding: finding_key(finding) in reported)
        for finding in new_first:  # what is part of a diagnosis is told after it
            if not (is_live and finding.rule == "crashed" and TRACEBACK in finding.message):
                self._report_finding(run, finding, reported, explained)
        if len(reported) > len(run.findings):
            open_rules = {each.rule for each in run.findings if each.cleared is None}
            here = set(map(finding_key, run.findings))
            for key in [each for each in reported if each not in here]:
                event = reported.pop(key).event
                if event is not None and key[0] not in open_rules:
                    self._emit({**event, "event": "cleared", "explained_by": None})

    def _report_finding(
        self,
        run: Run,
        finding: Finding,
        reported: dict[FindingKey, EmittedFinding],
        explained: Mapping[FindingKey, str],
    ) -> None:
        key = finding_key(finding)
        explained_by = explained.get(key)
        is_open = finding.cleared is None or explained_by is not None
        before = reported.get(key)
        seen = before and (before.severity, before.explained_by, before.event is not None)
        if seen == (finding.severity, explained_by, is_open):
            return
        fields = {"run": run.name, "path": run.path, "axis": run.timeline.axis}
        was_open = before is not None and before.event is not None
        event = "cleared" if not is_open else "changed" if was_open else "opened"
        emitted = {"event": event, **fields, **finding_object(finding, run, explained)}
        if before is not None and event == "changed":
            emitted["was"] = {"severity": before.severity.word, "explained_by": before.explained_by}
        reported[key] = EmittedFinding(finding.severity, explained_by, emitted if is_open else None)
        self._emit(emitted)


def only_moves(event: RunEvent) -> bool:
    """Whether a sign of one diagnosis is now that of a wider one: no news to a reader."""
    was = event.get("was", {})
    same = was.get("severity") == event.get("severity")
    return same and None not in (was.get("explained_by"), event.get("explained_by"))


def event_line(event: RunEvent) -> str:
    """An event of `--follow` as one line of text."""
    name, word = clean(str(event["run"])), str(event["event"]).removeprefix("run-")
    if "rule" not in event:
        mark = MARKS[Status.CRIT if word == State.DIED.value else Status.WARMING_UP]
        text = clean(str(event["text"]))
        return f"{mark} {name}: {word}" + (f" ({text})" if text else "")
    severity, is_over = str(event["severity"]), word == "cleared"
    mark = MARKS[Status.OK if is_over else Severity[severity.upper()].status]
    said = f"{clean(str(event['message']))}{_belongs_to(event)}"
    if word == "changed" and (was := event["was"])["severity"] != severity:
        word = f"changed from {was['severity']} to"
    elif word == "changed":
        said = _belongs_to(event).strip(" ()")
    return f"{mark} {name}: {word} {severity} {event['rule']}{_dated(event, is_over)}: {said}"


def _dated(event: RunEvent, is_over: bool) -> str:
    """` since step 14,336`, or ` at step 20,480` of what is over; nothing without a step."""
    preposition = "at" if is_over else event["since_word"]
    step = event["cleared_step" if is_over else "since_step"]
    return f" {preposition} {dated(event['axis'], step)}" if step is not None else ""


def _belongs_to(event: RunEvent) -> str:
    """Of which diagnosis a finding is a sign, or was."""
    was = event.get("was", {}).get("explained_by")
    if event["explained_by"] is not None:
        return f" (part of {event['explained_by']})"
    return f" (no longer part of {was})" if was is not None else ""
