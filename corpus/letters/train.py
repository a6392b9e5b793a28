"""Train the runs of `corpus.letters.tasks`: `python -m corpus.letters.train [ID ...]`.

It needs TRL 1.16; with `--ppo` it trains those of PPO, and needs TRL 1.12. Runs that are there
already are skipped. Those of a last part are trained by `python -m corpus.last_part --letters`.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from corpus.labels import label
from corpus.letters.model import train_reference
from corpus.letters.tasks import (
    LETTER_FAULTS,
    LETTER_TASKS,
    LETTER_WAYS,
    PlannedLetterRun,
    every_letter_fault,
    letter_hyperparameters,
    letter_onset,
    letter_setup,
    planned_letter_runs,
    planned_ppo_runs,
)
from corpus.letters.trainers import LOGS, policy_of, prepare_trainer, true_score
from corpus.llm import versions
from corpus.table import CORPUS_RUNS

MACHINE_FOLDER = re.compile(r"/[^\s\"']*/(site-packages|corpus|lib/python3[.\d]*)/")


def letter_run_id(run: PlannedLetterRun) -> str:
    """The name of a run's folder."""
    name, fault, seed = run
    return f"{name}-{'healthy' if fault == 'none' else fault}-s{seed}"


def letter_way(run: PlannedLetterRun) -> str:
    """How a run is logged."""
    name, fault, seed = run
    return LETTER_WAYS[(seed + len(name) + len(fault)) % len(LETTER_WAYS)]


def train_run(run: PlannedLetterRun, references: Path, runs: Path) -> None:
    """Train in the working directory with all output in files; keep the log in `runs`."""
    shown = os.fdopen(os.dup(1), "w")
    LOGS.mkdir()
    started, died = time.monotonic(), False
    setup = letter_setup(run[0])
    trainer = prepare_trainer(run, letter_way(run), references / setup.task)
    start = true_score(setup, policy_of(trainer.model), trainer.processing_class)
    for name, target in (("stdout.txt", 1), ("stderr.txt", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), target)
    try:
        trainer.train()
    except Exception as crash:  # noqa: BLE001 (a run that dies is a run, too)
        died = True
        sys.excepthook(type(crash), crash, crash.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    final = true_score(setup, policy_of(trainer.model), trainer.processing_class)
    folder = runs / letter_run_id(run)
    folder.mkdir(parents=True, exist_ok=True)
    keep_log(letter_way(run), died, folder)
    meta = describe_letter_run(run) | {
        "died": died,
        "start_return": round(start, 4),
        "final_return": round(final, 4),
        "seconds": round(time.monotonic() - started, 1),
        "versions": versions(),
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    seconds = f"{meta['seconds']} s, of a core {time.process_time():.1f} s"
    print(f"{meta['id']}: {start:.3f} -> {final:.3f}, {seconds}", file=shown, flush=True)


def keep_log(way: str, died: bool, folder: Path) -> None:
    """Copy the log, and what a crashed run wrote last, without this machine's directories."""
    patterns = {"trainer_state": "checkpoint-*/trainer_state.json", "jsonl": "log.jsonl"}
    if way in patterns:
        for path in sorted(LOGS.glob(patterns[way])):
            shutil.copy(path, folder)
    console = Path("stdout.txt").read_text("utf-8") if way == "console" or died else ""
    if died:
        console += Path("stderr.txt").read_text("utf-8").replace("\r", "\n")
    if console:
        console = MACHINE_FOLDER.sub(r"/opt/\1/", console)
        (folder / "console.txt").write_text(console, encoding="utf-8")


def describe_letter_run(run: PlannedLetterRun) -> dict[str, Any]:
    """What is known of a run before it starts."""
    name, key, seed = run
    setup, fault = letter_setup(name), LETTER_FAULTS[key]
    onset = letter_onset(setup, fault)
    return {
        "id": letter_run_id(run),
        "producer": f"trl-{setup.trainer}",
        "environment": setup.task,
        "split": LETTER_TASKS[setup.task].split,
        "config": name,
        "hyperparameters": letter_hyperparameters(setup, fault),
        "timesteps": setup.updates,
        "rollout": 1,
        "log_interval": setup.logging_steps,
        "log": letter_way(run),
        "seed": seed,
        "fault": key,
        "onset_step": onset,
        "onset_update": onset,
        "rows": math.ceil(setup.updates / setup.logging_steps),
        "onset_row": onset // setup.logging_steps,
    }


class Children:
    """Runs functions in forked processes, at most so many at a time, each in a folder of its own.

    Forked, because importing the trainers takes longer than a run.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.running: dict[Any, BaseProcess] = {}
        gc.freeze()  # else each child walks through all modules whenever a trainer collects

    def start(self, function: Callable[..., None], *arguments: Any) -> None:
        """Start one as soon as there is room."""
        self.wait_for_fewer_than(self.most)
        context = multiprocessing.get_context("fork")
        child = context.Process(target=_in_scratch, args=(function, *arguments))
        child.start()
        self.running[child.sentinel] = child

    def wait_for_fewer_than(self, count: int) -> None:
        """Wait until fewer than so many are running."""
        while len(self.running) >= count:
            for ended in wait(list(self.running)):
                self.running.pop(ended).join()


def _in_scratch(function: Callable[..., None], *arguments: Any) -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        function(*arguments)


def train_missing_letters(
    runs: Sequence[PlannedLetterRun],
    folder: Path,
    until: str | None,
    references: Path | None = None,
    processes: int = 1,
) -> None:
    """Train the runs that are not in the folder yet, and label all that are there.

    References that are not in their folder are trained first; without a folder they are not kept.
    """
    left = [run for run in runs if not (folder / letter_run_id(run) / "meta.json").exists()]
    children = Children(processes)
    with tempfile.TemporaryDirectory() as scratch:
        known = references or Path(scratch)
        for task in sorted({letter_setup(run[0]).task for run in left}):
            if not (known / task).exists():
                children.start(train_reference, task, known / task)
        children.wait_for_fewer_than(1)
        for run in left:
            if until and time.strftime("%H:%M", time.gmtime()) >= until:
                break
            children.start(train_run, run, known, folder)
        children.wait_for_fewer_than(1)
    label(folder)


def main() -> None:
    """Train every missing run of *tune* and *check*, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--ppo", action="store_true", help="PPO in place of GRPO, RLOO and DPO")
    parser.add_argument("--until", metavar="HH:MM", help="start no run after this time (UTC)")
    parser.add_argument("--runs", type=Path, default=CORPUS_RUNS, help="where they are kept")
    parser.add_argument("--references", type=Path, help="where references are kept; else nowhere")
    parser.add_argument("--processes", type=int, default=2, help="so many runs at a time")
    asked = parser.parse_intermixed_args()
    others = [*planned_letter_runs(), *every_letter_fault()]
    planned = planned_ppo_runs() if asked.ppo else others
    runs = [run for run in planned if not asked.ids or letter_run_id(run) in asked.ids]
    folder, references = asked.runs.resolve(), asked.references and asked.references.resolve()
    train_missing_letters(runs, folder, asked.until, references, asked.processes)


if __name__ == "__main__":
    main()
