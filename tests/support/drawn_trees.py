"""Draws directories of trainings as trainers lay them out, and knows which file is whose."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.support.event_files import event_record, scalar_record

START_TIME = 1_795_000_000.0
METRICS = ("rollout/ep_rew_mean", "train/value_loss", "train/approx_kl", "train/entropy_loss")
CONSOLE_NAMES = ("Mean Reward", "Value Loss", "KL", "Entropy")

TrainingRow = tuple[int, float, dict[str, float]]
"""step, time, values"""


@dataclass
class DrawnTraining:
    """One training: its rows, and the process that writes them."""

    name: str
    rows: list[TrainingRow]
    process: int

    @property
    def start(self) -> float:
        return self.rows[0][1]


@dataclass
class DrawnTree:
    """A directory of trainings. `owner`: path -> the training (or copy) that a log belongs to.

    `silent`: consoles without any value, which are no run by themselves.
    """

    root: Path
    owner: dict[Path, str] = field(default_factory=dict)
    silent: set[Path] = field(default_factory=set)
    copies: dict[str, str] = field(default_factory=dict)

    def partition(self) -> set[frozenset[Path]]:
        """The logs of each training."""
        found: dict[str, set[Path]] = {}
        for path, name in self.owner.items():
            found.setdefault(name, set()).add(path)
        return {frozenset(paths) for paths in found.values()}


def draw_training(draw: random.Random, name: str, shared_start: bool) -> DrawnTraining:
    """Rows of a training; with `shared_start` the task gives the same reward to all at first."""
    time = START_TIME + draw.choice((0, 0, 40, 86_400 * draw.randrange(1, 9)))
    reward, rows = -200.0 if shared_start else draw.gauss(20, 5), list[TrainingRow]()
    waits = draw.randrange(1, 5) if shared_start else 0
    for number in range(draw.randrange(7, 15)):
        reward += 0.0 if number < waits else draw.gauss(4, 3)
        values = (
            reward,
            draw.lognormvariate(2, 1),
            draw.uniform(0.001, 0.02),
            -1.3863 + 0.01 * number + (draw.gauss(0, 0.003) if number else 0.0),
        )
        rows.append(
            (2048 * (number + 1), time + 3.7 * number, dict(zip(METRICS, values, strict=True)))
        )
    return DrawnTraining(name, rows, draw.randrange(1000, 60_000))


class TreeWriter:
    """Writes the logs of trainings below a directory and notes whose they are."""

    def __init__(self, draw: random.Random, root: Path) -> None:
        self.draw, self.tree = draw, DrawnTree(root)

    def _open(self, path: str, owner: str) -> Path:
        target = self.tree.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self.tree.owner[target] = owner
        return target

    def events(self, folder: str, run: DrawnTraining, tags: dict[str, str] | None = None) -> None:
        """An event file with these tags (metric -> tag; None: all metrics as they are called)."""
        names = {metric: metric for metric in METRICS} if tags is None else tags
        name = f"events.out.tfevents.{int(run.start)}.node.{run.process}.{len(self.tree.owner)}"
        with self._open(f"{folder}/{name}", run.name).open("wb") as file:
            file.write(event_record(file_version="brain.Event:2", time=run.start - 5))
            for step, time, values in run.rows:
                for metric, tag in names.items():
                    file.write(scalar_record(tag, step, values[metric], time))

    def table(self, path: str, run: DrawnTraining, delimiter: str = ",") -> None:
        """A table of all metrics and a clock."""
        with self._open(path, run.name).open("w", newline="") as file:
            table = csv.writer(file, delimiter=delimiter)
            table.writerow(["time/total_timesteps", "time/fps", *METRICS])
            for step, time, values in run.rows:
                table.writerow([step, int(300 + time % 97), *values.values()])

    def json_lines(self, path: str, run: DrawnTraining) -> None:
        """One object a row."""
        lines = [
            json.dumps({"timesteps_total": step, "timestamp": int(time), **values})
            for step, time, values in run.rows
        ]
        self._open(path, run.name).write_text("\n".join(lines) + "\n")

    def monitor(self, path: str, run: DrawnTraining) -> None:
        """Stable-Baselines3's Monitor: one line an episode, with values of its own."""
        head = json.dumps({"t_start": run.start - 1, "env_id": "CartPole-v1"})
        lines = [f"{self.draw.gauss(20, 5):.1f},20,{5 + 2 * n}" for n in range(9)]
        self._open(path, run.name).write_text(f"#{head}\nr,l,t\n" + "\n".join(lines) + "\n")

    def console(
        self, path: str, run: DrawnTraining, printed: str = "", silent: bool = False
    ) -> None:
        """What the script prints: names of its own, few digits, counted in iterations."""
        lines = [f"Logging to {printed}"] if printed else ["Using cpu device"]
        for number, (_, _, values) in enumerate(run.rows if not silent else [], 1):
            pairs = zip(CONSOLE_NAMES, values.values(), strict=True)
            texts = " | ".join(f"{name}: {value:.5g}" for name, value in pairs)
            lines.append(f"Iteration {number}/{len(run.rows)} | {texts}")
        target = self._open(path, run.name)
        target.write_text("\n".join(lines) + "\n")
        if silent:
            self.tree.silent.add(target)

    def dictionaries(self, path: str, run: DrawnTraining) -> None:
        """What the Trainer of transformers prints: one dictionary a row, four digits."""
        lines = [
            str({tag.partition("/")[2]: round(v, 4) for tag, v in values.items()})
            for _, _, values in run.rows
        ]
        self._open(path, run.name).write_text("\n".join(lines) + "\n")

    def trainer_state(self, path: str, run: DrawnTraining, rows: int) -> None:
        """The state that the Trainer saves with a checkpoint."""
        log = [
            {"step": step, **{tag.partition("/")[2]: v for tag, v in values.items()}}
            for step, _, values in run.rows[:rows]
        ]
        state = {"global_step": run.rows[rows - 1][0], "log_history": log}
        self._open(path, run.name).write_text(json.dumps(state))

    def evaluations(self, path: str, run: DrawnTraining) -> None:
        """evaluations.npz, with the rewards that the event file has too."""
        results = np.array([[values[METRICS[0]]] * 2 for _, _, values in run.rows])
        steps = np.array([step for step, _, _ in run.rows])
        np.savez(self._open(path, run.name), timesteps=steps, results=results)

    def settings(self, path: str) -> None:
        """Settings, which belong to whichever run they are with."""
        target = self.tree.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("learning_rate: 0.0003\n")

    def copy(self, folder: str, target: str) -> None:
        """A copy of a run's directory."""
        source, copied = self.tree.root / folder, self.tree.root / target
        shutil.copytree(source, copied)
        for path, owner in list(self.tree.owner.items()):
            if path.is_relative_to(source):
                self.tree.owner[copied / path.relative_to(source)] = f"copy of {owner}"
                if path in self.tree.silent:
                    self.tree.silent.add(copied / path.relative_to(source))
                self.tree.copies[f"copy of {owner}"] = owner


