"""The soak test: real writers, killed, rotated and truncated at random, are watched all the time.

`python -m tests.support.soak --minutes 30` by hand. At the end every point that a writer flushed
must have been seen exactly once, by a watcher that was there from the beginning, by one that was
restarted again and again, and by one started at the end; and memory must not have grown.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ppo_top.files.follower import Follower
from ppo_top.files.reading.log_bytes import QUIET_S

WRITERS_SCRIPT = Path(__file__).with_name("soak_writers.py")
SOAK_TAG = re.compile(r"soak/value|(?i:mean[ _]reward)")
SeenValues = dict[str, Counter[int]]


class SoakFollower:
    """A follower and every value it has read, by file."""

    def __init__(self, root: Path) -> None:
        self._follower = Follower([root])
        self.values: dict[str, array[int]] = {}
        self.problems: list[str] = []

    def poll(self, wait: float = 0.0) -> bool:
        """Read what is new; True if there is more."""
        if wait:
            self._follower.wait(wait)
        polled = self._follower.poll()
        for update in polled.updates:
            path = str(update.source.path)
            if update.reset or path not in self.values:
                self.values[path] = array("q")
            for points in update.batch.points:
                if SOAK_TAG.fullmatch(points.tag):
                    self.values[path].extend(int(value) for value in points.values)
            self.problems += [f"{path}: {problem.message}" for problem in update.batch.problems]
        for source in polled.removed:
            self.values.pop(str(source.path), None)
        return polled.more

    def poll_until_quiet(self, seconds: float = 1.6) -> None:
        """Poll until there has been nothing new for some sweeps."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.poll(0.5):
                end = time.monotonic() + seconds

    def close(self) -> SeenValues:
        """Close; return what was read."""
        self._follower.close()
        return {path: Counter(values) for path, values in self.values.items() if values}


@dataclass
class Soak:
    """The writers and the record of what they did."""

    root: Path
    kinds: list[str]
    rng: random.Random
    writers: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)
    kills: int = 0
    deletions: int = 0

    def start(self, kind: str) -> None:
        """Start a writer in a new directory or, as a resumed run, in that of a killed one."""
        number = self.rng.randrange(10)
        folder = self.root / "runs" / kind / str(number)
        if folder in self.writers:
            return
        seed = self.rng.getrandbits(60)
        command = [sys.executable, WRITERS_SCRIPT, kind, folder, self._flush_log(folder), seed]
        self.writers[folder] = subprocess.Popen(list(map(str, command)))

    def _flush_log(self, folder: Path) -> Path:
        return self.root / f"{folder.parent.name}-{folder.name}.flushed"

    def disturb(self) -> None:
        """Kill a writer, start another, or delete a dead run."""
        chance = self.rng.random()
        if chance < 0.3 and self.writers:
            folder = self.rng.choice(sorted(self.writers))
            self.kill(folder)
            if chance < 0.05:
                shutil.rmtree(folder, ignore_errors=True)
                self._flush_log(folder).unlink(missing_ok=True)
                self.deletions += 1
        else:
            self.start(self.rng.choice(self.kinds))

    def kill(self, folder: Path) -> None:
        """Kill a writer without warning."""
        writer = self.writers.pop(folder)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        self.kills += 1

    def flushed(self) -> SeenValues:
        """Everything that the writers flushed, by file."""
        held: SeenValues = {}
        for record in self.root.glob("*.flushed"):
            for line in record.read_text().splitlines():
                word, *rest = line.split(" ")
                if word == "point" and len(rest) == 2:
                    held.setdefault(rest[0], Counter())[int(rest[1])] += 1
                elif word == "void":
                    held[rest[0]] = Counter()
                elif word == "moved" and Path(rest[1]).exists():
                    held[rest[1]] = held.pop(rest[0], Counter())
        return {path: values for path, values in held.items() if values}


