"""`ppo-top check`: a verdict without a screen, once or followed for as long as it takes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from ppo_top.files.follower import Follower
from ppo_top.model import Finding, Severity, State
from ppo_top.output.backtest import Judged, backtest_lines, backtest_object, reward_fell
from ppo_top.output.json_report import as_json, finding_object, object_text
from ppo_top.output.text_report import Summary, report_lines, summary, summary_lines
from ppo_top.paths import unreachable
from ppo_top.runs.load import drain, load
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.internal_errors import write_no_more
from ppo_top.text.format import clean, count
from ppo_top.views.liveness import standing
from ppo_top.views.run_view import RunView, look

NOTHING, SOMETHING, COULD_NOT_LOOK = 0, 1, 2
"""Exit codes: nothing at or above the threshold; something is; could not look."""

MOST_REPORTS = 10
"""Of more runs only so many have a report of their own, those in the worst trouble."""

MOST_TROUBLES = 1_000
"""So many things that cannot be read are told in the life of a watcher, each once."""

LOOK_EVERY_S = 2.0
"""How often a followed run is looked at when no file says that it changed."""


def looks(session: Session) -> list[tuple[Run, RunView]]:
    """Every run with how it stands now, those in trouble first."""
    now = time.time()
    return [(run, look(run, None, now)) for run in session.ordered()]


def exit_code(runs: Iterable[Run], fail_on: Severity) -> int:
    """1 when a finding at or above the threshold is open at the end of a run."""
    bad = any(
        finding.severity >= fail_on and finding.cleared is None
        for run in runs
        for finding in run.findings
    )
    return SOMETHING if bad else NOTHING


def check(
    paths: Sequence[Path],
    settings: Settings,
    *,
    as_object: bool,
    fail_on: Severity,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Judge the runs below the paths, print the report, and give the exit code."""
    told: dict[str, tuple[str, Summary]] = {}

    def tell(run: Run) -> None:
        view = look(run, None, time.time())
        text = object_text(run, view) if as_object else "\n".join(report_lines(run, view))
        told[run.id] = text, summary(view)

    session = load(paths, settings, err or sys.stderr, tell)
    if session is None:
        return COULD_NOT_LOOK
    every = [told[run.id] for run in session.ordered()]
    report = as_json(text for text, _ in every) if as_object else _report(every)
    try:
        print(report, file=out, flush=True)
    except BrokenPipeError:  # who reads the first lines only gets the same exit code
        write_no_more()
    return exit_code(session.runs.values(), fail_on)


def _report(every: Sequence[tuple[str, Summary]]) -> str:
    """The reports of the runs, those in trouble first, then a table: the end is what one sees.

    Of many runs the worst have a report.
    """
    texts = [text for text, _ in every]
    if len(every) == 1:
        return texts[0]
    if len(every) > MOST_REPORTS:
        texts = [text for text, told in every if told.verdict.is_trouble][:MOST_REPORTS]
    table = summary_lines([told for _, told in every], len(texts))
    return "\n\n".join([*texts, "\n".join(table)])


def backtest_report(paths: Sequence[Path], settings: Settings, *, as_object: bool) -> int:
    """Print how often each rule spoke on old runs, in which, how early before reward fell."""
    fell: dict[str, int | None] = {}

    def tell(run: Run) -> None:
        fell[run.id] = reward_fell(run.timeline)

    session = load(paths, settings, sys.stderr, tell)
    if session is None:
        return COULD_NOT_LOOK
    runs = [Judged(run.name, run.findings, fell[run.id]) for run in session.ordered()]
    if as_object:
        print(json.dumps(backtest_object(runs)))
    else:
        print("\n".join(backtest_lines(runs)))
    return NOTHING


# --- follow ----------------------------------------------------------------------------------


