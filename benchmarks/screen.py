"""What the screen costs, measured from outside through a pseudo terminal of 140x40.

    python benchmarks/screen.py [--quick] [--only N] [--json FILE] [--peer "terminalboard {}"]

prints: time to the first full screen and to the first verdict, bytes and processor time when idle,
at one and at ten updates a second with 30 metrics changing, memory with 50 runs, and how long a key
takes to be answered while a log of 1,000,000 points is read. The bars are those the project sets
itself; the exit code is 1 where one is missed. With `--peer` another viewer is started on the same
TensorBoard event file, to see what the same update costs there.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import pty
import random
import select
import shlex
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SIZE = (40, 140)
TICKS = os.sysconf("SC_CLK_TCK")

COLUMNS = [
    "time/iterations", "time/total_timesteps", "time/fps", "time/time_elapsed",
    "rollout/ep_rew_mean", "rollout/ep_len_mean", "train/approx_kl", "train/clip_fraction",
    "train/clip_range", "train/entropy_loss", "train/explained_variance", "train/learning_rate",
    "train/loss", "train/n_updates", "train/policy_gradient_loss", "train/value_loss",
    *(f"custom/metric_{number}" for number in range(14)),
]  # fmt: skip
"""Thirty metrics as Stable-Baselines3 names them."""


@dataclass
class Measure:
    """One figure and the bar it has to keep."""

    name: str
    value: float
    unit: str
    bar: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the bar is kept."""
        return self.bar is None or self.value <= self.bar


class Terminal:
    """A program in a pseudo terminal whose output is counted."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8")
            os.execvp(command[0], command)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        self.written = bytearray()

    def read(self, seconds: float, until: Callable[[bytes], bool] | None = None) -> float:
        """Read for so long, or until something is seen; gives the seconds that it took."""
        begin = time.perf_counter()
        while (left := begin + seconds - time.perf_counter()) > 0:
            if not select.select([self.handle], [], [], left)[0]:
                break
            try:
                self.written += os.read(self.handle, 1 << 16)
            except OSError:
                break
            if until is not None and until(bytes(self.written)):
                break
        return time.perf_counter() - begin

    def press(self, key: bytes) -> float:
        """Press a key; seconds until the program writes something."""
        self.read(0.02)
        os.write(self.handle, key)
        before = len(self.written)
        return self.read(5.0, lambda seen: len(seen) > before)

    def cpu_s(self) -> float:
        """Processor time of the program so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mb(self) -> float:
        """Resident memory now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def close(self) -> None:
        """Quit."""
        os.kill(self.pid, signal.SIGTERM)
        self.read(3.0, lambda _seen: bool(os.waitpid(self.pid, os.WNOHANG)[0]))
        os.close(self.handle)


def row(number: int, chance: random.Random) -> str:
    """One update of a run that learns, in all its metrics."""
    values = [
        float(number), number * 2048.0, 1200 + chance.random() * 50, number * 1.7,
        200 * (1 - math.exp(-number / 50)) + chance.gauss(0, 3), 100 + chance.random() * 20,
        0.008 + chance.random() * 0.004, 0.1 + chance.random() * 0.03, 0.2,
        -0.69 + number * 1e-4 + chance.random() * 0.01, 0.9 + chance.random() * 0.05, 3e-4,
        chance.random(), number * 10.0, -0.01 + chance.random() * 0.002, 5 + chance.random(),
        *(chance.gauss(0, 1) for _ in range(14)),
    ]  # fmt: skip
    return ",".join(f"{value:.9g}" for value in values) + "\n"


def write_run(folder: Path, rows: int) -> Path:
    """A progress.csv with so many updates."""
    folder.mkdir(parents=True)
    chance = random.Random(folder.name)
    path = folder / "progress.csv"
    with path.open("w") as file:
        file.write(",".join(COLUMNS) + "\n")
        for number in range(1, rows + 1):
            file.write(row(number, chance))
    return path


def command(path: Path) -> list[str]:
    """How the program is started."""
    return [sys.executable, "-m", "ppo_top", str(path)]


def median_s(arguments: list[str], rounds: int) -> float:
    """Seconds that a command takes, the median of some rounds."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run(arguments, check=True)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def start_up(logs: Path, rounds: int) -> list[Measure]:
    """First full screen and first verdict, beside the import of Textual alone."""
    imported = median_s([sys.executable, "-c", "import textual.app"], rounds)
    first, verdict = [], []
    for _ in range(rounds):
        terminal = Terminal(command(logs))
        terminal.read(10, lambda seen: b"ppo-top" in seen)
        first.append(time.perf_counter() - terminal.started)
        terminal.read(10, lambda seen: b"Healthy" in seen or b"since step" in seen)
        verdict.append(time.perf_counter() - terminal.started)
        terminal.close()
    bar = (imported * 1.5 + 0.15) * 1000
    return [
        Measure("import textual.app", imported * 1000, "ms"),
        Measure("first full screen", statistics.median(first) * 1000, "ms", bar),
        Measure("first verdict", statistics.median(verdict) * 1000, "ms"),
    ]


def quiet(logs: Path, seconds: float) -> list[Measure]:
    """Bytes and processor time when nothing comes, for a run that has been silent for long."""
    for log in logs.rglob("*.csv"):
        os.utime(log, (time.time() - 7200,) * 2)
    terminal = Terminal(command(logs))
    terminal.read(12.0)
    before, cpu = len(terminal.written), terminal.cpu_s()
    terminal.read(seconds)
    written, used = len(terminal.written) - before, terminal.cpu_s() - cpu
    terminal.close()
    return [
        Measure("idle: bytes/s", written / seconds, "B/s", 0.0),
        Measure("idle: processor", 100 * used / seconds, "% of a core", 1.0),
    ]


