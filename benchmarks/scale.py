"""How it scales: ten to a thousand runs in one directory, with many unrelated files.

    python -m benchmarks.scale [--runs 10 100 1000] [--points 1000] [--files 100000] [--json FILE]

Each run is an event file of 30 metrics, written by TensorBoard's own writer (one file, linked into
every run's directory, so that the disk plays no part). Each size is measured in a new process that
reads and judges in small steps as the screen does, with workers and one run selected. Targets for
1,000 runs: a first verdict within 2 s, at most 250 MB at any time (only the selected run is kept
whole; workers come on top), below 2 % of a core when idle. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.growing_logs import SB3_METRICS, update_values
from ppo_top.files.follower import Follower
from ppo_top.runs.pipeline import Pipeline
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings

FILES_PER_FOLDER = 20
RUN_AGE_S = 3600.0
"""How long ago the runs were last written."""
MAX_FIGURES = {"first_s": 2.0, "memory_mb": 250.0, "idle_percent": 2.0}


# --- making --------------------------------------------------------------------------------------


def make_events(folder: Path, points: int) -> Path:
    """One event file with all metrics at every step, of a run that learns."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer, chance = EventFileWriter(str(folder)), random.Random(0)
    for step in range(points):
        for tag, value in zip(SB3_METRICS, update_values(step + 1, chance), strict=True):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(wall_time=1.7e9 + step, step=step * 2048, summary=summary))
    writer.close()
    events = next(folder.glob("events*"))
    os.utime(events, (time.time() - RUN_AGE_S, time.time() - RUN_AGE_S))
    return events


def make_runs(root: Path, runs: int, events: Path) -> None:
    """Create `runs` directories with that event file."""
    for number in range(runs):
        folder = root / f"group_{number // 50}" / f"run_{number}"
        folder.mkdir(parents=True)
        os.link(events, folder / events.name)


def make_unrelated(root: Path, files: int) -> None:
    """Create checkpoints next to the runs."""
    for first in range(0, files, FILES_PER_FOLDER):
        folder = root / "checkpoints" / f"step_{first}"
        folder.mkdir(parents=True)
        for number in range(FILES_PER_FOLDER):
            (folder / f"shard_{number}.safetensors").touch()


# --- measuring -----------------------------------------------------------------------------------


def resident_mb() -> float:
    """Resident memory of this process, in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def measure(root: Path, runs: int, idle_s: float) -> dict[str, float]:
    """Read and judge everything as the screen does, then idle for a while."""
    start = time.perf_counter()
    follower = Follower([root])
    session = Session(Settings(), parallel=True)
    pipeline = Pipeline(session, follower)
    figures: dict[str, float] = {}

    def note(name: str, holds: bool) -> None:
        if holds and name not in figures:
            figures[name] = time.perf_counter() - start

    judged, most, chosen = False, 0.0, ""
    while not judged:
        result = follower.poll(limit=50_000, budget=0.04)
        known = session.runs.values()
        judged = pipeline.step(result, 0.02, chosen, (chosen,)) and not result.more
        if known and not chosen:
            chosen = next(iter(session.runs))  # the selected run is read first
            follower.focus(session.runs[chosen].sources)
        while session.queue.is_full:
            pipeline.step(None, 0.02, chosen, (chosen,))
        most = max(most, resident_mb())
        note("first_s", any(len(run.timeline) for run in known))
        note("chosen_s", bool(chosen) and is_complete(session.runs[chosen]))
        note("every_run_s", len(known) == runs)
        note("read_s", not result.more)
    note("judged_s", judged)
    figures["memory_mb"] = most
    figures["points"] = sum(run.points for run in session.runs.values())
    follower.wait(0.0)
    follower.poll()
    figures["idle_percent"] = 100 * idle(follower, session, idle_s)
    follower.close()
    session.close()
    return figures


def is_complete(run: Run) -> bool:
    """Whether a run has its final verdict."""
    return run.judged and not run.has_more_to_read


def idle(follower: Follower, session: Session, seconds: float) -> float:
    """The fraction of a core used while idle."""
    start, end = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < end:
        follower.wait(1.0)
        session.apply(follower.poll())
        session.judge(0.02)
    return (time.process_time() - start) / seconds


def measure_in_child(root: Path, runs: int, idle_s: float) -> dict[str, float]:
    """`measure` in a new process."""
    options = ["--measure", root, "--runs", runs, "--idle", idle_s]
    command = [sys.executable, "-m", "benchmarks.scale", *options]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


# --- printing ------------------------------------------------------------------------------------

HEADINGS = {
    "points": "points",
    "first_s": "first verdict s",
    "chosen_s": "chosen run s",
    "every_run_s": "every run s",
    "read_s": "all read s",
    "judged_s": "all judged s",
    "memory_mb": "peak memory MB",
    "idle_percent": "idle % of a core",
}


def table_row(runs: int, figures: dict[str, float]) -> str:
    """The figures of a size, below the headings."""
    cells = [
        f"{figures[name]:>16,.{0 if name in ('points', 'memory_mb') else 2}f}" for name in HEADINGS
    ]
    return "  ".join([f"{runs:>6}", *cells])


def missed(figures: dict[str, float]) -> list[str]:
    """The targets that are missed."""
    return [
        f"{HEADINGS[name]}: {figures[name]:.2f}, target {bar:g}"
        for name, bar in MAX_FIGURES.items()
        if figures[name] > bar
    ]


def main() -> int:
    """Create the runs, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--points", type=int, default=1000, help="per metric")
    parser.add_argument("--files", type=int, default=100_000, help="number of unrelated files")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds to idle")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.runs[0], options.idle)))
        return 0
    rows = {}
    print("  ".join(["  runs", *(f"{text:>16}" for text in HEADINGS.values())]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "template").mkdir()
        events = make_events(root / "template", options.points)
        for runs in options.runs:
            make_runs(root / str(runs), runs, events)
            make_unrelated(root / str(runs), options.files)
            rows[runs] = measure_in_child(root / str(runs), runs, options.idle)
            print(table_row(runs, rows[runs]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    failures = missed(rows[max(rows)])
    for failure in failures:
        print(f"missed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
