"""Which logs are one run: by their paths, what they print and their first values."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import Head, SourceFacts
from ppo_top.runs.grouping.group_logs import LogGroup, RunGroups
from ppo_top.runs.grouping.locations import locate_run
from ppo_top.runs.grouping.same_values import compare
from ppo_top.settings.run_patterns import NO_PATTERNS, RunPatterns

EVENT_FILE = "events.out.tfevents.1700000000.host.11.0"
OTHER_EVENT_FILE = "events.out.tfevents.1700000100.host.12.0"
START = 1_700_000_000.0


@dataclass
class GroupedLog:
    """A log for these tests: tag -> first values, at steps 1, 2, ... unless said otherwise."""

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    format: str = "console"
    start: float = math.nan
    printed: Sequence[str] = ()
    steps: Sequence[int] = ()
    title: str = ""

    def facts(self) -> SourceFacts:
        """What grouping sees of it."""
        heads = {
            tag: Head(list(self.steps or range(1, len(values) + 1)), list(values))
            for tag, values in self.values.items()
        }
        rows = max(map(len, self.values.values()), default=0)
        facts = SourceFacts(heads, rows, self.start, list(self.printed))
        facts.version = rows
        facts.set_title(self.title)
        return facts


def training(seed: int, rows: int = 5) -> dict[str, list[float]]:
    """Values of a training, unlike those of any other seed."""
    draw = random.Random(seed)
    return {
        "rollout/ep_rew_mean": [draw.gauss(20, 9) for _ in range(rows)],
        "train/value_loss": [draw.lognormvariate(1, 1) for _ in range(rows)],
        "train/approx_kl": [draw.uniform(0.001, 0.1) for _ in range(rows)],
    }


def printed(values: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The same as a console shows it: three digits."""
    return {tag: [float(f"{value:.3g}") for value in column] for tag, column in values.items()}


def events(seed: int, start: float = math.nan) -> GroupedLog:
    """The event file of a training."""
    return GroupedLog(training(seed), "tfevents", start)


def console(seed: int, *paths: str) -> GroupedLog:
    """The console of a training, which may print paths."""
    return GroupedLog(printed(training(seed)), printed=paths)


def group(
    logs: Mapping[str, GroupedLog], patterns: RunPatterns = NO_PATTERNS, root: str = "runs"
) -> list[LogGroup]:
    """The runs of logs (path below the watched directory -> log) that were read to their ends."""
    groups = RunGroups(patterns)
    for key, log in logs.items():
        groups.add_log(key, f"{root}/{key}", root, log.format, log.facts())
        groups.decide(key)
    return groups.groups()


def runs_of(
    logs: Mapping[str, GroupedLog], patterns: RunPatterns = NO_PATTERNS
) -> set[frozenset[str]]:
    """The keys of each run."""
    return {frozenset(each.joined_by) for each in group(logs, patterns)}


def one_run(*keys: str) -> set[frozenset[str]]:
    """All of these are one run, and nothing else is there."""
    return {frozenset(keys)}


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
        ("multirun/2026-11-21/00-40-41/3/.hydra/config.yaml", "multirun/2026-11-21/00-40-41/3"),
        ("trl/1700000000.12/hparams.yml", "trl"),
        (f"exp/1700000000.12/{EVENT_FILE}", "exp"),
        ("job/ab_x1/attempt_0/3/stdout.log", "job/ab_x1"),
        (EVENT_FILE, "."),
        ("0.monitor.csv", "."),
        ("0.1.monitor.csv", "."),
    ],
)
def test_home_of_a_log(key: str, home: str) -> None:
    """The directory of its run is read off a log's path."""
    assert locate_run(key).directory == home


@pytest.mark.parametrize(
    ("folder", "tag", "home"),
    [
        ("exp/policy_kl", "policy", "exp"),  # torch
        ("exp/policy_kl", "loss", "exp/policy_kl"),
        ("exp/reward/train", "reward", "exp"),  # tensorboardX
        ("run1/logs/agent0/ratio/agent0/ratio", "agent0/ratio", "run1"),
        ("run1/logs/agent0_ratio_agent0/ratio", "agent0/ratio", "run1"),
        ("reward/reward/train", "reward", "reward"),
    ],
)
def test_folders_of_add_scalars_belong_to_their_writer(folder: str, tag: str, home: str) -> None:
    """add_scalars makes a folder for each key, named after the main tag, which the file holds."""
    assert locate_run(f"{folder}/{EVENT_FILE}", (tag,)).directory == home


