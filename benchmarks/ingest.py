"""How fast logs are read, compared with other readers of the same bytes.

    python -m benchmarks.ingest [--events 1000000] [--rounds 5] [--slow-rounds 2] [--json FILE]

The event file has that many scalars under 30 tags and is written by TensorBoard's own writer, as
torch writes it; texts are the demo logs, repeated. Each reader runs in its own process, in
alternating rounds, and medians are compared. All use one thread; rates and ratios are of processor
time, which other load disturbs less, next to wall-clock seconds. Peers that are not installed are
listed with the command that installs them. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEMO_LOGS = ROOT / "demo_logs"
EVENT_TAGS = [
    *(f"rollout/{name}" for name in ("ep_rew_mean", "ep_len_mean")),
    *(f"train/{name}" for name in ("approx_kl", "clip_fraction", "clip_range", "entropy_loss")),
    *(f"train/{name}" for name in ("explained_variance", "learning_rate", "loss", "std")),
    *(f"train/{name}" for name in ("policy_gradient_loss", "value_loss", "n_updates")),
    *(f"losses/{name}" for name in ("value_loss", "policy_loss", "entropy", "clipfrac")),
    *(f"objective/{name}" for name in ("kl", "entropy", "scores", "rlhf_reward", "kl_coef")),
    *(f"policy/{name}" for name in ("ratio_mean", "ratio_max", "approxkl_avg", "clipfrac_avg")),
    *("time/fps", "eval/mean_reward", "env/reward_mean", "tokens/responses_len_mean"),
]
TEXT_BYTES = 6 << 20
REWRITTEN_LINE = (
    "[Episode {:7}] reward = {:6}.50  (mean of last 100: 20.25)  loss = 0.1250  took 0.5s\n"
)
"""Brackets, aligned columns, a window behind its value, a unit."""
DATA_SERVER = "tensorboard-data-server --checksum"
SLOW_READERS = {"event_accumulator", "tbparse", "terminalboard"}
READER_LABELS = {
    "ppo_top": "ppo-top, all checksums",
    "ppo_top_cold": "  with the import of numpy",
    "plain": "plain read()",
    "event_accumulator": "TensorBoard EventAccumulator",
    "tbparse": "tbparse",
    "terminalboard": "terminalboard",
    "many": "ppo-top",
    "splitlines": "str.splitlines",
}
MIN_SPEEDUPS = {DATA_SERVER: 1.0, "event_accumulator": 30.0, "tbparse": 30.0, "terminalboard": 12.0}
"""How many times as fast as each reader ours must be."""
MAX_MEMORY_MB = 150.0
MIN_LINE_RATES = {
    "SB3 table": 0.08,
    "TRL numbers": 0.1,
    "custom console": 0.04,
    "rewritten lines": 0.04,
    "CSV": 0.1,
    "JSON lines": 0.1,
}
"""Lines per second as a share of those of str.splitlines over the same bytes, in one run."""


@dataclass
class ReaderResult:
    """Time and memory of one reader on one input, per round."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    points: int = 0
    megabytes: float = 0.0
    missing: str = ""

    @property
    def median(self) -> float:
        """Median processor seconds; infinite without a round."""
        return statistics.median(self.cpu) if self.cpu else float("inf")

    @property
    def clock(self) -> float:
        """Median wall-clock seconds."""
        return statistics.median(self.seconds)

    def add_round(self, answer: dict[str, Any]) -> None:
        """Add what a reader printed."""
        if "missing" in answer:
            self.missing = answer["missing"]
            return
        self.seconds.append(answer["seconds"])
        self.cpu.append(answer["cpu"])
        self.points = answer["points"]
        self.megabytes = max(self.megabytes, answer["megabytes"])


