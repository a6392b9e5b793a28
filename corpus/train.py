"""Train the control runs of the corpus: `python -m corpus.train --until 04:15`."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from stable_baselines3.common.logger import KVWriter, configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

import corpus.environments  # noqa: F401 (registers them)
from corpus.control_task import ControlTask
from corpus.faults import (
    CONTROL_FAULTS,
    AlteredEnvironment,
    ControlFault,
    FlippedReward,
    ModelChange,
    hyperparameters,
)
from corpus.labels import label, write_meta
from corpus.own import ALGORITHMS
from corpus.own_logs import LogWriter
from corpus.plan import PlannedRun, planned_runs
from corpus.tasks import CONTROL_TASKS

CORPUS_RUNS = Path(__file__).resolve().parent / "runs"
LOGS = Path("logs")
LAST_EPISODES = 50
CONSOLE_TAIL_CHARS = 4000  # kept of the console of a crashed run


def onset_of(task: ControlTask, fault: ControlFault) -> int:
    """Return the step after which the fault acts: 0, or the rollout boundary at 55 % of the run."""
    if not fault.midway:
        return 0
    return int(0.55 * task.timesteps / task.rollout) * task.rollout


class Training:
    """One run, trained in the working directory: its log goes to ./logs."""

    def __init__(self, task: ControlTask, fault: ControlFault, seed: int) -> None:
        self.task, self.fault, self.seed = task, fault, seed
        self.onset = onset_of(task, fault)
        self.way = task.way_of_logging(seed)
        self.altered: list[AlteredEnvironment] = []
        self.row_steps: list[int] = []

    def environment(self) -> gymnasium.Env[Any, Any]:
        """One of the task's environments with the fault in it."""
        onset = self.onset // self.task.environments
        kind = self.fault.environment
        altered = AlteredEnvironment(gymnasium.make(self.task.environment), kind, onset)
        self.altered.append(altered)
        watched: gymnasium.Env[Any, Any] = altered
        if self.task.producer == "sb3":
            monitor = str(LOGS / "monitor.csv") if self.way == "monitor" else None
            watched = Monitor(altered, monitor)
        return FlippedReward(watched, onset) if kind == "flip_reward" else watched

    def environments(self) -> VecEnv:
        """All of them, for Stable-Baselines3."""
        makers: list[Callable[[], Any]] = [self.environment] * self.task.environments
        envs = DummyVecEnv(makers)
        gamma = self.task.options.get("gamma", 0.99)
        return VecNormalize(envs, gamma=gamma) if self.task.normalize else envs

    def sb3(self) -> None:
        """Train with Stable-Baselines3 or sb3-contrib."""
        options = hyperparameters(self.task, self.fault)
        for name in self.task.linear:
            options[name] = LinearSchedule(options[name], 0.0, 1.0)
        envs = self.environments()
        if "action_noise" in options:
            size = np.full(envs.action_space.shape, options["action_noise"])
            options["action_noise"] = NormalActionNoise(np.zeros_like(size), size)
        name = self.task.algorithm
        package = stable_baselines3 if hasattr(stable_baselines3, name) else sb3_contrib
        policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
        model = getattr(package, name)(policy, envs, seed=self.seed, device="cpu", **options)
        logger = configure(str(LOGS), [] if self.way == "monitor" else [self.way])
        logger.output_formats.append(RowSteps(self.row_steps))
        model.set_logger(logger)
        change = ModelChange(self.fault.model, self.onset)
        steps = int(self.task.timesteps * self.fault.length_factor)
        model.learn(steps, callback=change, log_interval=self.task.log_interval)

    def own(self) -> None:
        """Train with the script `corpus.own`."""
        torch.manual_seed(self.seed)
        envs = [self.environment() for _ in range(self.task.environments)]
        options = hyperparameters(self.task, self.fault)
        with contextlib.closing(
            LogWriter(self.way, LOGS, self.task.timesteps, self.row_steps)
        ) as log:
            script = ALGORITHMS[self.task.algorithm](envs, options, self.seed, log)
            script.train(self.task.timesteps, self.fault.model, self.onset)

    def facts(self) -> dict[str, Any]:
        """What is known of the run afterwards: true returns, and rows since the fault began."""
        first, last = first_and_last_returns([env.true_returns for env in self.altered])
        onset = self.onset // self.task.environments
        return {
            "start_return": round(first, 3),
            "final_return": round(last, 3),
            "rows": len(self.row_steps),
            "onset_row": sum(step <= self.onset for step in self.row_steps),
            "episodes_since_onset": sum(end > onset for env in self.altered for end in env.ends),
        }


class RowSteps(KVWriter):
    """Notes the steps at which Stable-Baselines3 writes a row."""

    def __init__(self, steps: list[int]) -> None:
        self.steps = steps

    def write(self, key_values: Any, key_excluded: Any, step: int = 0) -> None:
        """Note one row."""
        self.steps.append(step)

    def close(self) -> None:
        """Nothing is open."""