def test_folders_of_add_scalars_need_their_writer() -> None:
    """Two experiments with one tag, whose names begin with that tag, are two runs."""
    reward = {
        f"exp/reward_{name}/{EVENT_FILE}": GroupedLog({"reward": [seed, 2.5 * seed]}, "tfevents")
        for seed, name in enumerate(("dense", "sparse"), 3)
    }
    assert len(runs_of(reward)) == 2
    logs = {f"exp/{OTHER_EVENT_FILE}": GroupedLog({}, "tfevents"), **reward}
    assert runs_of(logs) == one_run(*logs)


def test_files_of_one_logger_folder_are_one_run() -> None:
    """Whatever their values are."""
    logs = {
        f"ppo/{EVENT_FILE}": events(1),
        "ppo/progress.csv": GroupedLog(training(2), "sb3-csv"),
        "ppo/0.monitor.csv": GroupedLog({"r": [4.0]}, "sb3-monitor"),
        "ppo/1.monitor.csv": GroupedLog({"r": [9.0]}, "sb3-monitor"),
        "ppo/evaluations.npz": GroupedLog({"eval/mean_reward": [4.0]}, "sb3-evaluations"),
    }
    assert runs_of(logs) == one_run(*logs)


def test_a_console_with_equal_values_belongs_to_the_run_next_to_it() -> None:
    """A console rounds to three digits and is still recognised; clocks may differ."""
    out = console(1)
    out.values = {**out.values, "time/fps": [7]}
    logs = {f"ppo/{EVENT_FILE}": events(1), "ppo/out.txt": out}
    assert runs_of(logs) == one_run(*logs)


def test_a_console_that_was_begun_anew_belongs_to_the_part_that_it_tells_of() -> None:
    """As where a training is resumed in its folder, with `> out.txt`; that of another is apart."""
    logs = {
        f"ppo/{EVENT_FILE}": events(1),
        f"ppo/{OTHER_EVENT_FILE}": events(2),
        "ppo/out.txt": console(2),
    }
    assert runs_of(logs) == one_run(*logs)
    assert len(runs_of({**logs, "ppo/out.txt": console(3)})) == 2


def test_a_console_with_other_metrics_belongs_to_the_run_next_to_it() -> None:
    """The only console and the only event file in a directory are one run."""
    logs = {f"ppo/{EVENT_FILE}": events(1), "ppo/out.log": GroupedLog({"bleu": [4.0, 4.1, 4.3]})}
    assert runs_of(logs) == one_run(*logs)


def test_a_console_with_names_of_its_own_is_known_by_its_values() -> None:
    """A script prints `Mean Reward: 20.8` for `rollout/ep_rew_mean`."""
    names = dict(zip(training(1), ("Mean Reward", "Value Loss", "KL"), strict=True))
    logs = {}
    for seed in (1, 2):
        logs[f"exp{seed}/{EVENT_FILE}"] = events(seed)
        values = printed(training(seed))
        logs[f"job{seed}.log"] = GroupedLog({names[tag]: values[tag] for tag in values})
    assert runs_of(logs) == {
        frozenset({f"exp{seed}/{EVENT_FILE}", f"job{seed}.log"}) for seed in (1, 2)
    }


def test_seeds_in_one_directory_are_runs_of_their_own() -> None:
    """The same tags with other values are another run, although settings agree."""
    same: dict[str, list[float]] = {
        "train/learning_rate": [3e-4] * 5,
        "time/iterations": [1, 2, 3, 4, 5],
    }
    logs = {f"seed{seed}.log": GroupedLog({**printed(training(seed)), **same}) for seed in (1, 2)}
    assert len(runs_of(logs)) == 2


def test_seeds_that_begin_alike_are_runs_of_their_own() -> None:
    """In some tasks every policy gets the same reward at first."""
    logs = {f"seed{seed}.log": GroupedLog({"reward": [-200.0] * 6}) for seed in (1, 2)}
    assert len(runs_of(logs)) == 2


def test_a_seed_that_was_run_twice_is_two_runs() -> None:
    """Only the clocks differ; it is no copy."""
    logs = {
        f"{name}/progress.csv": GroupedLog({**training(1), "time/fps": [fps] * 5}, "sb3-csv")
        for name, fps in (("one", 900), ("two", 871))
    }
    found = group(logs)
    assert [each.copy_of for each in found] == ["", ""]


