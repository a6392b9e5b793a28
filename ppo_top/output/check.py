"""`ppo-top check`: a verdict without the TUI, once or continuously (`--follow`)."""

from __future__ import annotations

import json
import math
import select
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from ppo_top.files.follower import Follower
from ppo_top.model import Finding, Severity, State
from ppo_top.output.answers import (
    EXIT_ERROR,
    EXIT_FINDINGS,
    EXIT_OK,
    JSON_PART,
    SUMMARY_PART,
    TEXT_PART,
    Answer,
    AnsweredRun,
    keep,
    print_answer,
    restored_summary,
    summary_text,
)
from ppo_top.output.json_report import finding_object, run_json_text
from ppo_top.output.run_report import RunIdentity, RunReport, RunSummary
from ppo_top.output.text_report import report_lines, run_summary
from ppo_top.paths import unreachable_reason
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.liveness import StateFacts, run_status, state_facts, status_at
from ppo_top.runs.load import load_session, open_loader
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.cache import Cache, verdict_scope
from ppo_top.text.format import clean, count
from ppo_top.views.run_view import make_run_view

MAX_PROBLEM_LINES = 1_000
"""Problems printed per `--follow` session, each once."""

FOLLOW_INTERVAL_S = 2.0
"""Longest wait between two checks when no file event arrives."""


def exit_code(runs: Iterable[Run], fail_on: Severity) -> int:
    """1 if a finding at or above the threshold is open at the end of a run."""
    open_now = (each for run in runs for each in run.findings if each.cleared is None)
    bad = any(finding.severity >= fail_on for finding in open_now)
    return EXIT_FINDINGS if bad else EXIT_OK