def write_events(path: Path, count: int) -> None:
    """Write an event file with TensorBoard's record writer, in torch's layout."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    rng = random.Random(7)
    with path.open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1.8e9, file_version="brain.Event:2").SerializeToString())
        for number in range(count):
            step, tag = divmod(number, len(EVENT_TAGS))
            value = Summary.Value(tag=EVENT_TAGS[tag], simple_value=rng.gauss(0, 1))
            event = Event(wall_time=1.8e9 + number * 1e-4, step=step * 64)
            event.summary.value.append(value)
            writer.write(event.SerializeToString())


def run_reader(reader: str, path: Path) -> dict[str, Any]:
    """Run one reader in a new process."""
    command = [sys.executable, str(HERE / "ingest_readers.py"), reader, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def data_server(folder: Path, *options: str) -> dict[str, Any]:
    """One load cycle of the Rust loader by its own clock; it keeps only a sample of the points."""
    try:
        from tensorboard_data_server import server_binary
    except ImportError:
        return {"missing": "pip install tensorboard-data-server"}
    command = [server_binary(), "--logdir", str(folder), "--port", "0", "--reload", "once"]
    command += ["--checksum", "--verbose", "--verbose", "--die-after-stdin", *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stderr is not None
        assert server.stdin is not None
        for line in server.stderr:
            if found := re.search(r"Finished load cycle \(([\d.]+)(ms|s)\)", line):
                status = Path(f"/proc/{server.pid}/status").read_text()
                spent = Path(f"/proc/{server.pid}/stat").read_text().rpartition(") ")[2].split()
                break
        else:
            raise RuntimeError("the data server never finished a load cycle")
        server.stdin.close()
        server.stderr.read()
    memory = re.search(r"VmHWM:\s+(\d+) kB", status)
    return {
        "seconds": float(found[1]) * (0.001 if found[2] == "ms" else 1.0),
        "cpu": (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK"),
        "points": 0,
        "megabytes": int(memory[1]) / 1024 if memory else 0.0,
    }


def compare_events(path: Path, rounds: int, slow_rounds: int) -> dict[str, ReaderResult]:
    """All readers of event files, in turn."""
    fast = ["ppo_top", "ppo_top_cold", DATA_SERVER, "plain"]
    results = {name: ReaderResult() for name in (*fast, *sorted(SLOW_READERS))}
    for turn in range(rounds):
        for name, result in results.items():
            if result.missing or (name in SLOW_READERS and turn >= slow_rounds):
                continue
            result.add_round(
                data_server(path.parent) if name == DATA_SERVER else run_reader(name, path)
            )
            print(
                f"  round {turn + 1}: {READER_LABELS.get(name, name)}", file=sys.stderr, flush=True
            )
    return results


def show_events(results: dict[str, ReaderResult], events: int, size: int) -> list[str]:
    """Print the table; return the missed targets."""
    ours = results["ppo_top"]
    head = f"{'event file':33}{'points/s':>12}{'MB/s':>8}{'clock s':>9}{'cpu s':>8}"
    print(f"\n{head}{'memory MB':>11}{'ours is':>9}   target")
    missed = []
    for name, result in results.items():
        label = READER_LABELS.get(name, name)
        if result.missing:
            print(f"{label:33}  not installed: {result.missing}")
            continue
        ratio = result.median / ours.median
        bar = MIN_SPEEDUPS.get(name)
        rate, speed = events / result.median, size / result.median / 1e6
        verdict = f">= {bar:g}x {'ok' if ratio >= bar else 'MISSED'}" if bar else ""
        shown = f"{rate:12,.0f}{speed:8.1f}{result.clock:9.2f}{result.median:8.2f}"
        print(f"{label:33}{shown}{result.megabytes:11.0f}{ratio:8.2f}x   {verdict}")
        if bar and ratio < bar:
            missed.append(label)
        if result.points not in (0, events):
            missed.append(f"{label} read {result.points} of {events} points")
    if ours.megabytes >= MAX_MEMORY_MB:
        missed.append(f"memory {ours.megabytes:.0f} MB")
    return missed


def as_one_training(log: bytes) -> bytes:
    """A repeated log whose steps go on: where they begin anew, so does another training."""
    added = last = 0

    def count_on(found: re.Match[bytes]) -> bytes:
        nonlocal added, last
        step = int(found[2]) + added
        if step < last:
            step, added = step + last - added, last
        last = step
        return found[1] + str(last).encode().ljust(len(found[0]) - len(found[1]))

    return re.sub(rb"(Iteration |num_timesteps=|total_timesteps +\| )(\d+ *)", count_on, log)


def write_texts(folder: Path) -> dict[str, Path]:
    """Real logs, repeated up to some megabytes each."""
    made = {}
    for label, source, head, pattern in (
        ("SB3 table", DEMO_LOGS / "sb3_cartpole" / "stdout.log", 0, b""),
        ("TRL numbers", ROOT / "tests/data/trl_0.11.4/ppov2/stdout.log", 0, b"{'"),
        ("TRL strings", DEMO_LOGS / "trl_grpo" / "stdout.log", 0, b"{'"),
        ("TRL with its bar", DEMO_LOGS / "trl_grpo" / "stdout.log", 0, b""),
        ("custom console", DEMO_LOGS / "torch_cartpole" / "stdout.log", 0, b"Iteration "),
        ("CSV", DEMO_LOGS / "sb3_cartpole" / "progress.csv", 1, b""),
        ("JSON lines", DEMO_LOGS / "sb3_cartpole" / "progress.json", 0, b""),
    ):
        lines = source.read_bytes().splitlines(keepends=True)
        body = b"".join(line for line in lines[head:] if line.startswith(pattern))
        path = folder / label.replace(" ", "_") / source.name
        path.parent.mkdir()
        many = body * (TEXT_BYTES // len(body))
        if not head and not label.startswith(("TRL", "JSON")):
            many = as_one_training(many)
        path.write_bytes(b"".join(lines[:head]) + many)
        made[label] = path
    path = folder / "rewritten" / "stdout.log"
    path.parent.mkdir()
    path.write_text("".join(REWRITTEN_LINE.format(n, n % 97) for n in range(1, TEXT_BYTES // 80)))
    made["rewritten lines"] = path
    return made


def compare_texts(folder: Path, rounds: int) -> list[str]:
    """Compare our text readers with read() and splitlines; return the missed targets."""
    head = f"{'text':18}{'lines/s':>12}{'points/s':>13}{'MB/s':>8}{'of splitlines':>15}"
    print(f"\n{head}{'of read()':>12}   target")
    missed = []
    for label, path in write_texts(folder).items():
        results = {name: ReaderResult() for name in ("ppo_top", "splitlines", "plain")}
        for _ in range(rounds):
            for name, result in results.items():
                result.add_round(run_reader(name, path))
        ours = results["ppo_top"]
        data = path.read_bytes()
        lines = len(data.splitlines())
        share = results["splitlines"].median / ours.median
        bar = MIN_LINE_RATES.get(label)
        verdict = f">= {bar:.1%} {'ok' if share >= bar else 'MISSED'}" if bar else ""
        rates = f"{lines / ours.median:12,.0f}{ours.points / ours.median:13,.0f}"
        speed = f"{len(data) / ours.median / 1e6:8.1f}{share:15.1%}"
        print(f"{label:18}{rates}{speed}{results['plain'].median / ours.median:12.2%}   {verdict}")
        if bar and share < bar:
            missed.append(label)
    return missed


def show_wandb(rounds: int) -> None:
    """Recorded .wandb files, one after another."""
    from benchmarks.ingest_readers import copies_of

    path = max((ROOT / "tests" / "data" / "wandb_0.31.0").rglob("*.wandb"), key=_size)
    result, plain = ReaderResult(), ReaderResult()
    for _ in range(rounds):
        result.add_round(run_reader("many", path))
        plain.add_round(run_reader("plain", path))
    size = copies_of(path.read_bytes()) * _size(path)
    rate, speed = result.points / result.median, size / result.median / 1e6
    once = size / _size(path) * plain.median
    print(f"{'.wandb':18}{'':12}{rate:13,.0f}{speed:8.1f}{'':15}{once / result.median:12.2%}")


def _size(path: Path) -> int:
    return path.stat().st_size


def main() -> int:
    """Write the inputs, compare, print; return 1 if a target is missed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--slow-rounds", type=int, default=2)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ingest-"))
    try:
        path = folder / "run" / "events.out.tfevents.1800000000.host.1.0"
        path.parent.mkdir()
        begun = time.perf_counter()
        write_events(path, chosen.events)
        took = time.perf_counter() - begun
        print(f"{chosen.events:,} scalars, {len(EVENT_TAGS)} tags, {_size(path) / 1e6:.1f} MB")
        print(f"(written by TensorBoard's writer in {took:.0f} s)", flush=True)
        results = compare_events(path, chosen.rounds, chosen.slow_rounds)
        missed = show_events(results, chosen.events, _size(path))
        missed += compare_texts(folder, chosen.rounds)
        show_wandb(chosen.rounds)
    finally:
        shutil.rmtree(folder)
    if chosen.json:
        plain = {name: vars(result) for name, result in results.items()}
        chosen.json.write_text(json.dumps(plain, indent=1))
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nevery target is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
