"""Which logs are one run: by their paths and first points; the decision is final."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.runs.grouping import RunGroups, locate_run, similarity

EVENT_FILE = "events.out.tfevents.1700000000.host.1.0"
SICK_FIRST_POINTS = {"rollout/ep_rew_mean": (2048, 21.3), "train/value_loss": (4096, 9.0)}
HEALTHY_FIRST_POINTS = {"rollout/ep_rew_mean": (2048, 24.0), "train/value_loss": (4096, 31.0)}


def runs_of(
    logs: Mapping[str, Mapping[str, tuple[int, float]]], root: str = "runs"
) -> list[set[str]]:
    """The keys of each run, in order of appearance; the logs are assigned in the given order."""
    groups = RunGroups()
    runs: dict[str, set[str]] = {}
    for key, first in logs.items():
        run = groups.assign_run(key, root, first, must_decide=True)
        assert run is not None
        runs.setdefault(run, set()).add(key)
    return list(runs.values())


@pytest.mark.parametrize(
    ("key", "home"),
    [
        (f"PPO_1/{EVENT_FILE}", "PPO_1"),
        ("ppo/progress.csv", "ppo"),
        ("grpo/checkpoint-40/trainer_state.json", "grpo"),
        ("logs/ppo/CartPole-v1_3/CartPole-v1/config.yml", "logs/ppo/CartPole-v1_3"),
        ("logs/ppo/CartPole-v1_3/Acrobot-v1/config.yml", "logs/ppo/CartPole-v1_3/Acrobot-v1"),
        (f"grpo/runs/Nov21_00-40-41_node7/{EVENT_FILE}", "grpo"),
        ("grpo/wandb/offline-run-20261121_004041-ab12cd34/files/output.log", "grpo"),
        ("exp/swanlog/run-20261121_004041-ab12cd34/logs/3/1000.log", "exp"),
        (f"cheetah/.summary/0/{EVENT_FILE}", "cheetah"),
        (f"ant/summaries/{EVENT_FILE}", "ant"),
        (f"keras/train/{EVENT_FILE}", "keras"),
        (f"keras/validation/{EVENT_FILE}", "keras"),
        ("trl/1700000000.12/hparams.yml", "trl"),
        (f"exp/1700000000.12/{EVENT_FILE}", "exp"),
        ("job/ab_x1/attempt_0/3/stdout.log", "job/ab_x1"),
        (EVENT_FILE, "."),
        ("0.monitor.csv", "."),
    ],
)
def test_home_of_a_log(key: str, home: str) -> None:
    """The directory of its run is read off a log's path."""
    assert locate_run(key, {}).directory == home


def test_folders_of_add_scalars_belong_to_their_run() -> None:
    """add_scalars makes a folder for each key, named after the tag."""
    assert locate_run(f"exp/policy_kl/{EVENT_FILE}", {"policy": (0, 1.0)}).directory == "exp"
    assert (
        locate_run(f"exp/policy_kl/{EVENT_FILE}", {"loss": (0, 1.0)}).directory == "exp/policy_kl"
    )


def test_files_of_one_logger_folder_are_one_run() -> None:
    """Whatever their values are."""
    logs = {
        f"ppo/{EVENT_FILE}": SICK_FIRST_POINTS,
        "ppo/progress.csv": HEALTHY_FIRST_POINTS,
        "ppo/0.monitor.csv": {"r": (1, 4.0)},
        "ppo/1.monitor.csv": {"r": (1, 9.0)},
        "ppo/evaluations.npz": {"eval/mean_reward": (1, 4.0)},
    }
    assert runs_of(logs) == [set(logs)]


def test_a_console_with_equal_values_belongs_to_the_run_next_to_it() -> None:
    """A console rounds to three digits and is still recognised."""
    console = {"rollout/ep_rew_mean": (1, 21.3), "train/value_loss": (1, 9.04), "time/fps": (1, 7)}
    assert len(runs_of({f"ppo/{EVENT_FILE}": SICK_FIRST_POINTS, "ppo/out.txt": console})) == 1


def test_a_console_with_other_metrics_belongs_to_the_run_next_to_it() -> None:
    """Logs in one directory without common tags are one run."""
    assert (
        len(runs_of({f"ppo/{EVENT_FILE}": SICK_FIRST_POINTS, "ppo/out.log": {"gpu_mem": (1, 4.0)}}))
        == 1
    )


