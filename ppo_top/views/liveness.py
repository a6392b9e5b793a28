"""Whether a run is alive: by its log's own words, else by its own rhythm."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ppo_top.files.open_files import Writers
from ppo_top.model import State
from ppo_top.runs.run import Run
from ppo_top.text.format import duration

QUIET_S = 60.0
"""Shorter silences are never a stall: checkpoints and evaluations take that long."""

USUAL_TIMES, LONGEST_TIMES = 5.0, 2.0
"""A stall is this many times the usual pause, and this many times the longest recent one."""

RECENT = 20
"""How many pauses make the rhythm of a run."""

FORGOTTEN_S = 24 * 3600.0
"""After a day of silence a run is not called stalled any more: it is over, without a word."""

WRITERS = Writers()

_WRITER = re.compile(r"tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+")


class Standing(NamedTuple):
    """A run's state and the words for it."""

    state: State
    text: str


def standing(run: Run, now: float) -> Standing:
    """The state of a run at a time (unix seconds)."""
    ended = run.first_ended()
    if ended is not None and ended.ended is not None:
        return Standing(ended.ended.state, ended.ended.text)
    if not run.points:
        return Standing(State.STARTING, "no values yet")
    total, done = run.total_steps, run.timeline.steps[-1] if run.timeline.steps else 0
    if total and done >= total:
        return Standing(State.FINISHED, "all steps done")
    return _by_rhythm(run, now)


def _by_rhythm(run: Run, now: float) -> Standing:
    quiet = max(0.0, now - last_sign(run, now))
    limit = stall_limit(pauses(run))
    if quiet <= limit:
        return Standing(State.LIVE, "")
    words = f"nothing new for {duration(quiet)}"
    if quiet > max(FORGOTTEN_S, 4 * limit):
        return Standing(State.ENDED, f"{words}, no word of its end")
    logs = [source.source for source in run.sources.values()]
    if _writer_gone(log.path.name for log in logs):
        return Standing(State.ENDED, f"{words}, its process is gone")
    if WRITERS.gone(log.path for log in logs if log.format.held):
        return Standing(State.ENDED, f"{words}, no process has it open")
    if not WRITERS.can_tell:
        words += ", and whether a process still writes cannot be told on this system"
    return Standing(State.STALLED, words)


def last_sign(run: Run, now: float) -> float:
    """When a source last grew; times in the future (a clock that jumped) count as now."""
    return min(now, run.last_change if run.sources else now)


def pauses(run: Run) -> list[float]:
    """The recent pauses between rows, in seconds; empty where the log has no clock."""
    times = [time for time in run.timeline.times[-RECENT - 1 :] if time == time]
    return [later - earlier for earlier, later in pairwise(times) if later > earlier]


def stall_limit(recent: Sequence[float]) -> float:
    """How long a silence has to be to count as a stall."""
    if not recent:
        return QUIET_S
    return max(QUIET_S, USUAL_TIMES * median(recent), LONGEST_TIMES * max(recent))


def _writer_gone(names: Iterable[str]) -> bool:
    """Whether event files name a process of this machine that does not exist any more."""
    writers = [found for name in names if (found := _WRITER.search(name))]
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
