"""Whether a run is still going: by the end marker in its log, else by the pauses in it."""

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
"""A shorter silence is never a stall: checkpoints and evaluations take that long."""

USUAL_PAUSE_FACTOR, LONGEST_PAUSE_FACTOR = 5.0, 2.0
"""A stall is longer than this many usual pauses, and than this many of the longest recent one."""

RECENT_PAUSES = 20
"""Newest pauses between rows that count."""

ABANDONED_AFTER_S = 24 * 3600.0
"""After a day of silence a run counts as ended, no longer as stalled."""

LOG_WRITERS = OpenFiles()

_WRITER_IN_NAME = re.compile(r"tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+")


class RunStatus(NamedTuple):
    """A run's state, and the reason in words."""

    state: State
    text: str


def run_status(run: Run, now: float) -> RunStatus:
    """The state of a run at a time in unix seconds."""
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
    # A file time in the future (a clock that jumped) counts as now.
    quiet = max(0.0, now - run.last_change) if run.sources else 0.0
    limit = stall_limit(_recent_pauses(run))
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


def _recent_pauses(run: Run) -> list[float]:
    """The recent pauses between rows in seconds; empty if the log has no times."""
    times = [time for time in run.timeline.times[-RECENT_PAUSES - 1 :] if time == time]
    return [later - earlier for earlier, later in pairwise(times) if later > earlier]


def stall_limit(pauses: Sequence[float]) -> float:
    """The longest silence in seconds that is not a stall yet, from the recent pauses."""
    if not pauses:
        return MIN_STALL_S
    return max(MIN_STALL_S, USUAL_PAUSE_FACTOR * median(pauses), LONGEST_PAUSE_FACTOR * max(pauses))


def _writer_gone(file_names: Iterable[str]) -> bool:
    """Whether event files name processes of this machine, none of which is running."""
    writers = [found for name in file_names if (found := _WRITER_IN_NAME.search(name))]
    local = [int(found["pid"]) for found in writers if found["host"] == socket.gethostname()]
    return bool(local) and not any(_is_running(pid) for pid in local)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
