"""What one new update costs while a run is watched, and whether that grows with the run.

    python -m benchmarks.live [--updates 200]

A run of 1,000 and one of 100,000 updates of 30 metrics grow by one update at a time, as a
`progress.csv`; each is read, judged and looked at as the screen does it. Printed is the processor
time of an update (median), and the ratio of the two: the exit code is 1 if that is above 1.2.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.growing_logs import GrowingCsv
from ppo_top.files.follower import Follower
from ppo_top.runs.liveness import run_status
from ppo_top.runs.pipeline import Pipeline, read_to_end
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.views.run_view import make_run_view

LENGTHS = (1_000, 100_000)
BAR_RATIO = 1.2


class UpdateCost(NamedTuple):
    """Milliseconds of processor time: to read and judge an update, and to look at its run."""

    judged: float
    viewed: float


def update_cost(folder: Path, length: int, updates: int) -> UpdateCost:
    """The cost of an update of a run that has so many."""
    log = GrowingCsv(folder, length)
    follower, session = Follower([folder]), Session(Settings())
    pipeline = Pipeline(session, follower)
    read_to_end(follower, session, in_view=(folder.name,))
    (run,) = session.runs.values()
    found = []
    for number in range(length + 1, length + 1 + updates):
        log.write_update(number)
        follower.sweep_soon()
        began = time.process_time()
        pipeline.step(follower.poll(), None, run.id, (run.id,))
        judged = time.process_time()
        make_run_view(run, None, run_status(run, time.time()))
        found.append(UpdateCost(1e3 * (judged - began), 1e3 * (time.process_time() - judged)))
    assert len(run.timeline) == length + updates, "an update was not read at once"
    return UpdateCost(*(statistics.median(each) for each in zip(*found, strict=True)))


def main() -> int:
    """Measure, print, and return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--updates", type=int, default=200)
    updates = parser.parse_args().updates
    costs = []
    for length in LENGTHS:
        with tempfile.TemporaryDirectory() as folder:
            cost = update_cost(Path(folder, "run"), length, updates)
        costs.append(cost)
        spent = f"{cost.judged:.2f} ms to read and judge, {cost.viewed:.2f} ms to view"
        print(f"{length:9,} updates: {spent}")
    ratio = costs[-1].judged / costs[0].judged
    print(f"{ratio:.2f} x as much in the longer run (bar {BAR_RATIO})")
    return int(ratio > BAR_RATIO)


if __name__ == "__main__":
    sys.exit(main())