Layout = Callable[[TreeWriter, list[DrawnTraining]], str]
"""Writes trainings and returns the folder of the first one; empty if it has none of its own."""


def _sb3(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    place = write.draw.choice(("inside", "above", "logs", "none", "silent"))
    for number, run in enumerate(runs, 1):
        folder = f"PPO_{number}"
        write.events(folder, run)
        write.table(f"{folder}/progress.csv", run)
        write.monitor(f"{folder}/0.monitor.csv", run)
        if place == "silent":
            write.console(f"job{number}.log", run, f"./{folder}", silent=True)
        elif place != "none":
            path = {"inside": f"{folder}/out.log", "above": f"job{number}.log"}
            write.console(path.get(place, f"logs/{folder}.log"), run)
    return "PPO_1"


def _trl(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        folder = f"grpo_{number}"
        tags = {metric: f"train/{metric.partition('/')[2]}" for metric in METRICS}
        write.events(f"{folder}/runs/Nov21_00-4{number}-41_node", run, tags)
        write.trainer_state(f"{folder}/checkpoint-5/trainer_state.json", run, 5)
        write.trainer_state(f"{folder}/checkpoint-9/trainer_state.json", run, len(run.rows))
        write.dictionaries(f"{folder}.log" if number % 2 else f"train_{number}.log", run)
    return ""


def _cleanrl(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        name = f"CartPole-v1__ppo__{number}__{int(run.start)}"
        write.events(f"runs/{name}", run)
        files = f"wandb/offline-run-20261121_00404{number}-ab12cd3{number}/files"
        write.console(f"{files}/output.log", run, f"runs/{name}" if number % 2 else "")
        write.settings(f"{files}/config.yaml")
    return ""


def _mappo(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs, 1):
        folder = f"results/mpe/simple_spread/mappo/check/run{number}/logs"
        write.events(folder, run, {METRICS[0]: "train_episode_rewards"})
        for metric in METRICS[1:]:
            tag = f"agent0/{metric.partition('/')[2]}"
            deep = f"{tag}/{tag}" if number % 2 else f"{tag.replace('/', '_')}_{tag}"
            write.events(f"{folder}/{deep}", run, {metric: tag})
    return "results/mpe/simple_spread/mappo/check/run1"


def _rllib(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        folder = f"PPO/PPO_CartPole_{number:05}"
        write.events(folder, run, {metric: f"ray/tune/{metric}" for metric in METRICS})
        write.table(f"{folder}/progress.csv", run)
        write.json_lines(f"{folder}/result.json", run)
    return "PPO/PPO_CartPole_00000"


def _hydra(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        folder = f"multirun/2026-11-21/00-40-41/{number}"
        write.console(f"{folder}/train.log", run)
        write.settings(f"{folder}/.hydra/config.yaml")
        write.events(f"{folder}/tb", run)
    return "multirun/2026-11-21/00-40-41/0"


def _spinning_up(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        folder = f"exp/exp_s{number * 10}"
        write.table(f"{folder}/progress.txt", run, "\t")
        write.settings(f"{folder}/config.yaml")
    return "exp/exp_s0"


def _zoo(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs, 1):
        write.monitor(f"logs/ppo/CartPole-v1_{number}/0.monitor.csv", run)
        write.evaluations(f"logs/ppo/CartPole-v1_{number}/evaluations.npz", run)
        write.settings(f"logs/ppo/CartPole-v1_{number}/CartPole-v1/config.yml")
        tags = {METRICS[0]: "eval/mean_reward", METRICS[1]: METRICS[1]}
        write.events(f"tb/CartPole-v1/PPO_{number}", run, tags)
    return "logs/ppo/CartPole-v1_1"


def _lightning(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    tables = write.draw.choice(("lightning_logs", "csv_logs"))
    for number, run in enumerate(runs):
        write.events(f"lightning_logs/version_{number}", run)
        write.settings(f"lightning_logs/version_{number}/hparams.yaml")
        write.table(f"{tables}/version_{number}/metrics.csv", run)
    return "lightning_logs/version_0"


def _flat(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        write.console(f"seed{number}.log", run)
    return ""


def _evaluated(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        write.events(f"exp{number}", run)
        write.console(f"exp{number}/train.log", run)
        other = draw_training(write.draw, f"evaluation of {run.name}", shared_start=False)
        write.console(f"exp{number}/eval.log", other)
    return ""


def _by_kind(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        name = f"ppo_s{number}"
        write.events(f"tb/{name}", run)
        write.table(f"tables/{name}.csv", run)
        write.monitor(f"monitors/{name}.monitor.csv", run)
        write.console(f"consoles/{name}.log", run, silent=number % 2 == 1)
    return ""


def _side_by_side(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs):
        write.console(f"s{number}.log", run)
        write.table(f"s{number}.csv", run)
        write.json_lines(f"s{number}.jsonl", run)
    return ""


def _cluster_job(write: TreeWriter, runs: list[DrawnTraining]) -> str:
    for number, run in enumerate(runs, 41):
        write.events(f"checkpoints/job{number}", run)
        write.console(f"slurm-{number}.out", run)
        write.console(f"slurm-{number}.err", run, silent=True)
    return "checkpoints/job41"


LAYOUTS: tuple[Layout, ...] = (
    _sb3,
    _trl,
    _cleanrl,
    _mappo,
    _rllib,
    _hydra,
    _spinning_up,
    _zoo,
    _lightning,
    _flat,
    _evaluated,
    _by_kind,
    _side_by_side,
    _cluster_job,
)


def draw_tree(seed: int, root: Path) -> DrawnTree:
    """One to six trainings in one layout, perhaps with a copy of the first one's directory."""
    draw = random.Random(seed)
    shared_start = draw.random() < 0.3
    count = draw.randrange(1, 7)
    runs = [draw_training(draw, f"{root.name}/{n}", shared_start) for n in range(count)]
    write = TreeWriter(draw, root)
    first = draw.choice(LAYOUTS)(write, runs)
    if first and draw.random() < 0.3:
        parent, _, name = f"./{first}".rpartition("/")
        write.copy(first, draw.choice((f"{parent}/{name}_copy", f"backup/{name}")))
    if draw.random() < 0.3:
        others = [draw_training(draw, f"{root.name}/other/{n}", shared_start) for n in range(2)]
        beside = TreeWriter(draw, root / "other")
        draw.choice(LAYOUTS)(beside, others)
        write.tree.owner.update(beside.tree.owner)
        write.tree.silent |= beside.tree.silent
    return write.tree


def draw_trees(seeds: range, root: Path) -> Iterator[DrawnTree]:
    """A tree for each seed, in folders of one directory."""
    for seed in seeds:
        yield draw_tree(seed, root / f"project{seed}")
