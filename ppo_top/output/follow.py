"""`ppo-top check --follow`: a line for each change of a run, as long as somebody reads them."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from ppo_top.files.follower import Follower
from ppo_top.model import Finding, Severity, State, Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.colour import coloured
from ppo_top.output.exit_codes import EXIT_ERROR, EXIT_OK, exit_code
from ppo_top.output.hooks import Hooks
from ppo_top.output.reports.json_report import finding_object
from ppo_top.output.reports.overview import PLAIN, OutputStyle
from ppo_top.output.standard_output import discard_stdout, reader_is_gone
from ppo_top.rules.console_text import TRACEBACK
from ppo_top.runs.liveness import run_status
from ppo_top.runs.load import is_unreachable
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.text.format import clean, count
from ppo_top.text.marks import MARKS
from ppo_top.views.open_findings import FindingKey, explained_findings, finding_key

MAX_PROBLEM_LINES = 1_000
"""Problems printed per session, each once."""

RunEvent = dict[str, Any]
"""What `check --follow --json` prints in a line."""

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"

FOLLOW_INTERVAL_S = 2.0
"""Longest wait between two checks when no file event arrives."""


def is_bad(runs: Iterable[Run], fail_on: Severity) -> bool:
    """Whether a finding at or above the threshold is open at the end of a run."""
    open_now = (each for run in runs for each in run.findings if each.cleared is None)
    return any(finding.severity >= fail_on for finding in open_now)


class Beat:
    """Emits an event every so many seconds, so that its reader can tell silence from death."""

    def __init__(self, seconds: float, emit: Callable[[RunEvent], None]) -> None:
        self._seconds, self._emit = seconds, emit
        self._due = 0.0 if seconds < math.inf else math.inf

    def emit_if_due(self, now: float) -> None:
        """Emit the event if it is time again; `now` in unix seconds."""
        if now >= self._due:
            self._due = now + self._seconds
            self._emit({"event": "beat", "time": now})


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


def report_new_problems(
    follower: Follower, session: Session, reported: set[str], err: TextIO
) -> None:
    """Print each problem that is not among those `reported` before."""
    watching = [follower.watch_status] * follower.polls_instead
    for line in (*follower.problems, *watching, *session.problems):
        if line not in reported and len(reported) < MAX_PROBLEM_LINES:
            reported.add(line)
            print_problem(err, line)


def print_problem(err: TextIO, line: str) -> None:
    """Print a line in one piece: threads do so, too."""
    with suppress(OSError, ValueError):  # nobody reads it
        err.write(f"ppo-top: {clean(line)}\n")
        err.flush()


def _print_event(event: RunEvent, style: OutputStyle) -> None:
    line = json.dumps(event)
    if style.format == "text":
        if only_moves(event):
            return
        line = f"{time.strftime(TIME_FORMAT)} {event_line(event)}"
        line = coloured(line) if style.colour else line
    print(line, flush=True)


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
    step = (event["cleared_step"] if is_over else None) or event["since_step"]
    at = count(step) if isinstance(step, int) else str(step)
    said = f"{clean(str(event['message']))}{_belongs_to(event)}"
    if word == "changed" and (was := event["was"])["severity"] != severity:
        word = f"changed from {was['severity']} to"
    elif word == "changed":
        said = _belongs_to(event).strip(" ()")
    return f"{mark} {name}: {word} {severity} {event['rule']} at {event['axis']} {at}: {said}"


def _belongs_to(event: RunEvent) -> str:
    """Of which diagnosis a finding is a sign, or was."""
    was = event.get("was", {}).get("explained_by")
    if event["explained_by"] is not None:
        return f" (part of {event['explained_by']})"
    return f" (no longer part of {was})" if was is not None else ""


def follow(
    paths: Sequence[Path],
    settings: Settings,
    *,
    fail_on: Severity,
    style: OutputStyle = PLAIN,
    active_s: float = math.inf,
    beat_s: float = math.inf,
    on_existing: bool = False,
    until_over: bool = False,
) -> int:
    """Watch the paths and print one line per change; SIGINT ends it with the code of `check`.

    So does `until_over`, once that code is 1 or all runs are over. Lines are text, with the local
    time, or JSON. Logs not written for `active_s` seconds are not opened before they are written
    again. Every `beat_s` seconds an event says that it still looks. Events start the commands of
    the settings' hooks; `on_existing`: also what is there at first.
    """
    if is_unreachable(paths, sys.stderr, may_come=True):
        return EXIT_ERROR
    session = Session(settings, parallel=True)
    hooks = Hooks(settings.hooks, partial(print_problem, sys.stderr), existing=on_existing)
    report = _reporting(session, hooks, beat_s, style)

    def is_decided() -> bool:
        return until_over and _is_decided(session.runs.values(), fail_on)

    follower = Follower(
        paths, patterns=settings.patterns, notebooks=settings.notebooks, active_s=active_s
    )
    try:
        if not _look_until(is_decided, follower, session, report, hooks.begin, beat_s):
            return EXIT_OK
        hooks.wait()
        return exit_code(is_bad(session.runs.values(), fail_on), follower.unread)
    except KeyboardInterrupt:
        return exit_code(is_bad(session.runs.values(), fail_on), follower.unread)
    except BrokenPipeError:
        discard_stdout()  # what is left in its buffer
        return EXIT_OK
    finally:
        hooks.close()
        follower.close()
        session.close()


def _reporting(
    session: Session, hooks: Hooks, beat_s: float, style: OutputStyle
) -> Callable[[], None]:
    """What prints the changes since it was called last, and the beat if that is due."""

    def emit(event: RunEvent) -> None:
        _print_event(event, style)
        hooks.take(event)

    reporter, beat = ChangeReporter(session, emit), Beat(beat_s, emit)

    def report() -> None:
        now = time.time()
        reporter.report_changes(now)
        beat.emit_if_due(now)

    return report


def _is_decided(runs: Collection[Run], fail_on: Severity) -> bool:
    """Whether one is as bad as that, or all are over: judged as a whole at their end, or died."""
    now = time.time()

    def is_over(run: Run) -> bool:
        return run.judged and (run.is_over or run_status(run, now).state is State.DIED)

    return is_bad(runs, fail_on) or (bool(runs) and all(map(is_over, runs)))


def _look_until(
    is_decided: Callable[[], bool],
    follower: Follower,
    session: Session,
    report: Callable[[], None],
    looked: Callable[[], None],
    beat_s: float,
) -> bool:
    """Look again and again until it is decided; False once nobody reads any more.

    `looked` is called after each look.
    """
    # Load the watcher before printing: an interrupt during an import that creates classes
    # ends CPython by the signal, not with our exit code.
    follower.wait(0.0)
    problems: set[str] = set()
    while not reader_is_gone(sys.stdout):
        read_to_end(follower, session, lambda _polled: report())
        report_new_problems(follower, session, problems, sys.stderr)
        looked()
        if is_decided():
            return True
        follower.wait(min(FOLLOW_INTERVAL_S, beat_s))
    return False