def busy(folder: Path, per_second: float, seconds: float) -> list[Measure]:
    """Bytes and processor time while 30 metrics change so often."""
    path = write_run(folder, 120)
    chance = random.Random(7)
    terminal = Terminal(command(folder))
    terminal.read(5.0)
    before, cpu, begin = len(terminal.written), terminal.cpu_s(), time.perf_counter()
    number = 121
    while time.perf_counter() - begin < seconds:
        with path.open("a") as file:
            file.write(row(number, chance))
        number += 1
        terminal.read(max(0.0, begin + (number - 121) / per_second - time.perf_counter()))
    taken = time.perf_counter() - begin
    written, used = len(terminal.written) - before, terminal.cpu_s() - cpu
    terminal.close()
    name = f"{per_second:g} updates/s"
    slow = per_second <= 1
    return [
        Measure(f"{name}: bytes", written / taken / 1024, "KiB/s", 2.5 if slow else None),
        Measure(f"{name}: processor", 100 * used / taken, "% of a core", 2.0 if slow else None),
    ]


def many(folder: Path) -> list[Measure]:
    """Memory with 50 runs of 200 updates."""
    for number in range(50):
        write_run(folder / f"run_{number:02}", 200)
    terminal = Terminal(command(folder))
    terminal.read(20.0)
    memory = terminal.memory_mb()
    terminal.close()
    return [Measure("50 runs: memory", memory, "MB", 120.0)]


def loading(folder: Path) -> list[Measure]:
    """How long a key takes while a million points are read."""
    number = math.ceil(1_000_000 / len(COLUMNS))
    write_run(folder, number)
    terminal = Terminal(command(folder))
    terminal.read(10, lambda seen: b"reading" in seen)
    taken = []
    for _ in range(40):
        taken.append(terminal.press(b"?"))
        terminal.read(0.05)
    last = f"{number * 2048:,}".encode()
    for _ in range(120):
        before = len(terminal.written)
        terminal.press(b"r")  # paints the whole screen, so that the step is written as a whole
        terminal.read(0.5)
        if last in bytes(terminal.written[before:]):
            break
    loaded = time.perf_counter() - terminal.started
    terminal.close()
    slow = statistics.quantiles(taken, n=20)[-1]
    return [
        Measure("key while loading: median", statistics.median(taken) * 1000, "ms"),
        Measure("key while loading: p95", slow * 1000, "ms", 100.0),
        Measure("1,000,000 points on the screen", loaded, "s"),
    ]


def beside(folder: Path, program: list[str], seconds: float) -> list[Measure]:
    """A program on an event file that gains 30 values a second: start, bytes, processor, memory."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    name = Path(program[0]).name if program[0] != sys.executable else "ppo-top"
    writer = EventFileWriter(str(folder / name))
    chance = random.Random(3)

    def update(number: int) -> None:
        for tag, text in zip(COLUMNS, row(number, chance).strip().split(","), strict=True):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=float(text))])
            writer.add_event(Event(step=number * 2048, wall_time=time.time(), summary=summary))
        writer.flush()

    for number in range(1, 121):
        update(number)
    terminal = Terminal([part.replace("{}", str(folder / name)) for part in program])
    first = terminal.read(10, lambda seen: len(seen) > 3000)
    terminal.read(5.0)
    before, cpu, begin = len(terminal.written), terminal.cpu_s(), time.perf_counter()
    for number in range(121, 121 + int(seconds)):
        update(number)
        terminal.read(max(0.0, begin + (number - 120) - time.perf_counter()))
    taken = time.perf_counter() - begin
    found = [
        Measure(f"{name}: a screen full", first * 1000, "ms"),
        Measure(f"{name}: 1 update/s", (len(terminal.written) - before) / taken / 1024, "KiB/s"),
        Measure(f"{name}: processor", 100 * (terminal.cpu_s() - cpu) / taken, "% of a core"),
        Measure(f"{name}: memory", terminal.memory_mb(), "MB"),
    ]
    terminal.close()
    writer.close()
    return found


def main() -> int:
    """Measure all, print a table, tell whether every bar is kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter stretches")
    parser.add_argument("--only", type=int, choices=range(6), help="one of the six measurements")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--peer", action="append", default=[], help='e.g. "terminalboard {}"')
    options = parser.parse_args()
    stretch = 10.0 if options.quick else 60.0
    folder = Path(tempfile.mkdtemp(prefix="ppo-top-screen-"))
    measures: list[Measure] = []
    try:
        write_run(folder / "one" / "run", 40)
        steps: list[Callable[[], list[Measure]]] = [
            lambda: start_up(folder / "one", 3 if options.quick else 7),
            lambda: quiet(folder / "one", stretch),
            lambda: busy(folder / "slow", 1.0, stretch / 2),
            lambda: busy(folder / "fast", 10.0, stretch / 2),
            lambda: many(folder / "fifty"),
            lambda: loading(folder / "million"),
        ]
        if options.peer:
            programs = [command(Path("{}")), *(shlex.split(peer) for peer in options.peer)]
            steps = [partial(beside, folder / "beside", each, stretch / 2) for each in programs]
            options.only = None
        for step in steps if options.only is None else [steps[options.only]]:
            for measure in step():
                measures.append(measure)
                bar = "" if measure.bar is None else f"  (bar {measure.bar:.4g})"
                sign = "" if measure.kept else "  MISSED"
                figure = f"{measure.value:10.2f} {measure.unit}"
                print(f"{measure.name:34}{figure}{bar}{sign}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json is not None:
        options.json.write_text(json.dumps([vars(measure) for measure in measures], indent=1))
    return 0 if all(measure.kept for measure in measures) else 1


if __name__ == "__main__":
    sys.exit(main())