def test_seeds_in_one_directory_are_runs_of_their_own() -> None:
    """The same tags with other first values are another run, although settings agree."""
    same = {"train/learning_rate": (1, 3e-4), "time/iterations": (1, 1.0)}
    logs = {
        "seed1.log": {**SICK_FIRST_POINTS, **same},
        "seed2.log": {**HEALTHY_FIRST_POINTS, **same},
    }
    assert len(runs_of(logs)) == 2


def test_files_of_one_metric_each_are_one_run() -> None:
    """TorchRL keeps one csv for each tag in one folder."""
    logs = {"exp/scalars/reward.csv": {"reward": (0, 1.0)}, "exp/scalars/kl.csv": {"kl": (0, 0.1)}}
    assert len(runs_of(logs)) == 1


def test_a_tracker_joins_only_a_run_with_equal_values() -> None:
    """Several W&B runs in one project folder stay apart; the one with equal numbers is the run."""
    one, two = (f"wandb/run-20261121_00404{n}-ab12cd34/run-ab12cd34.wandb" for n in (1, 2))
    logs = {EVENT_FILE: SICK_FIRST_POINTS, one: SICK_FIRST_POINTS, two: HEALTHY_FIRST_POINTS}
    assert runs_of(logs) == [{EVENT_FILE, one}, {two}]


def test_all_files_of_a_tracker_run_are_one_run() -> None:
    """The console copy of W&B and its transaction log belong together."""
    folder = "wandb/run-20261121_004041-ab12cd34"
    logs = {
        f"{folder}/run-ab12cd34.wandb": SICK_FIRST_POINTS,
        f"{folder}/files/output.log": HEALTHY_FIRST_POINTS,
    }
    assert len(runs_of(logs)) == 1


def test_ranks_of_one_launch_are_one_run() -> None:
    """torchrun's log of each rank shows its own loss, and all are the same training."""
    logs = {f"job_x/attempt_0/{rank}/stdout.log": {"loss": (1, rank + 1.0)} for rank in range(4)}
    assert len(runs_of(logs)) == 1


def test_separate_directories_are_separate_runs() -> None:
    """Equal first values in two directories (the same seed twice) are two runs."""
    assert (
        len(runs_of({f"a/{EVENT_FILE}": SICK_FIRST_POINTS, f"b/{EVENT_FILE}": SICK_FIRST_POINTS}))
        == 2
    )


def test_equal_paths_below_two_given_paths_are_two_runs() -> None:
    """A run belongs to the path that was given."""
    groups = RunGroups()
    one = groups.assign_run("progress.csv", "old", SICK_FIRST_POINTS)
    two = groups.assign_run("progress.csv", "new", SICK_FIRST_POINTS)
    assert one is not None and two is not None and one != two
    assert (groups.run_path(one), groups.run_path(two)) == ("old", "new")


def test_two_files_that_were_given_one_by_one_are_compared() -> None:
    """`ppo-top ppo/log.txt ppo/progress.csv` is one run."""
    groups = RunGroups()
    one = groups.assign_run("log.txt", "ppo/log.txt", SICK_FIRST_POINTS)
    assert one == groups.assign_run("progress.csv", "ppo/progress.csv", SICK_FIRST_POINTS)
    assert one is not None and groups.run_path(one) == "ppo"


def test_a_console_waits_for_its_first_numbers() -> None:
    """Without a number it could be any run; it is only assigned if it must be."""
    groups = RunGroups()
    assert groups.assign_run("seed1.log", "runs", {}) is None
    assert groups.assign_run("seed1.log", "runs", {}, must_decide=True) is not None


def test_a_console_above_the_output_folder_of_its_trainer() -> None:
    """`train.py > train.log` next to the output directory: many equal first values join them."""
    many = {tag: (1, number + 0.5) for number, tag in enumerate(("loss", "kl", "reward", "norm"))}
    trainer = {f"train/{tag}": point for tag, point in many.items()}
    logs = {f"out/runs/Nov21_00-40-41_node7/{EVENT_FILE}": trainer, "train.log": many}
    assert len(runs_of(logs)) == 1
    assert len(runs_of(dict(reversed(logs.items())))) == 1
    assert len(runs_of({**logs, "train.log": {"loss": many["loss"]}})) == 2
    twice = {f"one/{EVENT_FILE}": trainer, f"two/{EVENT_FILE}": trainer, "train.log": many}
    assert len(runs_of(twice)) == 3


def test_a_log_without_numbers_makes_no_run_of_its_own() -> None:
    """stderr.log next to two seeds joins one of them instead of becoming a third run."""
    assert (
        len(
            runs_of(
                {
                    "seed1.log": SICK_FIRST_POINTS,
                    "seed2.log": HEALTHY_FIRST_POINTS,
                    "stderr.log": {},
                }
            )
        )
        == 2
    )