class Reporter:
    """Says what changed since it was last asked: an event a finding that opened or cleared."""

    def __init__(self, session: Session, say: Callable[[dict[str, object]], None]) -> None:
        self._session = session
        self._say = say
        self._known: dict[tuple[str, str, int], tuple[Severity, bool]] = {}
        self._states: dict[str, State] = {}

    def look(self, now: float) -> None:
        """Compare the runs with what was said of them."""
        for run in self._session.ordered():
            self._say_state(run, now)
            for finding in run.findings:
                self._say_finding(run, finding)
        if len(self._states) > len(self._session.runs):
            self._forget()

    def _forget(self) -> None:
        """Runs that are gone take what was said of them along: others come for weeks."""
        here = self._session.runs
        self._states = {run: state for run, state in self._states.items() if run in here}
        self._known = {key: told for key, told in self._known.items() if key[0] in here}

    def _say_state(self, run: Run, now: float) -> None:
        state, text = standing(run, now)
        before = self._states.get(run.id)
        if state is before:
            return
        self._states[run.id] = state
        said = {"run": run.name, "path": run.path, "state": state.value, "text": text}
        if before is None:
            self._say({"event": "run-started", **said, "text": ""})
        if before is not None or state not in (State.STARTING, State.LIVE):
            self._say({"event": f"run-{state.value}", **said})

    def _say_finding(self, run: Run, finding: Finding) -> None:
        key = (run.id, finding.rule, finding.since.row)
        now = (finding.severity, finding.cleared is not None)
        before = self._known.get(key)
        if before == now:
            return
        self._known[key] = now
        event = "cleared" if now[1] else "opened" if before is None else "changed"
        said = {"run": run.name, "path": run.path, **finding_object(finding, run)}
        self._say({"event": event, **said})


class Troubles:
    """Says once what cannot be read or not be watched, and that it is swept instead."""

    def __init__(self, err: TextIO) -> None:
        self._err = err
        self._told: set[str] = set()

    def look(self, follower: Follower) -> None:
        """Tell what is new."""
        lines = follower.problems
        if "(" in follower.watching:  # what sends no events, or why there are none
            lines.append(follower.watching)
        for line in lines:
            if line not in self._told and len(self._told) < MOST_TROUBLES:
                self._told.add(line)
                print(f"ppo-top: {clean(line)}", file=self._err, flush=True)


def event_line(event: dict[str, object]) -> str:
    """An event of `--follow` as one line of text."""
    name = clean(str(event["run"]))
    if "rule" not in event:
        text = clean(str(event["text"]))
        return f"{name}: {event['event']}" + (f" ({text})" if text else "")
    step = event["cleared_step"] if event["event"] == "cleared" else event["since_step"]
    since = count(step) if isinstance(step, int) else str(step)
    return (
        f"{name}: {event['event']} {event['severity']} {event['rule']} at step {since}: "
        + clean(str(event["message"]))
    )


def catch_up(follower: Follower, session: Session) -> None:
    """Read and judge what there is now, and keep no more of it than is needed to judge on."""
    while True:
        drain(follower, session)
        session.judge()
        session.slim()
        keys = session.wanted()
        if not keys:
            return
        follower.again(keys)


def follow(
    paths: Sequence[Path],
    settings: Settings,
    *,
    as_object: bool,
    fail_on: Severity,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Watch the paths, print a line a change; an interrupt ends it, with the code of `check`."""
    for path in paths:
        if why := unreachable(path):
            print(f"ppo-top: {clean(str(path))}: {why}", file=err or sys.stderr)
            return COULD_NOT_LOOK

    def say(event: dict[str, object]) -> None:
        print(json.dumps(event) if as_object else event_line(event), file=out, flush=True)

    session = Session(settings)
    reporter = Reporter(session, say)
    follower = Follower(paths, patterns=settings.patterns)
    troubles = Troubles(err or sys.stderr)
    try:
        # Watching is loaded before anything is said: CPython ends by the signal, and not with our
        # exit code, when an interrupt meets an import that makes classes.
        follower.wait(0.0)
        while True:
            catch_up(follower, session)
            reporter.look(time.time())
            follower.wait(LOOK_EVERY_S)
            troubles.look(follower)
    except KeyboardInterrupt:
        return exit_code(session.runs.values(), fail_on)
    except BrokenPipeError:
        return NOTHING
    finally:
        follower.close()
