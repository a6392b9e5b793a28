"""Train the TRL runs of the corpus: `python -m corpus.llm grpo` (TRL 1.16) or `ppo` (TRL 1.12)."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from corpus import llm_runs
from corpus.labels import label
from corpus.llm_runs import LLM_FAULTS, LLM_TASKS, TRAINING_STEPS, TrueScores

CORPUS_RUNS = Path(__file__).resolve().parent / "runs"
LLM_CONSOLE_CHARS = (
    60_000  # kept of the console of a crashed run: all of it, so that it starts where the run does
)
HEALTHY_SEEDS = {"grpo": (1, 2, 3), "ppo": (1, 2)}  # PPO takes four times as long
FAULT_SEEDS: dict[str, dict[str, tuple[int, ...]]] = {
    "grpo": {"vowels": (11, 12), "late": (11, 12)},
    "ppo": {"vowels": (11,), "late": (11,)},
}


def train_in_child(algorithm: str, task: str, fault: str, seed: int, folder: Path) -> None:
    """Train with all output in a file; write the true scores to scores.json."""
    console = os.open("console.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(console, 1)
    os.dup2(console, 2)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    score = TrueScores()
    try:
        getattr(llm_runs, algorithm)(LLM_TASKS[task], LLM_FAULTS[fault], seed, score)
    finally:
        Path("scores.json").write_text(json.dumps(score.means), encoding="utf-8")


def train(algorithm: str, task: str, fault: str, seed: int) -> dict[str, Any]:
    """Train one run in a new process; keep its log, its label and the end of its console."""
    folder = CORPUS_RUNS / run_id(algorithm, task, fault, seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        process = multiprocessing.get_context("fork").Process(
            target=train_in_child, args=(algorithm, task, fault, seed, Path(scratch))
        )
        process.start()
        process.join()
        means = json.loads(Path("scores.json").read_text())
        folder.mkdir(parents=True, exist_ok=True)
        for state in sorted(Path().glob("logs/checkpoint-*/trainer_state.json")):
            shutil.copy(state, folder)
        if process.exitcode:
            tail = Path("console.txt").read_text()[-LLM_CONSOLE_CHARS:]
            (folder / "console.txt").write_text(tail, encoding="utf-8")
        os.chdir(CORPUS_RUNS)
    meta = describe(algorithm, task, fault, seed) | {
        "died": bool(process.exitcode),
        "start_return": mean(means[:5]),
        "final_return": mean(means[-10:]),
        "seconds": round(time.monotonic() - started, 1),
        "versions": versions(),
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    return meta


def describe(algorithm: str, task: str, fault: str, seed: int) -> dict[str, Any]:
    """Return what is known of a run before it starts."""
    onset = llm_runs.onset(algorithm, LLM_FAULTS[fault])
    return {
        "id": run_id(algorithm, task, fault, seed),
        "producer": f"trl-{algorithm}",
        "environment": task,
        "split": LLM_TASKS[task].split,
        "config": f"{algorithm}-{task}",
        "hyperparameters": llm_runs.hyperparameters(algorithm, LLM_TASKS[task], LLM_FAULTS[fault]),
        "timesteps": TRAINING_STEPS[algorithm],
        "rollout": 1,
        "log_interval": 1,
        "seed": seed,
        "fault": fault,
        "onset_step": onset,
        "onset_update": onset,
    }


def mean(values: list[float]) -> float:
    """The mean; NaN of nothing."""
    return round(sum(values) / len(values), 4) if values else math.nan


def versions() -> dict[str, str]:
    """The versions that matter for repeating a run."""
    packages = ("trl", "transformers", "torch")
    return {"python": platform.python_version()} | {each: version(each) for each in packages}


def run_id(algorithm: str, task: str, fault: str, seed: int) -> str:
    """The name of a run's folder."""
    return f"{algorithm}-{task}-{'healthy' if fault == 'none' else fault}-s{seed}"


def main() -> None:
    """Train every missing run of one algorithm, until the given time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithm", choices=["grpo", "ppo"])
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--until", metavar="HH:MM", help="start no run after this time (UTC)")
    asked = parser.parse_intermixed_args()
    wishes = [
        (task, fault, seed)
        for fault in LLM_FAULTS
        for task in LLM_TASKS
        for seed in (
            HEALTHY_SEEDS[asked.algorithm]
            if fault == "none"
            else FAULT_SEEDS[asked.algorithm][task]
        )
        if asked.algorithm in LLM_FAULTS[fault].algorithms
    ]
    for task, fault, seed in wishes:
        identity = run_id(asked.algorithm, task, fault, seed)
        if asked.until and time.strftime("%H:%M", time.gmtime()) >= asked.until:
            break
        if (
            identity not in asked.ids
            if asked.ids
            else (CORPUS_RUNS / identity / "meta.json").exists()
        ):
            continue
        meta = train(asked.algorithm, task, fault, seed)
        label(CORPUS_RUNS)
        figures = f"{meta['start_return']} -> {meta['final_return']}, {meta['seconds']} s"
        print(f"{identity}: {figures}", flush=True)


if __name__ == "__main__":
    main()
