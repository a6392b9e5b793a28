"""Logs of another machine: how soon they are here, and what that costs.

    python -m benchmarks.remote [--runs 110] [--delay 0.05] [--sshd] [--json FILE]

The shipped runs, copied to many, are read through a stand-in for ssh that delays all bytes in both
directions (50 ms there and back); with `--sshd` through a real one, whose bytes a proxy delays:
then logging in counts, too, and the bytes are the encrypted ones. Targets for 110 runs: everything
is here within 3 s of the connection, a new line within 1.5 s of being written, at most 100 bytes a
second while nothing happens, at most 20 MB for the process there. The processor time of both ends
is printed beside the time on the clock, which other programs lengthen. The exit code is 1 if a
target is missed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fleet import peak_mb, processor_s
from ppo_top.remote.connection import ConnectionOptions
from ppo_top.remote.hosts import connected
from tests.support.sshd import delayed, running_sshd
from tests.support.stand_in_ssh import __file__ as STAND_IN

DEMO = Path(__file__).parents[1] / "demo_logs"
MAX_FIGURES = {"complete_s": 3.0, "line_s": 1.5, "idle_bytes_per_s": 100.0, "far_mb": 20.0}
LINES = 10
IDLE_S = 30.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=110)
    parser.add_argument("--delay", type=float, default=0.05, help="round trip in seconds")
    parser.add_argument("--sshd", action="store_true", help="a real ssh and sshd")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counted = folder / "count"
        if options.sshd:
            with running_sshd(folder) as command:
                ssh = delayed(command, options.delay, "--count", str(counted))
                figures = measure(folder, options.runs, shlex.split(ssh), counted)
        else:
            delay = ("--delay", str(options.delay), "--count", str(counted))
            figures = measure(folder, options.runs, [sys.executable, STAND_IN, *delay], counted)
    for key, value in figures.items():
        print(f"{key:20} {value:12,.3g}   at most {MAX_FIGURES.get(key, float('inf')):g}")
    if options.json is not None:
        options.json.write_text(json.dumps(figures))
    return int(any(figures[key] > most for key, most in MAX_FIGURES.items()))


def measure(folder: Path, runs: int, ssh: list[str], counted: Path) -> dict[str, float]:
    """The figures by name; a command of ssh that counts the bytes which it receives."""
    logs = folder / "runs"
    shipped = sorted(path for path in DEMO.iterdir() if path.is_dir())
    for number in range(runs):
        source = shipped[number % len(shipped)]
        shutil.copytree(source, logs / f"{source.name}-{number // len(shipped)}")
    options = ConnectionOptions(ssh, sys.executable, 1 << 30, 50_000, once=False, notebooks=False)
    live = next(logs.rglob("*.log"), None) or next(logs.rglob("*.txt"))
    start, busy = time.monotonic(), time.process_time()
    with connected([f"node:{logs}"], options) as hosts:
        hosts.wait()
        complete_s = time.monotonic() - start
        far = _far_process()
        busy = time.process_time() - busy + processor_s(far)
        received_mb = int(counted.read_text()) / 1e6
        copy = Path(hosts.all_paths()[0], live.relative_to(logs))
        lines_s = [_line_s(live, copy, number) for number in range(LINES)]
        far_mb = peak_mb(far)
        time.sleep(2.0)
        before = int(counted.read_text())
        time.sleep(IDLE_S)
        idle = (int(counted.read_text()) - before) / IDLE_S
    return {
        "complete_s": complete_s,
        "complete_processor_s": busy,
        "received_mb": received_mb,
        "line_s": max(lines_s),
        "line_median_s": statistics.median(lines_s),
        "idle_bytes_per_s": idle,
        "far_mb": far_mb,
    }


def _line_s(log: Path, copy: Path, number: int) -> float:
    """Seconds until a line that was written there is here."""
    line = f"a new line, number {number}\n".encode()
    with open(log, "ab") as file:
        file.write(line)
    start = time.monotonic()
    while not copy.read_bytes().endswith(line):
        if time.monotonic() - start > 60:
            raise TimeoutError("the line did not come")
        time.sleep(0.005)
    return time.monotonic() - start


def _far_process() -> int:
    """The process of the script."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if any(word.startswith(b"import sys;exec(sys.stdin") for word in words):
            return int(path.parent.name)
    raise ProcessLookupError("no far side")


if __name__ == "__main__":
    sys.exit(main())