def test_a_copied_directory_is_another_run_and_says_so() -> None:
    """Its logs begin with the same points at the same times; the console is the original's."""
    log = events(1, start=START)
    logs = {f"ppo/{EVENT_FILE}": log, f"ppo_copy/{EVENT_FILE}": log, "train.log": console(1)}
    found = {each.name: each for each in group(logs)}
    assert found["ppo"].joined_by.keys() == {f"ppo/{EVENT_FILE}", "train.log"}
    assert (found["ppo"].copy_of, found["ppo_copy"].copy_of) == ("", "ppo")


def test_a_copy_is_compared_again_once_it_goes_on_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a thousand copies only what has changed is compared when another log turns up."""
    compared: list[object] = []

    def noted(*pair: Any) -> Any:
        compared.append(pair)
        return compare(*pair)

    monkeypatch.setattr("ppo_top.runs.grouping.clusters.compare", noted)
    groups, facts = RunGroups(), [events(1, start=START).facts() for _ in range(3)]
    for name, each in zip(("ppo", "ppo_copy", "ppo_copy2"), facts, strict=True):
        groups.add_log(f"{name}/{EVENT_FILE}", f"{name}/{EVENT_FILE}", ".", "tfevents", each)
    assert [each.copy_of for each in groups.groups()] == ["", "ppo", "ppo"]
    assert len(compared) == 2
    facts[1].heads["train/value_loss"].values[-1] += 1.0
    facts[1].version += 1
    assert [each.copy_of for each in groups.groups()] == ["", "", "ppo"]
    assert len(compared) == 2, "unequal points need no comparison, unchanged ones none again"


def test_files_of_one_metric_each_are_one_run() -> None:
    """TorchRL keeps one csv for each tag in one folder."""
    logs = {
        "exp/scalars/reward.csv": GroupedLog({"reward": [1.0]}, "torchrl-csv"),
        "exp/scalars/kl.csv": GroupedLog({"kl": [0.1]}, "torchrl-csv"),
    }
    assert runs_of(logs) == one_run(*logs)


def test_tables_without_a_common_column_are_one_run() -> None:
    """losses.csv and rewards.csv side by side; tables with the same columns are two runs."""
    tables = {
        "exp/losses.csv": GroupedLog({"value_loss": [0.31, 0.27, 0.22]}, "csv"),
        "exp/rewards.csv": GroupedLog({"reward": [1.5, 2.5, 4.5]}, "csv"),
    }
    assert runs_of(tables) == one_run(*tables)
    other = {"exp/rewards2.csv": GroupedLog({"reward": [1.2, 2.9, 3.5]}, "csv")}
    assert len(runs_of({**tables, **other})) == 3


def test_a_tracker_joins_only_a_run_with_equal_values() -> None:
    """Several W&B runs in one project folder stay apart; the one with equal numbers is the run."""
    one, two = (f"wandb/run-20261121_00404{n}-ab12cd34/run-ab12cd34.wandb" for n in (1, 2))
    logs = {
        EVENT_FILE: events(1),
        one: GroupedLog(training(1), "wandb"),
        two: GroupedLog(training(2), "wandb"),
    }
    assert runs_of(logs) == {frozenset({EVENT_FILE, one}), frozenset({two})}


def test_all_files_of_a_tracker_run_are_one_run() -> None:
    """The console copy of W&B and its transaction log belong together."""
    folder = "wandb/run-20261121_004041-ab12cd34"
    logs = {
        f"{folder}/run-ab12cd34.wandb": GroupedLog(training(1), "wandb"),
        f"{folder}/files/output.log": console(2),
    }
    assert runs_of(logs) == one_run(*logs)


@pytest.mark.parametrize("named", ["ppo__3__1700000000", "./runs/ppo__3__1700000000/"])
def test_a_tracker_prints_the_name_of_the_run(named: str) -> None:
    """CleanRL names the folder of its event file like the run of W&B."""
    out = "wandb/run-20261121_004041-ab12cd34/files/output.log"
    logs = {
        f"runs/ppo__3__1700000000/{EVENT_FILE}": events(3),
        f"runs/ppo__4__1700000000/{OTHER_EVENT_FILE}": events(4),
        out: GroupedLog(printed=[named]),
    }
    assert frozenset({out, f"runs/ppo__3__1700000000/{EVENT_FILE}"}) in runs_of(logs)


def test_a_console_that_prints_several_runs_is_none_of_them() -> None:
    """A script that trains one after the other."""
    logs = {f"PPO_{n}/{EVENT_FILE}": events(n) for n in (1, 2)}
    both = GroupedLog({"note": [1.5, 9.25, 4.0]}, printed=["./PPO_1", "./PPO_2"])
    assert len(runs_of({**logs, "all.log": both})) == 3


def test_ranks_of_one_launch_are_one_run() -> None:
    """torchrun's log of each rank shows its own loss, and all are the same training."""
    logs = {
        f"job_x/attempt_0/{rank}/stdout.log": GroupedLog({"loss": [rank + 1.0]})
        for rank in range(4)
    }
    assert runs_of(logs) == one_run(*logs)


