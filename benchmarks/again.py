"""How long it takes to ask again about runs that were judged before and did not change.

    python -m benchmarks.again [--runs 100] [--finished 200] [--points 1000] [--rounds 5]

`check --json` of many runs of 30 metrics in event files is compared with the time in which
tensorboard-data-server loads all their points (by its own clock, with checksums); `status` of
finished runs with an interpreter that does nothing. Rounds alternate, medians are compared. The
exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.ingest import data_server
from benchmarks.scale import make_events

MAX_RATIOS = {"check": 0.1, "status": 8.0}
"""Seconds of ours by those of what it is compared with."""

RUN_AGE_S = 2 * 24 * 3600.0
"""How long ago the runs were last written: they are over, though they do not say so."""


def link_runs(folder: Path, events: Path, count: int) -> Path:
    """A directory of runs that hold the same event file."""
    for number in range(count):
        run = folder / f"run_{number:04}"
        run.mkdir(parents=True)
        (run / events.name).hardlink_to(events)
    past = time.time() - RUN_AGE_S
    for path in [events, *folder.iterdir(), folder]:
        os.utime(path, (past, past))
    return folder


def seconds(arguments: list[str], home: Path) -> float:
    """Wall-clock seconds of a Python process whose cache lies below `home`."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment, check=False
    )
    return time.perf_counter() - start


def main() -> int:
    """Make the runs, judge them, ask again in turn with the others, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("runs", 100), ("finished", 200), ("points", 1000), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        events = make_events(home, options.points)
        runs = link_runs(home / "runs", events, options.runs)
        finished = link_runs(home / "finished", events, options.finished)
        check = ["-m", "ppo_top", "check", "--json", str(runs)]
        status = ["-m", "ppo_top", "status", str(finished)]
        first = seconds(check, home)
        print(f"first check {first:.1f} s, status {seconds(status, home):.1f} s")
        times: dict[str, list[float]] = {"check": [], "load": [], "status": [], "pass": []}
        for _ in range(options.rounds):
            loaded = data_server(runs, "--samples-per-plugin", "scalars=all")
            times["load"].append(loaded.get("seconds", float("nan")))
            times["check"].append(seconds(check, home))
            times["status"].append(seconds(status, home))
            times["pass"].append(seconds(["-c", "pass"], home))
    medians = {name: statistics.median(each) for name, each in times.items()}
    print(f"first check / load: {first / medians['load']:.1f} (workers need a second idle core)")
    missed = 0
    for name, other in (("check", "load"), ("status", "pass")):
        ratio = medians[name] / medians[other]
        missed += ratio > MAX_RATIOS[name]
        facts = f"{medians[name]:.3f} s by {medians[other]:.3f} s"
        print(f"{name} again / {other}: {ratio:.2f} ({facts}), bar {MAX_RATIOS[name]}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