def check(
    paths: Sequence[Path],
    settings: Settings,
    *,
    as_object: bool,
    fail_on: Severity,
    cache: Cache | None = None,
    ended: bool = False,
    stdin: BinaryIO | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Judge the runs below the paths, print the report and return the exit code.

    `stdin` is a log or a paste, read to its end.
    """
    parts = [JSON_PART if as_object else TEXT_PART]
    err = err or sys.stderr
    answer = judge_paths(paths, settings, cache, parts, err, ended=ended, stdin=stdin)
    if answer is None:
        return EXIT_ERROR
    return print_answer(answer, as_object=as_object, fail_on=fail_on, out=out)


def judge_paths(
    paths: Sequence[Path],
    settings: Settings,
    cache: Cache | None,
    parts: Sequence[str],
    err: TextIO,
    *,
    ended: bool = False,
    verbose: bool = False,
    stdin: BinaryIO | None = None,
) -> Answer | None:
    """The reports on all runs, worst first; None (after a line on `err`) if there is nothing.

    Runs that the cache has and whose logs did not change are not judged again; only these `parts`
    of their reports are read. `ended`: the trainings are over, even if a log was written a moment
    ago. `verbose`: `err` also says which files gave nothing, and why.
    """
    scope = verdict_scope(settings.judging_text) if cache is not None else ""
    memory = RunMemory(cache, scope, [SUMMARY_PART, *parts]) if cache is not None else None
    reporter = _Reporter(memory)
    loader = open_loader(
        paths,
        settings,
        err,
        Reports(make_report, reporter.add),
        memory,
        ended=ended,
        verbose=verbose,
        stdin=stdin,
    )
    if loader is None:
        return None
    with closing(loader):
        reporter.add_remembered(loader.session.runs.values())
        runs = sorted(loader.session.runs.values(), key=reporter.rank)
        if cache is not None and memory is not None:
            loader.remember()
            listing = loader.listing()
            saved = [(run, run.saved) for run in runs]
            kept = [
                AnsweredRun(at.scope, at.id, run.name, run.path, run.copy_of)
                for run, at in saved
                if at
            ]
            if listing is not None and len(kept) == len(runs):
                keep(cache, scope, paths, listing, loader.problems, kept)
        return Answer([reporter.report(run) for run in runs], [])


class MadeReport(NamedTuple):
    """The report on a run, whatever its name, and what its state depends on."""

    summary: RunSummary
    facts: StateFacts
    texts: dict[str, str]


def make_report(run: Run) -> MadeReport:
    """The report on a run that has all its points."""
    view = make_run_view(run, None, time.time())
    text = "\n".join(report_lines(run, view))
    texts = {JSON_PART: run_json_text(run, view), TEXT_PART: text}
    return MadeReport(run_summary(run, view), state_facts(run), texts)


class _Reporter:
    """Collects the reports on all runs; remembered runs have theirs already."""

    def __init__(self, memory: RunMemory | None) -> None:
        self._memory = memory
        self._reports: dict[str, MadeReport] = {}

    def add(self, run: Run, made: MadeReport) -> None:
        """Add the report on a run that is read and judged, and remember it."""
        self._reports[run.id] = made
        if self._memory is not None:
            summary = summary_text(made.summary, made.facts)
            self._memory.save(run, {SUMMARY_PART: summary, **made.texts})

    def add_remembered(self, runs: Iterable[Run]) -> None:
        """Add the reports that are remembered."""
        for run in runs:
            if run.id not in self._reports and run.saved is not None and self._memory is not None:
                memory, saved = self._memory, run.saved
                texts = {part: memory.text(saved, part) for part in memory.text_parts}
                summary, facts = restored_summary(texts.pop(SUMMARY_PART))
                self._reports[run.id] = MadeReport(summary, facts, texts)

    def rank(self, run: Run) -> tuple[int, float, str]:
        """Sort key: the worst first, then the newest."""
        severity = self._reports[run.id].summary.severity
        return -severity if severity >= Severity.WATCH else 0, -run.last_change, run.name

    def report(self, run: Run) -> RunReport:
        """The report on a run, by the name that it has now."""
        summary, facts, texts = self._reports[run.id]
        identity = RunIdentity(run.name, run.path, *status_at(facts, time.time()), run.copy_of)
        return RunReport(identity, summary, **texts)


def print_backtest(paths: Sequence[Path], settings: Settings, *, as_object: bool) -> int:
    """Print how often each rule fired on old runs, in which, and how long before reward dropped."""
    from ppo_top.output.backtest import JudgedRun, backtest_lines, backtest_object, find_fall

    falls: dict[str, int | None] = {}

    def add(run: Run, fall: int | None) -> None:
        falls[run.id] = fall

    session = load_session(paths, settings, sys.stderr, Reports(find_fall, add))
    if session is None:
        return EXIT_ERROR
    runs = [JudgedRun(run.name, run.findings, falls[run.id]) for run in session.sorted_runs()]
    print(json.dumps(backtest_object(runs)) if as_object else "\n".join(backtest_lines(runs)))
    return EXIT_OK


# --- follow ----------------------------------------------------------------------------------


class ChangeReporter:
    """Emits an event for each change of a run's state or of a finding since the last call."""

    def __init__(self, session: Session, emit: Callable[[dict[str, object]], None]) -> None:
        self._session = session
        self._emit = emit
        self._reported_findings: dict[tuple[str, str, int], tuple[Severity, bool]] = {}
        self._reported_states: dict[str, State] = {}

    def report_changes(self, now: float) -> None:
        """Compare the runs with what was reported before."""
        for run in self._session.sorted_runs():
            if run.has_more_to_read or not run.judged:
                continue  # half of a log tells half a story
            self._report_state(run, now)
            for finding in run.findings:
                self._report_finding(run, finding)
        if len(self._reported_states) > len(self._session.runs):
            self._drop_gone_runs()

    def _drop_gone_runs(self) -> None:
        """Forget runs that are gone: a session may last for weeks."""
        here, states, findings = self._session.runs, self._reported_states, self._reported_findings
        self._reported_states = {run: states[run] for run in states if run in here}
        self._reported_findings = {key: findings[key] for key in findings if key[0] in here}

    def _report_state(self, run: Run, now: float) -> None:
        state, text = run_status(run, now)
        before = self._reported_states.get(run.id)
        if state is before:
            return
        self._reported_states[run.id] = state
        fields = {"run": run.name, "path": run.path, "state": state.value, "text": text}
        if before is None:
            self._emit({"event": "run-started", **fields, "text": ""})
        if before is not None or state not in (State.STARTING, State.LIVE):
            self._emit({"event": f"run-{state.value}", **fields})

    def _report_finding(self, run: Run, finding: Finding) -> None:
        key = (run.id, finding.rule, finding.since.row)
        now = (finding.severity, finding.cleared is not None)
        before = self._reported_findings.get(key)
        if before == now:
            return
        self._reported_findings[key] = now
        event = "cleared" if now[1] else "opened" if before is None else "changed"
        fields = {"run": run.name, "path": run.path, **finding_object(finding, run)}
        self._emit({"event": event, **fields})


def report_new_problems(
    follower: Follower, session: Session, reported: set[str], err: TextIO
) -> None:
    """Print each problem that is not among those `reported` before."""
    watching = [follower.watch_status] * follower.polls_instead
    for line in (*follower.problems, *watching, *session.problems):
        if line not in reported and len(reported) < MAX_PROBLEM_LINES:
            reported.add(line)
            print(f"ppo-top: {clean(line)}", file=err, flush=True)


def event_line(event: dict[str, object]) -> str:
    """An event of `--follow` as one line of text."""
    name = clean(str(event["run"]))
    if "rule" not in event:
        text = clean(str(event["text"]))
        word = str(event["event"]).removeprefix("run-")
        return f"{name}: {word}" + (f" ({text})" if text else "")
    step = event["cleared_step"] if event["event"] == "cleared" else event["since_step"]
    at = count(step) if isinstance(step, int) else str(step)
    what = f"{event['event']} {event['severity']} {event['rule']} at step {at}"
    return f"{name}: {what}: {clean(str(event['message']))}"


def reader_is_gone(out: TextIO) -> bool:
    """Whether nobody can read what is printed any more: an ssh session died, a pager was left.

    Without this a follower of a quiet log would only notice at its next line.
    """
    poller = select.poll()
    try:
        poller.register(out.fileno(), 0)  # errors and hang-ups are always reported
    except (OSError, ValueError):  # not a stream of the system
        return False
    return bool(poller.poll(0))


def follow(
    paths: Sequence[Path],
    settings: Settings,
    *,
    as_object: bool,
    fail_on: Severity,
    active_s: float = math.inf,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Watch the paths and print one line per change; SIGINT ends it with the code of `check`.

    Logs not written for `active_s` seconds are not opened before they are written again.
    """
    for path in paths:
        if why := unreachable_reason(path):
            print(f"ppo-top: {clean(str(path))}: {why}", file=err or sys.stderr)
            return EXIT_ERROR

    def emit(event: dict[str, object]) -> None:
        print(json.dumps(event) if as_object else event_line(event), file=out, flush=True)

    session = Session(settings, parallel=True)
    reporter = ChangeReporter(session, emit)
    follower = Follower(
        paths, patterns=settings.patterns, notebooks=settings.notebooks, active_s=active_s
    )
    problems: set[str] = set()
    try:
        # Load the watcher before printing: an interrupt during an import that creates classes
        # ends CPython by the signal, not with our exit code.
        follower.wait(0.0)
        while not reader_is_gone(out or sys.stdout):
            read_to_end(follower, session, lambda: reporter.report_changes(time.time()))
            follower.wait(FOLLOW_INTERVAL_S)
            report_new_problems(follower, session, problems, err or sys.stderr)
        return EXIT_OK
    except KeyboardInterrupt:
        return exit_code(session.runs.values(), fail_on)
    except BrokenPipeError:
        return EXIT_OK
    finally:
        follower.close()
        session.close()
