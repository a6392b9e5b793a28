"""`ppo-top check --follow`: a line for each change of a run, as long as somebody reads them."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from ppo_top.files.follower import Follower
from ppo_top.model import Severity, State
from ppo_top.output.colour import coloured
from ppo_top.output.exit_codes import EXIT_ERROR, EXIT_OK, exit_code
from ppo_top.output.hooks import Hooks
from ppo_top.output.reports.overview import PLAIN, OutputStyle
from ppo_top.output.run_events import ChangeReporter, RunEvent, event_line, only_moves
from ppo_top.output.standard_output import discard_stdout, reader_is_gone
from ppo_top.runs.liveness import run_status
from ppo_top.runs.load import is_unreachable
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.text.format import clean

MAX_PROBLEM_LINES = 1_000
"""Problems printed per session, each once."""

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
