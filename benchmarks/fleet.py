"""`ppo-top serve` on many runs: first snapshot, memory, scrape, idle, a new line.

    python -m benchmarks.fleet [--json FILE]

The runs are copies of the shipped logs: 110 that were just written, and 1,000 of which 50 were, the
others a month ago. Each size is a new process of the installed program, asked over HTTP as
Prometheus does. Memory is the peak of that process; workers, which end after the first snapshot,
come on top. Processor time is printed beside the time on the clock, which other programs on the
machine lengthen. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

DEMO_LOGS = Path(__file__).parents[1] / "demo_logs"
MONTH_S = 30 * 86_400.0
SCRAPES = 5
IDLE_S = 10.0
PATIENCE_S = 300.0
NEXT_STEP = 21
"""The step of the line that is written."""
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

BARS = {
    110: {"first_s": 5.0, "memory_mb": 150.0, "scrape_s": 0.05, "line_s": 2.5, "idle_percent": 1.0},
    1000: {"first_s": 10.0, "memory_mb": 300.0, "scrape_s": 0.5, "line_s": 2.5},
}
"""Runs -> the most that each figure may be."""


def make_runs(root: Path, runs: int, live: int) -> Path:
    """Copies of the shipped runs, `live` of them written just now; returns a console that grows."""
    shipped = sorted(path.parent for path in DEMO_LOGS.glob("*/NOTE.md"))
    hidden, old = shutil.ignore_patterns("NOTE.md"), time.time() - MONTH_S
    for number in range(runs - 1):
        source = shipped[number % len(shipped)]
        folder = root / f"group_{number // 50}" / f"{source.name}_{number}"
        shutil.copytree(source, folder, ignore=hidden)
        for path in (each for each in folder.rglob("*") if each.is_file()):
            os.utime(path, None if number < live - 1 else (old, old))
    log = root / "growing" / "stdout.log"
    log.parent.mkdir()
    console = (DEMO_LOGS / "torch_cartpole_lr" / "stdout.log").read_bytes()
    log.write_bytes(b"".join(console.splitlines(keepends=True)[: NEXT_STEP - 1]))
    return log


def get(url: str) -> tuple[int, bytes, float]:
    """Status, body and seconds of a request."""
    start = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read(), time.perf_counter() - start
    except urllib.error.HTTPError as error:
        return error.code, b"", time.perf_counter() - start
    except OSError:
        return 0, b"", time.perf_counter() - start


def wait_until_ready(url: str) -> None:
    """Returns when everything was read and judged once."""
    end = time.perf_counter() + PATIENCE_S
    while get(f"{url}/-/ready")[0] != 200:
        if time.perf_counter() > end:
            raise SystemExit("not ready after five minutes")
        time.sleep(0.1)  # asking costs the process that is measured


def processor_s(process: int) -> float:
    """Processor time of a process without its children, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def peak_mb(process: int) -> float:
    """Peak resident memory of a process, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def time_scrapes(url: str) -> tuple[float, int, int]:
    """Median seconds of a scrape, bytes and samples of an answer; each is made anew."""
    seconds, body = [], b""
    for number in range(SCRAPES):
        asked = f"{url}/metrics"
        time.sleep(1.1 if number else 0.0)  # an answer serves again for a second
        _, body, took = get(asked)
        seconds.append(took)
    samples = sum(not line.startswith(b"#") for line in body.splitlines())
    return statistics.median(seconds), len(body), samples


def time_new_line(url: str, log: Path) -> float:
    """Seconds from a written line until `/metrics` has it; the scrapes are a part of it."""
    wanted = f'ppo_top_run_step{{run="{log.parent}"}} {NEXT_STEP:.1f}\n'.encode()
    start = time.perf_counter()
    with open(log, "ab") as file:
        file.write(f"Iteration {NEXT_STEP}/40 | Mean Reward: 20.8 | KL: 0.0047\n".encode())
    while wanted not in get(f"{url}/metrics?name[]=ppo_top_run_step")[1]:
        if time.perf_counter() - start > PATIENCE_S:
            raise SystemExit("the new line is not in /metrics")
        time.sleep(0.05)
    return time.perf_counter() - start


def measure(runs: int, live: int) -> dict[str, float]:
    """The figures of a fleet of that size."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        log = make_runs(Path(folder), runs, live)
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        url, before = f"http://{address}", resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "ppo_top", "serve", folder, "--listen", address]
        start = time.perf_counter()
        with subprocess.Popen([*command, "--retire", "0"], stderr=subprocess.DEVNULL) as process:
            wait_until_ready(url)
            first = time.perf_counter() - start
            own = processor_s(process.pid)
            before_scrapes = processor_s(process.pid)
            scrape, size, samples = time_scrapes(url)
            scrapes = processor_s(process.pid) - before_scrapes
            line = time_new_line(url, log)
            used, slept = processor_s(process.pid), time.perf_counter()
            time.sleep(IDLE_S)
            used, slept = processor_s(process.pid) - used, time.perf_counter() - slept
            figures = {
                "first_s": first,
                "first_processor_s": own,
                "memory_mb": peak_mb(process.pid),
                "scrape_s": scrape,
                "scrape_processor_s": scrapes / SCRAPES,
                "body_kb": size / 1000,
                "samples": float(samples),
                "line_s": line,
                "idle_percent": 100 * used / slept,
            }
            process.terminate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures["processor_with_workers_s"] = after.ru_utime - before.ru_utime
    return figures


def main() -> int:
    """Measure both sizes and compare with the bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", metavar="FILE", help="also write the figures here")
    options = parser.parse_args()
    found = {runs: measure(runs, live) for runs, live in ((110, 110), (1000, 50))}
    missed = 0
    for runs, figures in found.items():
        print(f"{runs} runs")
        for name, figure in figures.items():
            bar = BARS[runs].get(name)
            missed += bar is not None and figure > bar
            said = f"  (at most {bar:g}{'' if figure <= bar else ': MISSED'})" if bar else ""
            print(f"  {name:<26}{figure:>10.2f}{said}")
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