def test_output_and_errors_of_one_command_are_one_run() -> None:
    """slurm-7.out and slurm-7.err; those of another job are another run."""
    logs = {
        f"slurm-7.{kind}": GroupedLog({tag: [1.5, 2.5, 4.0]})
        for kind, tag in (("out", "a"), ("err", "b"))
    }
    assert runs_of(logs) == one_run(*logs)
    assert len(runs_of({**logs, "slurm-8.out": GroupedLog({"a": [7.5, 3.5, 4.1]})})) > 1


@pytest.mark.parametrize("shell", ["console.txt", "nohup.out", "slurm-4711.out", "err.txt"])
def test_words_that_the_shell_kept_are_of_the_run_that_logs_beside_it(shell: str) -> None:
    """A traceback beside train.log, say; the console of another run has a name of its own."""
    logs = {"a/train.log": console(1), f"a/{shell}": GroupedLog()}
    assert runs_of(logs) == one_run(*logs)
    assert runs_of({"a/train.log": console(1), "a/seed_2.log": GroupedLog()}) == one_run(
        "a/train.log"
    )


def test_a_console_and_a_folder_of_the_same_name() -> None:
    """ppo_1.log is the console of ppo_1, not of ppo_2."""
    logs = {f"ppo_{n}/{EVENT_FILE}": events(n) for n in (1, 2)}
    logs["ppo_1.log"] = GroupedLog({"note": [1.5, 9.25, 4.0]})
    assert frozenset({"ppo_1.log", f"ppo_1/{EVENT_FILE}"}) in runs_of(logs)


def test_a_console_and_a_table_of_the_same_name_side_by_side() -> None:
    """ppo_1.csv is of ppo_1.log, whose values are others, not of ppo_2.log."""
    logs = {f"ppo_{n}.csv": GroupedLog({"note": [1.5 + n, 9.25, 4.0]}, "csv") for n in (1, 2)}
    logs |= {f"ppo_{n}.log": console(n) for n in (1, 2)}
    assert runs_of(logs) == one_run("ppo_1.csv", "ppo_1.log") | one_run("ppo_2.csv", "ppo_2.log")


@pytest.mark.parametrize("first", [GroupedLog(), GroupedLog({"start_timesteps": [1.0]})])
def test_an_attempt_that_died_and_the_one_after_it(first: GroupedLog) -> None:
    """Tianshou's folders: a time, the seed inside; the first attempt ends before any metric."""
    logs = {
        "log/PPO_20261129-122905/exp_seed=42/log.txt": first,
        f"log/PPO_20261129-123005/exp_seed=42/{EVENT_FILE}": events(1),
        "log/PPO_20261129-123005/exp_seed=42/log.txt": console(1),
    }
    assert one_run(*list(logs)[1:]) <= runs_of(logs)
    assert one_run(*logs) != runs_of(logs)


@pytest.mark.parametrize(
    ("tags", "runs"),
    [
        (("reward", "completions/mean_length", "frac_reward_zero_std"), 2),
        (("reward", "actor/pg_loss", "response_length/mean", "critic/score/mean"), 2),
        (("reward", "loss"), 1),
    ],
)
def test_a_language_model_is_no_log_of_a_control_task(tags: Sequence[str], runs: int) -> None:
    """out/r1.log and tb/r1 may be the first runs of two projects: one would hide the other."""
    text = GroupedLog({tag: [0.5, 0.25 + n] for n, tag in enumerate(tags)})
    control = GroupedLog(
        {"rollout/ep_rew_mean": [9.5, 12.0], "approx_kl": [0.01, 0.02]}, "tfevents"
    )
    assert len(runs_of({"out/r1.log": text, f"tb/r1/{EVENT_FILE}": control})) == runs


