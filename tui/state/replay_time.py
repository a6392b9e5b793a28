"""Where each run was at the time that a replay shows, by the clock of the logs."""

from __future__ import annotations

import math
from bisect import bisect_right

from ppo_top.model import Finding, Severity, State
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.text.format import dated
from ppo_top.tui import Replay

IDEAL_FINDING_SHARE = 0.4
"""The preferred position of the first critical finding in a run to replay."""


def time_at(run: Run, row: int) -> float:
    """Unix seconds at a row of a run; NaN if unknown."""
    times = run.timeline.times
    return times[row] if 0 <= row < len(times) else math.nan


def row_at(run: Run, when: float) -> int | None:
    """The latest row of a run at a time (unix seconds); -1: not yet started, None: its end.

    A run without absolute times, or whose rows of that time were evicted, is shown at its end.
    """
    times = run.timeline.times
    if not len(times) or not when > 1e9 or not times[0] > 1e9 or times[-1] <= when:
        return None
    if times.dropped and times[0] <= when < times[times.dropped]:
        return None
    return bisect_right(times, when) - 1


def state_at(run: Run, row: int | None, now: float) -> State:
    """The state of a run at a row: live before its end."""
    if row is None or row >= len(run.timeline) - 1:
        return run_status(run, now).state
    return State.LIVE if row >= 0 else State.STARTING


def detection_text(run: Run, finding: Finding) -> str:
    """`Update KL too high: detected at step 12,288, 20 % of the run`."""
    percent = 100 * (finding.opened.row + 1) // max(len(run.timeline), 1)
    at = dated(run.timeline.axis, finding.opened.step)
    return f"{finding.title}: detected at {at}, {percent} % of the run"


def pick_replay_run(session: Session, replay: Replay) -> str | None:
    """The run to replay first: one that was healthy for a while before it became critical."""
    named = [run.id for run in session.runs.values() if run.name == replay.run]
    if named:
        return named[0]
    candidates: list[tuple[float, str]] = []
    for run in session.runs.values():
        rows = [f.opened.row for f in run.findings if f.severity is Severity.CRIT]
        if rows and len(run.timeline):
            candidates.append((abs(min(rows) / len(run.timeline) - IDEAL_FINDING_SHARE), run.id))
    return min(candidates)[1] if candidates else None
