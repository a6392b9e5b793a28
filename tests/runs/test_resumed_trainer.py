"""A training that transformers' Trainer resumed: `resume_from_checkpoint=True`, default folders.

Each start writes an event file into `out/runs/DATE_HOST` and prints to a console of its own; the
state in the checkpoints goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from ppo_top.runs.run import Run
from tests.support.drawn_runs import jitter
from tests.support.event_files import EVENT_TIME, scalar_record, text_record
from tests.support.screens import read_session

FOLDERS = ("Nov28_13-20-45_node7", "Nov28_13-21-28_node7", "Nov28_14-02-11_node8")


def values(step: int) -> dict[str, float]:
    """What GRPO logs."""
    return {
        "loss": 0.1 + jitter(step, 0.05),
        "reward": 0.02 * step + jitter(step, 0.1),
        "reward_std": 0.3 + jitter(step + 7, 0.05),
        "kl": 0.001 * step,
        "completions/clipped_ratio": 0.0,
    }


def write_start(out: Path, number: int, steps: Sequence[int], console: Path, total: int) -> None:
    """One start of the training: its event file and its console."""
    log = (
        out
        / "runs"
        / FOLDERS[number]
        / f"events.out.tfevents.{1_700_000_000 + number}.h.{number}.0"
    )
    log.parent.mkdir(parents=True)
    records = text_record("args/text_summary", json.dumps({"max_steps": total}))
    lines = []
    for step in steps:
        for tag, value in values(step).items():
            records += scalar_record(f"train/{tag}", step, value, EVENT_TIME + 900 * number + step)
        printed = {tag: f"{value:.4g}" for tag, value in values(step).items()}
        lines.append(
            f"\r{step:3d}%|#    | {step}/{total} [00:01<00:09,  3.0it/s]\r{' ' * 30}\r{printed}\n"
        )
    log.write_bytes(records)
    console.write_text("".join(lines))


def write_state(out: Path, step: int) -> None:
    """The state that a checkpoint holds."""
    history = [{**values(each), "step": each} for each in range(1, step + 1)]
    state = {"global_step": step, "max_steps": 60, "log_history": history}
    (out / f"checkpoint-{step}").mkdir(parents=True, exist_ok=True)
    (out / f"checkpoint-{step}" / "trainer_state.json").write_text(json.dumps(state))


def read(folder: Path) -> list[Run]:
    """The runs of a folder."""
    return list(read_session([folder]).runs.values())


@pytest.mark.parametrize("second", [range(31, 61), range(21, 61)])
@pytest.mark.parametrize("has_state", [True, False])
def test_it_is_one_run_of_all_its_steps(tmp_path: Path, second: range, has_state: bool) -> None:
    """Also where it broke off after the checkpoint: those steps were taken twice."""
    out = tmp_path / "out"
    write_start(out, 0, range(1, 31), tmp_path / "first.log", 60)
    write_start(out, 1, second, tmp_path / "second.log", 60)
    if has_state:
        write_state(out, 60)
    (run,) = read(tmp_path)
    assert len(run.sources) == 4 + has_state
    assert (run.total_steps, run.evaluation.timeline.steps[-1]) == (60, 60)
    assert len(run.evaluation.timeline) == 30 + len(second)


def test_it_may_be_resumed_to_train_longer(tmp_path: Path) -> None:
    """The newest start knows how long it will be."""
    out = tmp_path / "out"
    write_start(out, 0, range(1, 31), tmp_path / "first.log", 30)
    write_start(out, 1, range(31, 61), tmp_path / "second.log", 60)
    (run,) = read(out)
    assert run.total_steps == 60


def test_another_training_into_the_same_folder_is_another_run(tmp_path: Path) -> None:
    """It begins at its first step; what resumes goes on with the one before it."""
    out = tmp_path / "out"
    write_start(out, 0, range(1, 41), tmp_path / "first.log", 60)
    write_start(out, 1, range(1, 31), tmp_path / "second.log", 60)
    write_start(out, 2, range(31, 61), tmp_path / "third.log", 60)
    assert sorted(len(run.evaluation.timeline) for run in read(out)) == [40, 60]


@pytest.mark.parametrize("second", [(34, 45), (31, 45)])
def test_what_is_logged_now_and_then_belongs_to_its_start(
    tmp_path: Path, second: tuple[int, int]
) -> None:
    """Its step need not go back where the training was resumed, and it stands before what does.

    TRL's length of completions that ended is 0, which is none, where all of them were cut off.
    """
    starts = ((range(1, 34), (5, 31)), (range(31, 61), second))
    for number, (steps, some) in enumerate(starts):
        records = b""
        for step in steps:
            time = EVENT_TIME + 900 * number + step
            length = 12.0 if step in some else 0.0
            tag = "train/completions/mean_terminated_length"
            records += scalar_record(tag, step, length, time - 0.1)
            for tag, value in values(step).items():
                records += scalar_record(f"train/{tag}", step, value, time)
        name = f"events.out.tfevents.{1_700_000_000 + number}.h.{number}.0"
        folder = tmp_path / "runs" / FOLDERS[number]
        folder.mkdir(parents=True)
        (folder / name).write_bytes(records)
    (run,) = read(tmp_path)
    assert list(run.evaluation.timeline.steps[0:]) == [*range(1, 34), *range(31, 61)]