def test_event_files_of_one_process_side_by_side() -> None:
    """Writers for actor and critic, with tags of their own; two runs share their tags."""
    actor = GroupedLog({"actor/loss": [0.5, 0.4]}, "tfevents", START)
    critic = GroupedLog({"critic/loss": [7.5, 6.4]}, "tfevents", START + 1)
    logs = {f"exp/actor/{EVENT_FILE}": actor, f"exp/critic/{EVENT_FILE}": critic}
    assert runs_of(logs) == one_run(*logs)
    assert len(runs_of({f"exp/{name}/{EVENT_FILE}": events(n) for n, name in enumerate("ab")})) == 2


def test_an_evaluation_beside_a_training_is_apart() -> None:
    """By its name, or because another process writes the folder `eval`."""
    alone = {
        f"exp/{EVENT_FILE}": events(1),
        "exp/eval.log": GroupedLog({"return": [9.0, 8.5, 7.25]}),
    }
    assert len(runs_of(alone)) == 2
    folders = {f"exp/train/{EVENT_FILE}": events(1), f"exp/eval/{OTHER_EVENT_FILE}": events(2)}
    assert len(runs_of(folders)) == 2
    same_process = {f"exp/train/{EVENT_FILE}": events(1), f"exp/eval/{EVENT_FILE}": events(2)}
    assert runs_of(same_process) == one_run(*same_process)


def test_an_evaluation_with_the_rewards_of_an_untrained_policy() -> None:
    """-200 in every episode of both is no sign of one run; many digits are."""
    untrained = {"reward": [-200.0] * 6}
    logs = {
        "exp/rewards.csv": GroupedLog(untrained, "csv"),
        "exp/eval.log": GroupedLog(untrained),
    }
    assert len(runs_of(logs)) == 2
    measured = {"eval/reward": [-183.25, -171.5, -166.75, -140.25]}
    both = {
        "exp/train.log": GroupedLog(training(1) | measured),
        "exp/eval.csv": GroupedLog(measured, "csv"),
    }
    assert runs_of(both) == one_run(*both)


def test_logs_of_other_times_are_not_tied_for_want_of_others() -> None:
    """A store of yesterday next to the event file of today."""
    store = "wandb/run-20261121_004041-ab12cd34/run-ab12cd34.wandb"
    for hours, count in ((0.1, 1), (20.0, 2)):
        logs = {
            f"exp/{EVENT_FILE}": events(1, start=START),
            store: GroupedLog({"other": [1.5, 2.0, 9.5]}, "wandb", START + hours * 3600),
        }
        assert len(runs_of(logs)) == count


def test_separate_directories_are_separate_runs() -> None:
    """Equal values in two directories (the same seed twice) are two runs."""
    logs = {f"a/{EVENT_FILE}": events(1, start=START), f"b/{OTHER_EVENT_FILE}": events(1)}
    assert len(runs_of(logs)) == 2


def wide_training(seed: int) -> dict[str, list[float]]:
    """Twelve metrics that are near 1 in all trainings: some first values are equal by chance."""
    draw = random.Random(seed)
    return {f"train/metric_{tag}": [draw.gauss(1, 0.05) for _ in range(5)] for tag in range(12)}


def test_a_console_far_away_is_found_though_it_prints_few_digits() -> None:
    """A quarter of its metrics with three digits or more is enough to compare them all."""
    logs = {f"tb/run_{n}/{EVENT_FILE}": GroupedLog(wide_training(n), "tfevents") for n in range(60)}
    few = {
        tag: [float(f"{value:.{3 if number < 3 else 2}g}") for value in values]
        for number, (tag, values) in enumerate(wide_training(7).items())
    }
    logs["jobs/slurm-4711.out"] = GroupedLog(few)
    assert frozenset({f"tb/run_7/{EVENT_FILE}", "jobs/slurm-4711.out"}) in runs_of(logs)


