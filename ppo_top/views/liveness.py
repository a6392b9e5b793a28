"""Whether a run is alive: by its log's own words, else by its own rhythm."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ppo_top.files.open_files import OpenFiles
from ppo_top.model import State
from ppo_top.runs.run import Run
from ppo_top.text.format import duration

MIN_STALL_S = 60.0
"""Shorter silences are never a stall: checkpoints and evaluations take that long."""

USUAL_PAUSE_FACTOR, LONGEST_PAUSE_FACTOR = 5.0, 2.0
"""A stall is this many times the usual pause, and this many times the longest recent one."""

RECENT_PAUSES = 20
"""How many pauses make the rhythm of a run."""

ABANDONED_AFTER_S = 24 * 3600.0
"""After a day of silence a run is not called stalled any more: it is over, without a word."""

LOG_WRITERS = OpenFiles()

_WRITER_IN_NAME = re.compile(r"tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+")


class RunStatus(NamedTuple):
    """A run's state and the words for it."""

    state: State
    text: str


def run_status(run: Run, now: float) -> RunStatus:
    """The state of a run at a time (unix seconds)."""
    ended = run.first_ended()
    if ended is not None and ended.ended is not None:
        return RunStatus(ended.ended.state, ended.ended.text)
    if not run.points:
        return RunStatus(State.STARTING, "no values yet")
    total, done = run.total_steps, run.timeline.steps[-1] if run.timeline.steps else 0
    if total and done >= total:
        return RunStatus(State.FINISHED, "all steps done")
    return _status_by_pauses(run, now)


def _status_by_pauses(run: Run, now: float) -> RunStatus:
    quiet = max(0.0, now - last_growth_time(run, now))
    limit = stall_limit(recent_pauses(run))
    if quiet <= limit:
        return RunStatus(State.LIVE, "")
    words = f"no new data for {duration(quiet)}"
    if quiet > max(ABANDONED_AFTER_S, 4 * limit):
        return RunStatus(State.ENDED, f"{words} · no end-of-run marker")
    logs = [source.source for source in run.sources.values()]
    if _writer_gone(log.path.name for log in logs):
        return RunStatus(State.ENDED, f"{words} · process exited")
    if LOG_WRITERS.has_no_writers(log.path for log in logs if log.format.kept_open):
        return RunStatus(State.ENDED, f"{words} · log file closed by writer")
    if not LOG_WRITERS.can_see_writers:
        words += " · this system cannot tell whether a process is still writing"
    return RunStatus(State.STALLED, words)


def last_growth_time(run: Run, now: float) -> float:
    """When a source last grew; times in the future (a clock that jumped) count as now."""
    return min(now, run.last_change if run.sources else now)


def recent_pauses(run: Run) -> list[float]:
    """The recent pauses between rows, in seconds; empty where the log has no clock."""
    times = [time for time in run.timeline.times[-RECENT_PAUSES - 1 :] if time == time]
    return [later - earlier for earlier, later in pairwise(times) if later > earlier]


def stall_limit(recent: Sequence[float]) -> float:
    """How long a silence has to be to count as a stall."""
    if not recent:
        return MIN_STALL_S
    return max(MIN_STALL_S, USUAL_PAUSE_FACTOR * median(recent), LONGEST_PAUSE_FACTOR * max(recent))


def _writer_gone(names: Iterable[str]) -> bool:
    """Whether event files name a process of this machine that does not exist any more."""
    writers = [found for name in names if (found := _WRITER_IN_NAME.search(name))]
    here = [int(found["pid"]) for found in writers if found["host"] == socket.gethostname()]
    return bool(here) and not any(_alive(pid) for pid in here)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
