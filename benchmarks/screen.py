"""What the screen costs, measured from outside in a pseudo-terminal of 140x40.

    python -m benchmarks.screen [--quick] [--only N] [--json FILE]
    python -m benchmarks.screen --peer "terminalboard {}"
    python -m benchmarks.screen --log wandb --python PYTHON_WITH_WANDB --peer "wandb leet {}/wandb"

Measures: time to the first paint and to the first page with a verdict; bytes and CPU time when idle
and at one and ten updates per second of 30 metrics; memory with 50 runs; the response time to a key
while a log of 1,000,000 points, and while 30 runs are read; ink, margins and contrast of a page
(`benchmarks.ink`). The targets are the project's own; the exit code is 1 if one is missed. With
`--peer` another viewer is measured on a log of the same kind that grows by one update per second.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.growing_logs import SB3_METRICS, make_growing_log, write_run
from benchmarks.ink import rendered_pages
from benchmarks.terminal import BELOW_VERDICT, Measure, MeasuredTerminal


def command(path: Path) -> list[str]:
    """The command that starts ppo-top."""
    return [sys.executable, "-m", "ppo_top", str(path)]


def median_s(arguments: list[str], rounds: int) -> float:
    """The median seconds that a command takes."""
    elapsed = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run(arguments, check=True)
        elapsed.append(time.perf_counter() - begin)
    return statistics.median(elapsed)


def start_up(logs: Path, rounds: int) -> list[Measure]:
    """First paint and first page with a verdict, compared with the import of Textual alone."""
    imported = median_s([sys.executable, "-c", "import textual.app"], rounds)
    first, verdict = [], []
    for _ in range(rounds):
        terminal = MeasuredTerminal(command(logs))
        terminal.read_for(10, lambda seen: b"ppo-top" in seen)
        first.append(time.perf_counter() - terminal.started)
        terminal.read_for(10, lambda seen: BELOW_VERDICT in seen)
        verdict.append(time.perf_counter() - terminal.started)
        terminal.close()
    bar = (imported * 1.5 + 0.15) * 1000
    return [
        Measure("import textual.app", imported * 1000, "ms"),
        Measure("first paint", statistics.median(first) * 1000, "ms", bar),
        Measure("first page with a verdict", statistics.median(verdict) * 1000, "ms"),
    ]


def idle_cost(logs: Path, seconds: float) -> list[Measure]:
    """Bytes and CPU time when idle, for a run that ended long ago."""
    for log in logs.rglob("*.csv"):
        os.utime(log, (time.time() - 7200,) * 2)
    terminal = MeasuredTerminal(command(logs))
    terminal.read_for(12.0)
    before, cpu = len(terminal.written), terminal.cpu_s()
    terminal.read_for(seconds)
    written, used = len(terminal.written) - before, terminal.cpu_s() - cpu
    terminal.close()
    return [
        Measure("idle: bytes/s", written / seconds, "B/s", 0.0),
        Measure("idle: CPU", 100 * used / seconds, "% of a core", 1.0),
    ]


def update_cost(folder: Path, kind: str, per_second: float, seconds: float) -> list[Measure]:
    """Bytes and CPU time while 30 metrics change `per_second` times per second."""
    log = make_growing_log(kind, folder / "run", 120, sys.executable)
    terminal = MeasuredTerminal(command(folder))
    terminal.read_for(5.0)
    before, cpu, begin = len(terminal.written), terminal.cpu_s(), time.perf_counter()
    number = 121
    while time.perf_counter() - begin < seconds:
        log.write_update(number)
        number += 1
        terminal.read_for(max(0.0, begin + (number - 121) / per_second - time.perf_counter()))
    elapsed = time.perf_counter() - begin
    written, used = len(terminal.written) - before, terminal.cpu_s() - cpu
    terminal.close()
    log.close()
    name = f"{kind}, {per_second:g} updates/s"
    slow = per_second <= 1
    return [
        Measure(f"{name}: bytes", written / elapsed / 1024, "KiB/s", 2.5 if slow else None),
        Measure(f"{name}: CPU", 100 * used / elapsed, "% of a core", 2.0 if slow else None),
    ]


def fifty_runs(folder: Path) -> list[Measure]:
    """Memory with 50 runs of 200 updates."""
    for number in range(50):
        write_run(folder / f"run_{number:02}", 200)
    terminal = MeasuredTerminal(command(folder))
    terminal.read_for(20.0)
    memory = terminal.memory_mb()
    terminal.close()
    return [Measure("50 runs: memory", memory, "MB", 120.0)]


def key_while_loading(folder: Path) -> list[Measure]:
    """The response time to a key while a million points are read."""
    number = math.ceil(1_000_000 / len(SB3_METRICS))
    write_run(folder, number)
    terminal = MeasuredTerminal(command(folder))
    terminal.read_for(10, lambda seen: b"reading" in seen)
    elapsed = []
    for _ in range(40):
        elapsed.append(terminal.press(b"?"))
        terminal.read_for(0.05)
    terminal.close()
    slow = statistics.quantiles(elapsed, n=20)[-1]
    return [
        Measure("key while loading: median", statistics.median(elapsed) * 1000, "ms"),
        Measure("key while loading: p95", slow * 1000, "ms", 100.0),
    ]


def million_points(folder: Path) -> list[Measure]:
    """The time until the last step of a million points is drawn, with no key pressed."""
    number = math.ceil(1_000_000 / len(SB3_METRICS))
    write_run(folder / "run", number)
    cache = f"XDG_CACHE_HOME={folder / 'cache'}"
    terminal = MeasuredTerminal(["env", cache, *command(folder / "run")])
    last = f"{number * 2048:,}".encode()
    loaded = terminal.read_for(60, lambda seen: last in seen)
    terminal.close()
    return [Measure("1,000,000 points on the screen", loaded, "s", 3.0)]


def key_while_many_load(folder: Path) -> list[Measure]:
    """The response time to keys that change what is shown while 30 runs of 1,500 updates load."""
    for number in range(30):
        write_run(folder / f"run_{number:02}", 1500)
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    terminal = MeasuredTerminal(["env", *(f"{k}={v}" for k, v in cache.items()), *command(folder)])
    terminal.read_for(10, lambda seen: b"Reading" in seen or BELOW_VERDICT in seen)
    elapsed = []
    for number in range(60):
        elapsed.append(terminal.press((b",", b"?", b"\x1b", b".")[number % 4]))
        terminal.read_for(0.05 + 0.013 * (number % 7))
    terminal.close()
    escapes, others = elapsed[2::4], [each for n, each in enumerate(elapsed) if n % 4 != 2]
    found = []
    for name, each in (("keys", others), ("Esc alone", escapes)):
        slow = statistics.quantiles(each, n=20)[-1] * 1000
        found += [
            Measure(f"30 runs load, {name}: median", statistics.median(each) * 1000, "ms"),
            Measure(f"30 runs load, {name}: p95", slow, "ms", 100.0),
        ]
    return found


def measure_program(
    folder: Path, kind: str, python: str, program: list[str], seconds: float
) -> list[Measure]:
    """A program on a log that grows by 30 values per second: start, bytes, CPU, memory."""
    name = "ppo-top" if program[0] == sys.executable else " ".join(program[:2])
    logs = Path(tempfile.mkdtemp(dir=folder)) / "logs"
    log = make_growing_log(kind, logs, 120, python)
    terminal = MeasuredTerminal([part.replace("{}", str(logs)) for part in program])
    first = terminal.read_for(10, lambda seen: len(seen) > 3000)
    terminal.read_for(5.0)
    before, cpu, begin = len(terminal.written), terminal.cpu_s(), time.perf_counter()
    for number in range(121, 121 + int(seconds)):
        log.write_update(number)
        terminal.read_for(max(0.0, begin + (number - 120) - time.perf_counter()))
    elapsed = time.perf_counter() - begin
    written = len(terminal.written) - before
    found = [
        Measure(f"{name}: first full screen", first * 1000, "ms"),
        Measure(f"{name}: 1 update/s", written / elapsed / 1024, "KiB/s"),
        Measure(f"{name}: CPU", 100 * (terminal.cpu_s() - cpu) / elapsed, "% of a core"),
        Measure(f"{name}: memory", terminal.memory_mb(), "MB"),
    ]
    terminal.close()
    log.close()
    return found


def main() -> int:
    """Measure, print a table, return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="measure for a shorter time")
    parser.add_argument("--only", type=int, choices=range(9), help="run only this measurement")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--peer", action="append", default=[], help='e.g. "terminalboard {}"')
    parser.add_argument("--log", choices=("csv", "tfevents", "wandb"), default="tfevents")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has wandb")
    options = parser.parse_args()
    seconds = 10.0 if options.quick else 60.0
    folder = Path(tempfile.mkdtemp(prefix="ppo-top-screen-"))
    measures: list[Measure] = []
    try:
        write_run(folder / "one" / "run", 40)
        steps: list[Callable[[], list[Measure]]] = [
            lambda: start_up(folder / "one", 3 if options.quick else 7),
            lambda: idle_cost(folder / "one", seconds),
            lambda: update_cost(folder / "slow", "csv", 1.0, seconds / 2),
            lambda: update_cost(folder / "events", "tfevents", 1.0, seconds / 2),
            lambda: update_cost(folder / "fast", "csv", 10.0, seconds / 2),
            lambda: fifty_runs(folder / "fifty"),
            lambda: key_while_loading(folder / "keys"),
            lambda: million_points(folder / "million"),
            lambda: key_while_many_load(folder / "thirty"),
            rendered_pages,
        ]
        if options.peer:
            programs = [command(Path("{}")), *(shlex.split(peer) for peer in options.peer)]
            about = (folder, options.log, options.python)
            steps = [partial(measure_program, *about, each, seconds / 2) for each in programs]
            options.only = None
        for step in steps if options.only is None else [steps[options.only]]:
            for measure in step():
                measures.append(measure)
                print(measure.row(), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json is not None:
        options.json.write_text(json.dumps([vars(measure) for measure in measures], indent=1))
    return 0 if all(measure.meets_bar for measure in measures) else 1


if __name__ == "__main__":
    sys.exit(main())