def test_a_tracker_waits_for_numbers_too() -> None:
    """Only its values show which run of a project a W&B folder is."""
    groups = RunGroups()
    key = "wandb/run-20261121_004041-ab12cd34/run-ab12cd34.wandb"
    assert groups.assign_run(key, "runs", {}) is None


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (0.5723, 0.6, True),  # printed with one digit
        (0.00825, 0.0082531, True),
        (21.3, 24.0, False),
        (9.8e-15, 3.6e-07, False),
        (1e20, 1.04e20, True),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.nan, 0.0, False),
    ],
)
def test_numbers_are_alike_within_their_rounding(one: float, other: float, alike: bool) -> None:
    """Values are compared at the precision of the one with fewer digits."""
    assert similarity({"loss": (1, one)}, {"loss": (1, other)}) == float(alike)


def test_an_assigned_log_never_moves() -> None:
    """Later points do not change its run."""
    groups = RunGroups()
    first = groups.assign_run("a/one.log", "runs", {"loss": (1, 1.0)})
    other = groups.assign_run("a/two.log", "runs", {"loss": (1, 2.0)})
    assert first != other
    assert groups.assign_run("a/two.log", "runs", {"loss": (1, 1.0)}) == other


def test_nan_is_like_nan() -> None:
    """Two logs of a run that began with NaN match."""
    assert similarity({"loss": (1, math.nan)}, {"train/loss": (1, math.nan)}) == 1.0


def test_names_are_as_short_as_they_can_be() -> None:
    """The last folder names a run unless another has the same one or it is vague."""
    groups = RunGroups()
    keys = [
        f"a/ppo/{EVENT_FILE}",
        f"b/ppo/{EVENT_FILE}",
        f"c/sac/{EVENT_FILE}",
        f"c/dqn/0/{EVENT_FILE}",
    ]
    runs = [groups.assign_run(key, "runs", {}, must_decide=True) for key in keys]
    names = [groups.run_name(run) for run in runs if run is not None]
    assert names == ["a/ppo", "b/ppo", "sac", "dqn/0"]


def test_a_run_alone_is_named_after_its_path() -> None:
    """With nothing below the path, the path names the run."""
    groups = RunGroups()
    run = groups.assign_run(EVENT_FILE, "/data/cartpole", SICK_FIRST_POINTS)
    assert run is not None and groups.run_name(run) == "cartpole"


def test_seeds_are_named_after_their_files() -> None:
    """Once a directory has two runs, both are named after their files."""
    groups = RunGroups()
    one = groups.assign_run("exp/seed1.log", "runs", SICK_FIRST_POINTS)
    two = groups.assign_run("exp/seed2.log", "runs", HEALTHY_FIRST_POINTS)
    assert one is not None and two is not None
    assert (groups.run_name(one), groups.run_name(two)) == ("exp/seed1", "exp/seed2")


def test_a_removed_run_leaves_nothing_behind() -> None:
    """A directory that is created again is a new run under the old name."""
    groups = RunGroups()
    one = groups.assign_run(f"a/{EVENT_FILE}", "runs", SICK_FIRST_POINTS)
    assert one is not None
    groups.remove_run(one)
    assert groups.assign_run(f"a/{EVENT_FILE}", "runs", HEALTHY_FIRST_POINTS) == one


RANDOM_FOLDERS = st.lists(
    st.sampled_from(["a", "b", "runs", "train", "logs", "wandb", "checkpoint-3", "0"]), max_size=4
)
RANDOM_LOG_NAMES = st.sampled_from(
    [EVENT_FILE, "progress.csv", "x.log", "y.log", "trainer_state.json"]
)


@given(st.lists(st.tuples(RANDOM_FOLDERS, RANDOM_LOG_NAMES, st.booleans()), max_size=12))
def test_ids_and_names_are_unique(logs: list[tuple[list[str], str, bool]]) -> None:
    """Whatever the tree, each run has one id and one name, and each log one run."""
    groups = RunGroups()
    assigned = {}
    for folders, name, sick in logs:
        key = "/".join([*folders, name])
        assigned[key] = groups.assign_run(
            key, "runs", SICK_FIRST_POINTS if sick else HEALTHY_FIRST_POINTS, must_decide=True
        )
    runs = {run for run in assigned.values() if run is not None}
    assert len({groups.run_name(run) for run in runs}) == len(runs)
    assert all(groups.assign_run(key, "runs", {}) == run for key, run in assigned.items())
