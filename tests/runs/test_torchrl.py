"""TorchRL's Trainer and the bar of its tutorials, from what they write to the verdict.

Made up after the sources: `trainers/algorithms/on_policy.py` (LogScalar) with
`record/loggers/csv.py`, and the loop of the tutorial `coding_ppo.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ppo_top

UPDATES = 50
BATCH = 1024

StepReward = Callable[[int], float]
"""The mean reward of the steps of an update."""


def learning(update: int) -> float:
    """A swing-up: each step costs less and less."""
    return -8.0 + 6.0 * (1 - math.exp(-update / 15)) + 0.2 * math.sin(7.0 * update)


def write_trainer(folder: Path, reward: StepReward) -> Path:
    """One file a tag, with the frames so far and the value."""
    columns: dict[str, StepReward] = {
        "r_training": reward,
        "done_percentage": lambda i: 0.005,
        "loss_objective": lambda i: -0.01 - 0.001 * math.sin(i),
        "loss_critic": lambda i: 2.0 + math.exp(-i / 10) + 0.1 * math.sin(3.0 * i),
        "loss_entropy": lambda i: -0.01 * (1.4 - 0.01 * i),
        "entropy": lambda i: 1.4 - 0.01 * i,
        "kl_approx": lambda i: 0.01 + 0.002 * math.sin(i),
        "clip_fraction": lambda i: 0.08,
        "explained_variance": lambda i: 0.8,
        "grad_norm_0": lambda i: 0.4,
    }
    scalars = folder / "ppo/scalars"
    scalars.mkdir(parents=True)
    for tag, course in columns.items():
        lines = [f"{BATCH * i},{float(course(i))}\n" for i in range(1, UPDATES + 1)]
        (scalars / f"{tag}.csv").write_text("".join(lines))
    return folder


def print_tutorial(update: int, reward: StepReward, longest: StepReward) -> str:
    """The bar after `pbar.update` and after `set_description`; every tenth update evaluates."""
    begun, evaluated = UPDATES * 1000, 10 * (update // 10)
    name = (
        f"eval cumulative reward: {longest(evaluated) - 0.5: 4.4f} "
        f"(init: {longest(0) - 0.5: 4.4f}), eval step-count: {longest(evaluated):.0f}, "
        f"average reward={reward(update): 4.4f} (init={reward(0): 4.4f}), "
        f"step count (max): {longest(update):.0f}, lr policy: {3e-4: 4.4f}"
    )
    done = 1000 * (update + 1)
    bar = f"{100 * done // begun:3}%|#         | {done}/{begun} [00:{update:02}<00:30, 305.60it/s]"
    return f"\r{name}: {bar}"


def write_tutorial(folder: Path, reward: StepReward) -> Path:
    """The console of a run, whose longest episode grows."""
    bars = (print_tutorial(i, reward, lambda i: 12.0 + 4 * i) for i in range(UPDATES))
    (folder / "train.log").write_text("".join(bars) + "\n")
    return folder


def checked(folder: Path) -> dict[str, Any]:
    """The report on the only run below a folder."""
    runs: list[dict[str, Any]] = ppo_top.check(folder)["runs"]
    [run] = runs
    return run


def values(folder: Path, metric: str) -> list[tuple[int, float]]:
    """Steps and values of a metric, as they are judged."""
    found = ppo_top.points(folder, "best")
    return [(point.step, point.value) for point in found if point.concept == metric]


def test_the_trainers_files_are_one_run_of_ppo(tmp_path: Path) -> None:
    """What is evidence stands in two of them; the entropy is the one without its coefficient."""
    folder = write_trainer(tmp_path, learning)
    run = checked(folder)
    assert (run["producer"], run["family"]) == ("torchrl-trainer", "on-policy")
    assert run["findings"] == []
    assert values(folder, "entropy")[0] == (BATCH, 1.39)
    assert values(folder, "reward_mean")[-1] == (BATCH * UPDATES, learning(UPDATES))
    assert len(values(folder, "approx_kl_k1")) == len(values(folder, "explained_variance")) == 50


def test_the_bar_of_the_tutorial_is_read(tmp_path: Path) -> None:
    """Each evaluation counts once, though it is shown until the next one."""
    folder = write_tutorial(tmp_path, learning)
    run = checked(folder)
    assert (run["producer"], run["family"]) == ("torchrl-trainer", "on-policy")
    assert len(values(folder, "reward_mean")) == UPDATES
    assert values(folder, "eval_reward_mean") == [
        (1000, 11.5), (11_000, 51.5), (21_000, 91.5), (31_000, 131.5), (41_000, 171.5)
    ]  # fmt: skip
    assert values(folder, "eval_ep_len")[-1] == (41_000, 172.0)


@pytest.mark.parametrize("write", [write_trainer, write_tutorial])
@pytest.mark.parametrize("paid", [lambda i: 1.0, lambda i: 0.999 if i == 7 else 1.0])
def test_steps_that_all_pay_the_same_tell_nothing(
    tmp_path: Path, write: Callable[[Path, StepReward], Path], paid: StepReward
) -> None:
    """CartPole pays 1 for each: neither a success nor a reward that never moves."""
    run = checked(write(tmp_path, paid))
    rules = {finding["rule"] for finding in run["findings"]}
    assert rules.isdisjoint({"at-ceiling", "reward-never-moves"})


@pytest.mark.parametrize("write", [write_trainer, write_tutorial])
def test_steps_that_never_pay_are_a_finding(
    tmp_path: Path, write: Callable[[Path, StepReward], Path]
) -> None:
    """A mean of 0 is that of a reward which nobody has found."""
    run = checked(write(tmp_path, lambda i: 0.0))
    assert "reward-never-moves" in {finding["rule"] for finding in run["findings"]}