def test_runs_with_some_equal_values_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison of each run with each other one would take minutes for a thousand of them."""
    compared: list[object] = []

    def noted(*pair: Any) -> Any:
        compared.append(pair)
        return compare(*pair)

    monkeypatch.setattr("ppo_top.runs.grouping.group_logs.compare", noted)
    logs = {f"run_{n}/{EVENT_FILE}": GroupedLog(wide_training(n), "tfevents") for n in range(200)}
    assert len(runs_of(logs)) == 200
    assert len(compared) < 2000, "a tenth of all pairs"


def test_equal_paths_below_two_given_paths_are_two_runs() -> None:
    """A run belongs to the path that was given."""
    groups = RunGroups()
    for number, root in enumerate(("old", "new")):
        facts = GroupedLog(training(number)).facts()
        groups.add_log(f"{number}", f"{root}/progress.csv", root, "sb3-csv", facts)
    assert [each.path for each in groups.groups()] == ["new", "old"]


def test_two_files_that_were_given_one_by_one_are_compared() -> None:
    """`ppo-top ppo/log.txt ppo/progress.csv` is one run."""
    groups = RunGroups()
    for name in ("log.txt", "progress.csv"):
        groups.add_log(
            name, f"ppo/{name}", f"ppo/{name}", "console", GroupedLog(training(1)).facts()
        )
    assert [each.path for each in groups.groups()] == ["ppo"]


def test_a_console_waits_for_its_first_numbers() -> None:
    """Without a number it could be any run; it is only listed if it must be."""
    groups = RunGroups()
    groups.add_log("seed1.log", "runs/seed1.log", "runs", "console", GroupedLog().facts())
    assert groups.groups() == []
    groups.decide("seed1.log")
    assert len(groups.groups()) == 1


def test_a_console_with_few_rows_waits_if_there_are_others() -> None:
    """Its next rows may show that it belongs to the run above or below."""
    groups = RunGroups()
    groups.add_log("a.log", "runs/a.log", "runs", "console", GroupedLog({"loss": [1.5]}).facts())
    assert len(groups.groups()) == 1  # alone: nothing to wait for
    groups.add_log("b.log", "runs/b.log", "runs", "console", GroupedLog({"kl": [0.25]}).facts())
    assert len(groups.groups()) == 1
    groups.decide("b.log")
    assert len(groups.groups()) == 2


def test_a_console_above_the_output_folder_of_its_trainer() -> None:
    """`train.py > train.log` next to the output directories of two trainings."""
    below = {f"out{n}/runs/Nov21_00-40-41_node7/{EVENT_FILE}": events(n) for n in (1, 2)}
    first, _ = below
    logs = {**below, "train.log": console(1)}
    assert frozenset({first, "train.log"}) in runs_of(logs)
    assert runs_of(dict(reversed(logs.items()))) == runs_of(logs)
    few = GroupedLog({"train/value_loss": printed(training(1))["train/value_loss"][:1]})
    assert len(runs_of({**below, "train.log": few})) == 3


@pytest.mark.parametrize(
    "names",
    [("trainer.log", "orchestrator.log"), ("learner_hil.log", "actor_hil.log")],
)
def test_processes_of_one_training_are_one_run(names: tuple[str, str]) -> None:
    """prime-rl and LeRobot have one that trains and one that collects, each with a file."""
    folders = ("one/logs", "two/logs")
    logs = {
        f"{folder}/{name}": GroupedLog({tag: [place + 1.0, place + 2.5]})
        for place, folder in enumerate(folders)
        for name, tag in zip(names, ("Loss", "Reward"), strict=True)
    }
    expected = [frozenset(f"{folder}/{name}" for name in names) for folder in folders]
    assert set(runs_of(logs)) == set(expected)


def test_a_log_without_numbers_makes_no_run_of_its_own() -> None:
    """stderr.log next to two seeds could be of either."""
    logs = {"seed1.log": console(1), "seed2.log": console(2), "stderr.log": GroupedLog()}
    assert len(runs_of(logs)) == 2


def test_settings_above_several_runs_are_no_run() -> None:
    """They belong to the only run below, or to none."""
    one = {f"PPO_1/{EVENT_FILE}": events(1), "args.json": GroupedLog(format="settings-json")}
    assert runs_of(one) == one_run(*one)
    assert len(runs_of({**one, f"PPO_2/{OTHER_EVENT_FILE}": events(2)})) == 2


# --- in the settings -----------------------------------------------------------------------------


def test_a_wrong_tie_is_undone_in_the_settings() -> None:
    """`split` keeps what it matches apart from everything else."""
    logs = {f"ppo/{EVENT_FILE}": events(1), "ppo/out.log": console(1)}
    for pattern in ("out.log", "ppo/*.log"):
        assert len(runs_of(logs, RunPatterns(split=((pattern,),)))) == 2
    assert len(runs_of(logs, RunPatterns(split=(("ppo/",),)))) == 1


def test_a_missing_tie_is_made_in_the_settings() -> None:
    """`join` ties all that match with the same words."""
    logs = {
        f"{kind}/{n}/x.csv": GroupedLog(training(7 * n + len(kind)), "csv")
        for n in (1, 2)
        for kind in ("a", "bb")
    }
    assert len(runs_of(logs)) == 4
    found = group(logs, RunPatterns(join=(("a/{run}/*.csv", "bb/{run}/**"),)))
    assert {frozenset(each.joined_by) for each in found} == {
        frozenset({f"a/{n}/x.csv", f"bb/{n}/x.csv"}) for n in (1, 2)
    }
    assert all("joined in the settings" in each.joined_by.values() for each in found)


def test_each_log_says_why_it_belongs_to_its_run() -> None:
    """All but the one that the run is named after."""
    logs = {
        f"ppo/{EVENT_FILE}": events(1),
        "ppo/progress.csv": GroupedLog(training(1), "sb3-csv"),
        "train.log": console(1),
        "notes.err": GroupedLog({"note": [1.5, 9.25, 4.0]}, printed=["ppo"]),
    }
    (only,) = group(logs)
    assert only.joined_by == {
        f"ppo/{EVENT_FILE}": "",
        "ppo/progress.csv": "in the same folder",
        "train.log": "same values at the same steps",
        "notes.err": "its path or name is printed in the console",
    }


# --- comparing values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (0.5723, 0.6, True),  # printed with one digit
        (0.00825, 0.0082531, True),
        (1230.0, 1226.4, True),  # printed as 1.23e+03
        (200.0, 180.0, False),
        (0.1, 0.10000000149011612, True),  # float32
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
    found = compare({"loss": Head([1], [one])}, {"loss": Head([1], [other])})
    assert (found.equal, found.unequal) == (int(alike), int(not alike))


def test_a_console_that_prints_every_second_row_has_the_same_values() -> None:
    """Values are compared at the steps that both have."""
    values = training(1, rows=6)
    every_second = {tag: Head([2, 4, 6], column[1::2]) for tag, column in values.items()}
    all_rows = {tag: Head([1, 2, 3, 4, 5, 6], column) for tag, column in values.items()}
    assert compare(every_second, all_rows).is_certain


def test_a_console_that_prints_means_of_recent_values_is_of_the_same_training() -> None:
    """PyMARL prints the means of the five newest values that it gives to TensorBoard and Sacred."""
    means = {
        tag: [fmean(column[max(0, end - 5) : end]) for end in range(1, 7)]
        for tag, column in training(1, rows=6).items()
    }
    console = GroupedLog(printed(means))
    for seed, runs in ((1, 1), (2, 2)):
        tracked = GroupedLog(training(seed, rows=6), "tfevents")
        found = runs_of({"run/console.log": console, f"run/tb/{EVENT_FILE}": tracked})
        assert len(found) == runs


# --- names ---------------------------------------------------------------------------------------


def test_names_are_as_short_as_they_can_be() -> None:
    """The last folder names a run unless another has the same one or it is vague."""
    folders = ["a/ppo", "b/ppo", "c/sac", "c/dqn/0"]
    found = group({f"{folder}/{EVENT_FILE}": events(n) for n, folder in enumerate(folders)})
    assert [each.name for each in found] == ["a/ppo", "b/ppo", "dqn/0", "sac"]


def test_an_evaluation_does_not_name_its_training() -> None:
    """SB3's callback writes evaluations.npz into a folder of its own, below the console's."""
    values = {"eval/mean_reward": training(1)["rollout/ep_rew_mean"], "loss": [4.5, 3.5, 2.5]}
    logs = {
        "exp/walk/train.log": GroupedLog(values),
        "exp/walk/eval_logs/evaluations.npz": GroupedLog(values, "sb3-evaluations"),
        "exp/run": console(2),
    }
    named = {each.name for each in group(logs) if len(each.joined_by) > 1}
    assert named == {"walk"}


def test_a_run_alone_is_named_after_its_path() -> None:
    """With nothing below the path, the path names the run."""
    (only,) = group({EVENT_FILE: events(1)}, root="/data/cartpole")
    assert (only.name, only.path) == ("cartpole", "/data/cartpole")


def test_a_run_whose_folder_is_given_from_inside() -> None:
    """`ppo-top exp/tb` is the run exp, shown under the path that was given."""
    (only,) = group({EVENT_FILE: events(1)}, root="exp/tb")
    assert only.path == "exp/tb"


def test_seeds_are_named_after_their_files() -> None:
    """Once a directory has two runs, both are named after their files."""
    groups = RunGroups()
    for seed in (1, 2):
        facts = console(seed).facts()
        groups.add_log(f"exp/seed{seed}.log", f"runs/exp/seed{seed}.log", "runs", "console", facts)
    assert [each.name for each in groups.groups()] == ["exp/seed1", "exp/seed2"]


def test_a_run_keeps_its_id_when_another_appears_beside_it() -> None:
    """Whoever looks at it goes on looking at it."""
    groups = RunGroups()
    groups.add_log("b.log", "runs/b.log", "runs", "console", console(1).facts())
    (before,) = groups.groups()
    groups.add_log("a.log", "runs/a.log", "runs", "console", console(2).facts())
    assert {each.id: [*each.joined_by] for each in groups.groups()}[before.id] == ["b.log"]


def test_a_removed_run_leaves_nothing_behind() -> None:
    """A directory that is created again is a new run under the old name."""
    groups = RunGroups()
    for seed in (1, 2):
        groups.add_log("a", f"runs/a/{EVENT_FILE}", "runs", "tfevents", events(seed).facts())
        assert [each.name for each in groups.groups()] == ["a"]
        groups.remove_logs(["a"])
        assert groups.groups() == []


RANDOM_FOLDERS = st.lists(
    st.sampled_from(["a", "b", "runs", "train", "logs", "wandb", "checkpoint-3", "0"]), max_size=4
)
RANDOM_LOG_NAMES = st.sampled_from(
    [EVENT_FILE, "progress.csv", "x.log", "y.log", "trainer_state.json"]
)


def _key_of(log: tuple[list[str], str, int]) -> str:
    return "/".join([*log[0], log[1]])


RANDOM_LOGS = st.lists(
    st.tuples(RANDOM_FOLDERS, RANDOM_LOG_NAMES, st.integers(1, 3)),
    max_size=12,
    unique_by=_key_of,
)


@given(RANDOM_LOGS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    logs: list[tuple[list[str], str, int]], draw: random.Random
) -> None:
    """Whatever the tree: each log has one run, ids and names are unique, and any order will do."""
    made = {
        _key_of(log): GroupedLog(training(log[2]), "tfevents" if "tf" in log[1] else "console")
        for log in logs
    }
    found = group(made)
    assert sorted(key for each in found for key in each.joined_by) == sorted(made)
    assert len({each.id for each in found}) == len({each.name for each in found}) == len(found)
    shuffled = list(made.items())
    draw.shuffle(shuffled)
    assert [each.joined_by for each in group(dict(shuffled))] == [each.joined_by for each in found]


def named(titles: Sequence[str], folder: str = "wandb/run-20261121_00404{n}-id{n}") -> list[str]:
    """The names of runs that a tracker calls so, in the order of their folders."""
    logs = {
        f"{folder.format(n=n)}/run-id{n}.wandb": GroupedLog(training(n), "wandb", title=title)
        for n, title in enumerate(titles)
    }
    return [each.name for each in sorted(group(logs), key=lambda each: each.path)]


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (["ppo", "ppo-lr", "grpo"], ["ppo", "ppo-lr", "grpo"]),
        (["ppo", "ppo", "grpo"], ["ppo id0", "ppo id1", "grpo"]),
        (["ppo", "", "grpo"], ["ppo", "run-20261121_004041-id1", "grpo"]),
        (["a\n  b\t c", "d", "e"], ["a b c", "d", "e"]),
        (["x" * 300, "y", "z"], ["x" * 80, "y", "z"]),
    ],
)
def test_a_run_in_a_trackers_folder_is_called_as_the_tracker_calls_it(
    titles: Sequence[str], names: Sequence[str]
) -> None:
    """The folder says when it began; ids tell those of one name apart."""
    assert named(titles) == names


def test_a_folder_that_somebody_named_keeps_its_name() -> None:
    """What the user sees in the file system counts, whatever a tracker calls it."""
    assert named(["ppo", "grpo"], "lr{n}") == ["lr0", "lr1"]