def available() -> list[str]:
    """The kinds of writers that are installed here."""
    needs = {"console": "re", "events": "tensorboard", "torch": "torch", "sb3": "stable_baselines3"}
    return [kind for kind, module in needs.items() if importlib.util.find_spec(module)]


class MemoryProbe:
    """A follower in a new process that keeps nothing, so that its memory is the tool's own."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen([sys.executable, __file__, "--stand-by", root])
        self.memory: list[int] = []

    def sample(self) -> int:
        """Record its resident memory, in bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None, "the memory probe has ended"
        self.memory.append(int(found[1]) * 1024)
        return self.memory[-1]

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


def follow_forever(root: Path) -> None:
    """Follow forever, discarding what is read."""
    follower = Follower([root])
    while True:
        follower.poll()
        follower.wait(0.1)


def soak(root: Path, seconds: float, seed: int, kinds: list[str] | None = None) -> dict[str, int]:
    """Run, check and return the figures; raises AssertionError if a point is missing."""
    draw = random.Random(seed)
    it = Soak(root, kinds or available(), draw)
    (root / "runs").mkdir()
    steady, restarted = SoakFollower(root / "runs"), SoakFollower(root / "runs")
    for kind in it.kinds:
        it.start(kind)
    restarts, end = 0, time.monotonic() + seconds
    probe = MemoryProbe(root / "runs")
    next_disturbance = next_restart = time.monotonic()
    while (now := time.monotonic()) < end:
        steady.poll(0.1)
        restarted.poll()
        if now >= next_disturbance:
            it.disturb()
            next_disturbance = now + draw.uniform(0.1, 1.0)
        if now >= next_restart:
            restarted.close()
            restarted = SoakFollower(root / "runs")
            restarts += 1
            next_restart = now + max(1.0, seconds / 20)
            print(f"{end - now:6.0f} s to go, {probe.sample() >> 20} MiB", flush=True)
    for folder in sorted(it.writers):
        it.kill(folder)
    _age_logs(root / "runs")
    steady.poll_until_quiet()
    growth = probe.sample() - probe.memory[len(probe.memory) // 3]
    probe.close()
    restarted.poll_until_quiet()
    fresh = SoakFollower(root / "runs")
    fresh.poll_until_quiet()
    return check_results(it, steady, restarted.close(), fresh.close()) | {
        "restarts": restarts,
        "memory": probe.memory[-1],
        "memory_growth": growth,
    }


def _age_logs(root: Path) -> None:
    """Let all logs be quiet, so that no half a line begins to count between two watchers' looks."""
    long_ago = time.time() - 2 * QUIET_S
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (long_ago, long_ago))


def check_results(
    it: Soak, steady: SoakFollower, restarted: SeenValues, fresh: SeenValues
) -> dict[str, int]:
    """Compare what was flushed with what was read."""
    seen, flushed = steady.close(), it.flushed()
    for path, values in flushed.items():
        missing = values - seen.get(path, Counter())
        assert not missing, f"{path}: {len(missing)} flushed points were not seen"
    # A killed writer may have flushed one value more than it recorded: compare with the files.
    for name, other in (("steady", seen), ("restarted", restarted)):
        differing = [
            path for path in fresh.keys() | other.keys() if fresh.get(path) != other.get(path)
        ]
        assert not differing, f"the {name} watcher differs from a fresh one in {differing[:9]}"
    twice = [path for path, values in seen.items() if values and max(values.values()) > 1]
    assert not twice, f"values were seen twice in {twice}"
    return {
        "points": sum(values.total() for values in flushed.values()),
        "files": len(seen),
        "kills": it.kills,
        "deletions": it.deletions,
        "problems": len(steady.problems),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--stand-by", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stand_by:
        follow_forever(options.stand_by)
    with tempfile.TemporaryDirectory() as folder:
        print(f"seed {options.seed}, writers: {', '.join(available())}", flush=True)
        for what, figure in soak(Path(folder), options.minutes * 60, options.seed).items():
            print(f"{what}: {figure:,}")
