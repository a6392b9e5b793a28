"""Reports on runs that a worker process makes, for the tests of workers: functions of a module."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from ppo_top.output.check import MadeReport, make_report
from ppo_top.runs.run import Run

DOOMED = "doomed"
OWNER, TOLD = "PPO_TOP_TEST_OWNER", "PPO_TOP_TEST_TOLD"
"""Variables of the environment: the process that owns the workers, and a pipe to report to."""


def niceness_and_process(run: Run) -> tuple[int, int]:
    """The priority of the process that judges, and its id."""
    return os.nice(0), os.getpid()


def killed_in_a_worker(parts: Sequence[str], run: Run) -> MadeReport:
    """The usual report, but the worker that makes that of one run is killed."""
    if DOOMED in run.id and os.getpid() != int(os.environ[OWNER]):
        os.kill(os.getpid(), signal.SIGKILL)
    return make_report(parts, run)


def sleeps_in_a_worker(run: Run) -> int:
    """The process that judges; in a worker that takes for ever, as without a core for it."""
    if os.getpid() != int(os.environ[OWNER]):
        time.sleep(600)
    return os.getpid()


def never_ends(run: Run) -> None:
    """Tells who is at work, and works for longer than any test."""
    if os.getpid() != int(os.environ[OWNER]):
        with Path(os.environ[TOLD]).open("w") as pipe:
            pipe.write(f"{os.getpid()}\n")
    time.sleep(600)
