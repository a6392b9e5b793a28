"""The *last* part of the corpus: trained after the rules are frozen, judged once.

    python -m corpus.last_part [--letters] [--until HH:MM] [--share K/N]

It needs the trainers' environment (with `--letters`, which is the language models' part, TRL's,
for PPO TRL 1.12), and a work tree without changes. Seeds and faults are drawn from the hash of the
commit that is checked out when it is first called; later calls go on with that commit only. When
every run is there, they are judged, and date, commit and figures are stored in `corpus/last/`:
after that it refuses. Each further last part has environments of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.diagnosis import all_figures
from benchmarks.labelled_runs import judge_runs
from corpus.last.judged_parts import JUDGED_PARTS, RefusedError, judge_once, refuse_if_judged
from corpus.letters.tasks import LAST_LETTER_SETUPS, letter_faults_of
from corpus.plan import PlannedRun, drawn_runs, faults_of
from corpus.unseen_tasks import LAST_TASKS

LAST_RUNS = Path(__file__).resolve().parent / "last_runs"
LAST_LETTER_RUNS = LAST_RUNS / "letters"
COMMIT_FILE = "commit.txt"


def drawn_control_runs(commit: str) -> list[PlannedRun]:
    """Ten healthy runs and up to sixteen faults of each control task."""
    return drawn_runs(commit, {task.name: faults_of(task) for task in LAST_TASKS}, 10, 16)


def drawn_letter_runs(commit: str) -> list[PlannedRun]:
    """Eight healthy runs and up to nine faults of each language-model configuration."""
    known = {setup.name: letter_faults_of(setup) for setup in LAST_LETTER_SETUPS}
    return drawn_runs(commit, known, 8, 9)


def frozen_commit(folder: Path, head: str, changed: str) -> str:
    """The commit that the runs in a folder belong to: `head`, on the first call.

    Raises `RefusedError` if the work tree has changes, or if the runs belong to another commit.
    """
    if changed:
        raise RefusedError(f"the work tree has changes; commit them first:\n{changed}")
    note = folder / COMMIT_FILE
    if not note.exists():
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(head + "\n", encoding="utf-8")
    frozen = note.read_text(encoding="utf-8").strip()
    if frozen != head:
        raise RefusedError(f"these runs were drawn from commit {frozen}; check that one out")
    return frozen


@dataclass(frozen=True)
class LastPart:
    """Where the runs of a part are kept, what they meet, and what trains them.

    `train` draws the runs from a commit, trains those that are missing of a share until a time, and
    returns the names of all.
    """

    folder: Path
    environments: frozenset[str]
    train: Callable[[str, str | None, tuple[int, int]], list[str]]


def train_control(commit: str, until: str | None, share: tuple[int, int]) -> list[str]:
    """Train what is missing of one task in n, from the k-th on."""
    from corpus.train import run_id, train_missing  # needs the trainers

    runs, (k, n) = drawn_control_runs(commit), share
    mine = {task.name for task in LAST_TASKS[k - 1 :: n]}
    train_missing((run for run in runs if run[0] in mine), LAST_RUNS, until)
    return [run_id(run) for run in runs]


def train_letters(commit: str, until: str | None, share: tuple[int, int]) -> list[str]:
    """Train what is missing of one language-model run in n, from the k-th on."""
    from corpus.letters.train import letter_run_id, train_missing_letters  # needs TRL

    runs, (k, n) = drawn_letter_runs(commit), share
    train_missing_letters(runs[k - 1 :: n], LAST_LETTER_RUNS, until)
    return [letter_run_id(run) for run in runs]


CONTROL_PART = LastPart(
    LAST_RUNS, frozenset(task.environment for task in LAST_TASKS), train_control
)
LETTER_PART = LastPart(
    LAST_LETTER_RUNS, frozenset(setup.task for setup in LAST_LETTER_SETUPS), train_letters
)


def train_and_judge(
    part: LastPart, until: str | None, share: tuple[int, int]
) -> dict[str, Any] | None:
    """Train what is missing of a share; judge when nothing is missing.

    None if the time was over before, or if other shares are not trained yet.
    """
    refuse_if_judged(JUDGED_PARTS, part.environments)
    changed = _git("status", "--porcelain", "--", ":/", f":(top,exclude)corpus/{LAST_RUNS.name}")
    commit = frozen_commit(part.folder, _git("rev-parse", "HEAD"), changed)
    names = part.train(commit, until, share)
    if not all((part.folder / name / "meta.json").exists() for name in names):
        return None
    return judge_once(
        JUDGED_PARTS,
        commit,
        part.environments,
        lambda: all_figures(list(judge_runs(part.folder, ["last"])), ["last"]),
    )


def _git(*words: str) -> str:
    command: Sequence[str] = ("git", "-C", str(Path(__file__).resolve().parent), *words)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _share(text: str) -> tuple[int, int]:
    k, n = map(int, text.split("/"))
    return k, n


def main() -> int:
    """Train the last part, and judge it when it is complete."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", metavar="HH:MM", help="start no run after this time (UTC)")
    parser.add_argument("--share", metavar="K/N", type=_share, default=(1, 1), help="one in N")
    parser.add_argument("--letters", action="store_true", help="language models, with TRL")
    asked = parser.parse_args()
    part = LETTER_PART if asked.letters else CONTROL_PART
    try:
        stored = train_and_judge(part, asked.until, asked.share)
    except RefusedError as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 2
    if stored is None:
        print("not all runs are trained yet: call it again")
    else:
        print(json.dumps(stored["figures"], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
