"""How much processor time a first answer takes, as ratios to peers measured in turn.

    python -m benchmarks.first_answer [--rounds 11]

`check` and `status` of one run of 40 updates are compared with an interpreter that does nothing,
the first page of the screen with the import of Textual alone, and `check` of 1,000,000 points in a
`progress.csv` with the csv module turning them into numbers. Other load disturbs ratios of
processor time less than seconds. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.growing_logs import SB3_METRICS, write_run
from benchmarks.terminal import BELOW_VERDICT, MeasuredTerminal

POINTS = 1_000_000
NUMBERS_CODE = (
    "import csv, sys\n"
    "with open(sys.argv[1], newline='') as file:\n"
    "    rows = csv.reader(file)\n"
    "    next(rows)\n"
    "    columns = list(zip(*(map(float, row) for row in rows)))\n"
)


class Comparison(NamedTuple):
    """A command of ours, what it is compared with, and the highest ratio allowed (None: any)."""

    name: str
    ours: Callable[[], float]
    peer_name: str
    peer: Callable[[], float]
    bar: float | None


def processor_s(*arguments: str | Path) -> float:
    """Processor seconds of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_page_s(logs: Path) -> float:
    """Processor seconds until the first page with a verdict is written."""
    terminal = MeasuredTerminal(
        [sys.executable, "-m", "ppo_top", "--no-cache", str(logs)]  # as if never seen before
    )
    terminal.read_for(20, lambda seen: BELOW_VERDICT in seen)
    used = terminal.cpu_s()
    terminal.close()
    return used


def comparisons(small: Path, large: Path) -> list[Comparison]:
    """What is compared, on a run of 40 updates and on a long one."""

    def ours(command: str, logs: Path) -> Callable[[], float]:
        return lambda: processor_s("-m", "ppo_top", command, "--no-cache", logs)

    def nothing() -> float:
        return processor_s("-c", "pass")

    def textual() -> float:
        return processor_s("-c", "import textual.app")

    def numbers() -> float:
        return processor_s("-c", NUMBERS_CODE, large / "progress.csv")

    return [
        Comparison("check", ours("check", small), "python -c pass", nothing, 5.0),
        Comparison("status", ours("status", small), "python -c pass", nothing, 5.0),
        Comparison("first page", lambda: first_page_s(small), "import textual.app", textual, 0.8),
        Comparison(f"check of {POINTS:,} points", ours("check", large), "csv", numbers, None),
    ]


def main() -> int:
    """Measure in turn and print the ratios of the medians; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        write_run(small, 40)
        write_run(large, math.ceil(POINTS / len(SB3_METRICS)))
        for name, ours, peer_name, peer, bar in comparisons(small, large):
            ours()  # compiles what is not compiled yet
            pairs = [(ours(), peer()) for _ in range(rounds)]
            used, others = (statistics.median(each) for each in zip(*pairs, strict=True))
            ratio = used / others
            verdict = "" if bar is None else f", bar {bar:g}{'' if ratio <= bar else '  MISSED'}"
            missed = missed or (bar is not None and ratio > bar)
            facts = f"{1000 * used:.0f} ms by {1000 * others:.0f} ms"
            print(f"{name:27}{ratio:6.2f} x {peer_name} ({facts}){verdict}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
