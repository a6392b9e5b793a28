"""Judging a run: its new rows, and once more as a whole when it has ended."""

from __future__ import annotations

import time

from ppo_top.model import State
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run


def judge_run(run: Run, deadline: float, ended: bool) -> bool:
    """Judge new rows until the deadline (`time.perf_counter`); True if all are judged.

    If that shows that the run is over (`ended`: it is), it is judged once more as a whole.
    """
    done = run.evaluate(deadline)
    if done and not run.is_over and has_ended(run, ended):
        run.mark_over()
        done = run.evaluate(deadline)
    return done


def has_ended(run: Run, ended: bool) -> bool:
    """Whether no more is to come (`ended`: whatever its logs and the clock say)."""
    if run.has_more_to_read or not len(run.timeline):
        return False
    return ended or run_status(run, time.time()).state in (State.FINISHED, State.ENDED)