def train_in_child(task: ControlTask, fault: ControlFault, seed: int, folder: Path) -> None:
    """Train in `folder`, with everything printed going to a file; afterwards facts.json."""
    os.chdir(folder)
    LOGS.mkdir()
    console = os.open("console.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(console, 1)
    os.dup2(console, 2)
    socket.gethostname = lambda: "trainer"  # event files are named after the host
    torch.set_num_threads(1)
    training = Training(task, fault, seed)
    try:
        getattr(training, task.producer)()
    finally:
        Path("facts.json").write_text(json.dumps(training.facts()), encoding="utf-8")


def first_and_last_returns(returns: list[list[float]]) -> tuple[float, float]:
    """Mean true return of the first and of the last episodes over all environments.

    The last are 50, but no more than a fifth of a short run's; the first a fifth as many.
    """
    episodes = sum(len(each) for each in returns)
    share = max(2, min(LAST_EPISODES, episodes // 5) // len(returns))
    first = [score for env in returns for score in env[: max(1, share // 5)]]
    last = [score for env in returns for score in env[-share:]]
    return (float(np.mean(first)), float(np.mean(last))) if last else (math.nan,) * 2


def train(run: PlannedRun, runs: Path, task: ControlTask | None = None) -> dict[str, Any]:
    """Train one run in a process of its own; keep its log, its facts and its last words."""
    name, key, seed = run
    task, fault = task or CONTROL_TASKS[name], CONTROL_FAULTS[key]
    started = time.monotonic()
    folder = runs / run_id(run)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        process = multiprocessing.get_context("fork").Process(
            target=train_in_child, args=(task, fault, seed, work)
        )
        process.start()
        process.join()
        died = bool(process.exitcode)
        shutil.copytree(work / LOGS, folder, dirs_exist_ok=True)
        facts = json.loads((work / "facts.json").read_text())
        console = (work / "console.txt").read_text()
    if task.producer == "sb3" and task.way_of_logging(seed) == "stdout":
        (folder / "console.txt").write_text(without_paths(console), encoding="utf-8")
    elif died:
        tail = without_paths(console[-CONSOLE_TAIL_CHARS:])
        (folder / "console.txt").write_text(tail, encoding="utf-8")
    meta = describe(run, task, fault) | {
        "died": died,
        **facts,
        "seconds": round(time.monotonic() - started, 1),
        "versions": versions(),
    }
    write_meta(folder / "meta.json", meta)
    return meta


def describe(run: PlannedRun, task: ControlTask, fault: ControlFault) -> dict[str, Any]:
    """Return what is known of a run before it starts."""
    name, key, seed = run
    return {
        "id": run_id(run),
        "producer": task.producer,
        "environment": task.environment,
        "split": task.split,
        "config": name,
        "algorithm": task.algorithm,
        "log": task.way_of_logging(seed),
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
    }


def without_paths(text: str) -> str:
    """A console's text without the directories of the machine that trained."""
    root = str(Path(__file__).resolve().parents[1])
    for path, short in ((sys.prefix, ".venv"), (sys.base_prefix, "/usr"), (root, ".")):
        text = text.replace(path, short)
    return text


def versions() -> dict[str, str]:
    """The versions that matter for repeating a run."""
    packages = ("stable-baselines3", "torch", "gymnasium", "numpy")
    return {"python": platform.python_version()} | {each: version(each) for each in packages}


def run_id(run: PlannedRun) -> str:
    """The name of a run's folder."""
    name, key, seed = run
    return f"{name}-{'healthy' if key == 'none' else key}-s{seed}"


def train_missing(runs: Iterable[PlannedRun], folder: Path, until: str | None = None) -> None:
    """Train the runs that are not in the folder, until a time of day (UTC)."""
    for run in runs:
        if until and time.strftime("%H:%M", time.gmtime()) >= until:
            break
        path = folder / run_id(run) / "meta.json"
        if path.exists():
            continue
        train(run, folder)
        label(folder)
        meta = json.loads(path.read_text())
        print(
            f"{meta['id']}: {meta['start_return']} -> {meta['final_return']},"
            f" harmful {meta.get('harmful')}, {meta['rows']} rows, {meta['seconds']} s",
            flush=True,
        )


def main() -> None:
    """Train the missing runs, or those named, until the given time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--until", metavar="HH:MM", help="start no run after this time (UTC)")
    parser.add_argument("--runs", type=Path, default=CORPUS_RUNS)
    asked = parser.parse_intermixed_args()
    planned = planned_runs()
    if asked.ids:
        planned = (run for run in planned if run_id(run) in asked.ids)
    train_missing(planned, asked.runs, asked.until)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
    sys.exit(0)
