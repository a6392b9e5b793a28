"""Train the Stable-Baselines3 runs of the corpus: `python -m corpus.train --until 04:15`."""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from corpus.faults import (
    CONTROL_FAULTS,
    AlteredEnvironment,
    ControlFault,
    FlippedReward,
    ModelChange,
    hyperparameters,
)
from corpus.labels import label
from corpus.tasks import CONTROL_TASKS, ControlTask, planned_runs

CORPUS_RUNS = Path(__file__).resolve().parent / "runs"
LAST_EPISODES = 50
CONSOLE_TAIL_CHARS = 4000  # kept of the console of a crashed run


def onset_of(task: ControlTask, fault: ControlFault) -> int:
    """Return the step after which the fault acts: 0, or the rollout boundary at 55 % of the run."""
    if not fault.midway:
        return 0
    return int(0.55 * task.timesteps / task.rollout) * task.rollout


def make_environment(
    task: ControlTask, fault: ControlFault, base: list[AlteredEnvironment]
) -> VecEnv:
    """Build the task's environments with the fault in them, noting the innermost in `base`."""
    onset = onset_of(task, fault) // task.environments

    def one() -> gymnasium.Env[Any, Any]:
        altered = AlteredEnvironment(gymnasium.make(task.environment), fault.environment, onset)
        base.append(altered)
        watched = Monitor(altered)
        return FlippedReward(watched, onset) if fault.environment == "flip_reward" else watched

    makers: list[Callable[[], gymnasium.Env[Any, Any]]] = [one] * task.environments
    envs = DummyVecEnv(makers)
    gamma = task.options.get("gamma", 0.99)
    return VecNormalize(envs, gamma=gamma) if task.normalize else envs


def learn(task: ControlTask, fault: ControlFault, seed: int, folder: Path) -> None:
    """Train one run into `folder`: SB3's progress.csv, and returns.json with the true returns."""
    torch.set_num_threads(1)
    base: list[AlteredEnvironment] = []
    options = hyperparameters(task, fault)
    for name in task.linear:
        options[name] = LinearSchedule(options[name], 0.0, 1.0)
    algorithm = getattr(stable_baselines3, task.algorithm)
    model = algorithm(
        "MlpPolicy", make_environment(task, fault, base), seed=seed, device="cpu", **options
    )
    model.set_logger(configure(str(folder), ["csv"]))
    change = ModelChange(fault.model, onset_of(task, fault))
    try:
        steps = int(task.timesteps * fault.length_factor)
        model.learn(steps, callback=change, log_interval=task.log_interval)
    finally:
        returns = [env.true_returns for env in base]
        (folder / "returns.json").write_text(json.dumps(returns), encoding="utf-8")


def train_in_child(task: ControlTask, fault: ControlFault, seed: int, folder: Path) -> None:
    """Train with everything printed going to a file, as in a shell that redirects it."""
    console = os.open(folder / "console.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(console, 1)
    os.dup2(console, 2)
    learn(task, fault, seed, folder)


def first_and_last_returns(returns: list[list[float]]) -> tuple[float, float]:
    """Mean true return of the first and of the last episodes over all environments."""
    share = max(2, LAST_EPISODES // len(returns))
    first = [score for env in returns for score in env[: max(1, share // 5)]]
    last = [score for env in returns for score in env[-share:]]
    return (float(np.mean(first)), float(np.mean(last))) if last else (float("nan"),) * 2


def train(name: str, seed: int, key: str) -> None:
    """Train one run in a process of its own and keep its log, its label and its last words."""
    task, fault = CONTROL_TASKS[name], CONTROL_FAULTS[key]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        process = multiprocessing.get_context("fork").Process(
            target=train_in_child, args=(task, fault, seed, work)
        )
        process.start()
        process.join()
        seconds = time.monotonic() - started
        first, last = first_and_last_returns(json.loads((work / "returns.json").read_text()))
        folder = CORPUS_RUNS / run_id(name, seed, key)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(work / "progress.csv", folder)
        if process.exitcode:
            tail = (work / "console.txt").read_text()[-CONSOLE_TAIL_CHARS:]
            (folder / "console.txt").write_text(tail, encoding="utf-8")
    meta = {
        "id": folder.name,
        "producer": "sb3",
        "environment": task.environment,
        "split": task.split,
        "config": name,
        "algorithm": task.algorithm,
        "hyperparameters": hyperparameters(task, fault),
        "linear_to_zero": list(task.linear),
        "environments": task.environments,
        "normalized": task.normalize,
        "timesteps": int(task.timesteps * fault.length_factor),
        "rollout": task.rollout,
        "log_interval": task.log_interval,
        "seed": seed,
        "fault": key,
        "onset_step": onset_of(task, fault),
        "onset_update": onset_of(task, fault) // task.rollout,
        "died": bool(process.exitcode),
        "start_return": round(first, 3),
        "final_return": round(last, 3),
        "seconds": round(seconds, 1),
        "versions": versions(),
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """The versions that matter for repeating a run."""
    packages = ("stable-baselines3", "torch", "gymnasium", "numpy")
    return {"python": platform.python_version()} | {each: version(each) for each in packages}


def run_id(name: str, seed: int, key: str) -> str:
    """The name of a run's folder."""
    return f"{name}-{'healthy' if key == 'none' else key}-s{seed}"


def main() -> None:
    """Train the missing runs, or those named, until the given time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--until", metavar="HH:MM", help="start no run after this time (UTC)")
    asked = parser.parse_intermixed_args()
    for name, key, seed in planned_runs():
        identity = run_id(name, seed, key)
        if asked.until and time.strftime("%H:%M", time.gmtime()) >= asked.until:
            break
        if (
            identity not in asked.ids
            if asked.ids
            else (CORPUS_RUNS / identity / "meta.json").exists()
        ):
            continue
        train(name, seed, key)
        label(CORPUS_RUNS)
        meta = json.loads((CORPUS_RUNS / identity / "meta.json").read_text())
        print(
            f"{identity}: {meta['start_return']} -> {meta['final_return']},"
            f" harmful {meta.get('harmful')}, {meta['seconds']} s",
            flush=True,
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
    sys.exit(0)
