"""Logs of 30 metrics that grow by one update at a time, in several formats."""

from __future__ import annotations

import math
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

SB3_METRICS = [
    "time/iterations", "time/total_timesteps", "time/fps", "time/time_elapsed",
    "rollout/ep_rew_mean", "rollout/ep_len_mean", "train/approx_kl", "train/clip_fraction",
    "train/clip_range", "train/entropy_loss", "train/explained_variance", "train/learning_rate",
    "train/loss", "train/n_updates", "train/policy_gradient_loss", "train/value_loss",
    *(f"custom/metric_{number}" for number in range(14)),
]  # fmt: skip
"""Thirty metrics, with Stable-Baselines3's names where it has them."""


def update_values(number: int, chance: random.Random) -> list[float]:
    """All metrics of one update of a run that learns."""
    return [
        float(number), number * 2048.0, 1200 + chance.random() * 50, number * 1.7,
        200 * (1 - math.exp(-number / 50)) + chance.gauss(0, 3), 100 + chance.random() * 20,
        0.008 + chance.random() * 0.004, 0.1 + chance.random() * 0.03, 0.2,
        -0.69 + number * 1e-4 + chance.random() * 0.01, 0.9 + chance.random() * 0.05, 3e-4,
        chance.random(), number * 10.0, -0.01 + chance.random() * 0.002, 5 + chance.random(),
        *(chance.gauss(0, 1) for _ in range(14)),
    ]  # fmt: skip


def csv_row(number: int, chance: random.Random) -> str:
    """One update as a line of a CSV file."""
    return ",".join(f"{value:.9g}" for value in update_values(number, chance)) + "\n"


def write_run(folder: Path, rows: int) -> Path:
    """Write a progress.csv with that many updates."""
    folder.mkdir(parents=True)
    chance = random.Random(folder.name)
    path = folder / "progress.csv"
    with path.open("w") as file:
        file.write(",".join(SB3_METRICS) + "\n")
        for number in range(1, rows + 1):
            file.write(csv_row(number, chance))
    return path


class GrowingLog(Protocol):
    """A log that grows."""

    def write_update(self, number: int) -> None:
        """Append one update of all metrics, and flush."""

    def close(self) -> None:
        """Close the log."""


class GrowingCsv:
    """A `progress.csv` as Stable-Baselines3 writes it."""

    def __init__(self, folder: Path, before: int) -> None:
        self._path = write_run(folder, before)
        self._chance = random.Random(7)

    def write_update(self, number: int) -> None:
        """Append a line."""
        with self._path.open("a") as file:
            file.write(csv_row(number, self._chance))

    def close(self) -> None:
        """There is nothing to close."""


class GrowingEvents:
    """A TensorBoard event file; earlier updates also came once per second."""

    def __init__(self, folder: Path, before: int) -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer = EventFileWriter(str(folder))
        self._chance = random.Random(3)
        for number in range(1, before + 1):
            self.write_update(number, time.time() - (before + 1 - number))

    def write_update(self, number: int, when: float | None = None) -> None:
        """Append a record for each metric."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        texts = csv_row(number, self._chance).strip().split(",")
        for tag, text in zip(SB3_METRICS, texts, strict=True):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=float(text))])
            event = Event(step=number * 2048, wall_time=when or time.time(), summary=summary)
            self._writer.add_event(event)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


WANDB_WRITER = """
import sys, wandb
names = sys.stdin.readline().strip().split(",")
run = wandb.init(mode="offline", dir=sys.argv[1], settings=wandb.Settings(console="off"))
print("ready", flush=True)
for line in sys.stdin:
    values = [float(text) for text in line.strip().split(",")]
    run.log(dict(zip(names, values)), step=int(values[1]))
run.finish()
"""


class GrowingWandb:
    """An offline run of Weights & Biases, written by its own package under another Python."""

    def __init__(self, folder: Path, before: int, python: str = "python") -> None:
        folder.mkdir(parents=True)
        arguments = [python, "-c", WANDB_WRITER, str(folder)]
        pipe = subprocess.PIPE
        self._writer = subprocess.Popen(
            arguments, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        self._chance = random.Random(3)
        self._send(",".join(SB3_METRICS) + "\n")
        assert self._writer.stdout is not None
        self._writer.stdout.readline()
        for number in range(1, before + 1):
            self.write_update(number)
        time.sleep(5.0)  # the package writes in a process of its own

    def write_update(self, number: int) -> None:
        """Log one step."""
        self._send(csv_row(number, self._chance))

    def _send(self, text: str) -> None:
        assert self._writer.stdin is not None
        self._writer.stdin.write(text)
        self._writer.stdin.flush()

    def close(self) -> None:
        """Finish the run."""
        self._writer.communicate()


def make_growing_log(kind: str, folder: Path, before: int, python: str) -> GrowingLog:
    """A log of this kind that already has that many updates."""
    if kind == "wandb":
        return GrowingWandb(folder, before, python)
    makers: dict[str, Callable[[Path, int], GrowingLog]] = {
        "csv": GrowingCsv,
        "tfevents": GrowingEvents,
    }
    return makers[kind](folder, before)
