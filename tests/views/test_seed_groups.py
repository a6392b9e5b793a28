"""Which runs count as seeds of one experiment."""

from __future__ import annotations

import pytest

from ppo_top.model import ConfigValue
from ppo_top.views.seed_groups import group_seeds, name_stem, run_traits, setting_kind

PPO_SETTINGS: dict[str, ConfigValue] = {
    "learning_rate": 3e-4, "clip_range": 0.2, "n_steps": 2048, "gamma": 0.99, "gae_lambda": 0.95,
    "env_id": "CartPole-v1",
}  # fmt: skip


def grouped(*runs: tuple[str, dict[str, ConfigValue]]) -> list[list[str]]:
    """The names of the runs by experiment."""
    return list(group_seeds({name: run_traits(name, config) for name, config in runs}).values())


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("cartpole_seed3", "cartpole"),
        ("cartpole-s3", "cartpole"),
        ("cartpole_3", "cartpole"),
        ("cartpole seed=12", "cartpole"),
        ("cartpole", "cartpole"),
        ("42", "42"),
        ("logs/0042", "logs/0042"),
        ("logs/cartpole-42", "logs/cartpole"),
        ("cartpole/seed42", "cartpole/"),
        ("cartpole/seeds/42", "cartpole/seeds/"),
    ],
)
def test_a_stem_is_the_name_up_to_the_seed(name: str, group: str) -> None:
    """The seed is at the end of the name."""
    assert name_stem(name) == group


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("seed", "seed"),
        ("env_seed", "seed"),
        ("run_name", "own"),
        ("output_dir", "own"),
        ("loggingDir", "own"),
        ("env_id", "setting"),
        ("model_name_or_path", "setting"),
        ("log_std_init", "setting"),
        ("lora_rank", "setting"),
        ("learning_rate", "setting"),
    ],
)
def test_names_and_paths_are_not_settings(name: str, sort: str) -> None:
    """The name or path of a run is no setting; environment and model are."""
    assert setting_kind(name) == sort


def test_equal_settings_with_other_seeds_are_one_experiment_whatever_the_names() -> None:
    """Runs that were named by hand or by date belong together."""
    runs = grouped(
        ("bold-sun", {**PPO_SETTINGS, "seed": 1, "run_name": "bold-sun"}),
        ("calm-sea", {**PPO_SETTINGS, "seed": 2, "run_name": "calm-sea"}),
        ("grey-fox", {**PPO_SETTINGS, "seed": 3, "gamma": 0.9}),
    )
    assert runs == [["bold-sun", "calm-sea"], ["grey-fox"]]


def test_numbers_in_a_folder_are_seeds_only_by_their_settings() -> None:
    """Collected logs are numbered, too, and have nothing in common."""
    alone: dict[str, ConfigValue] = {}
    assert grouped(("logs/1", alone), ("logs/2", alone)) == [["logs/1"], ["logs/2"]]
    seeds = [(f"logs/{seed}", {**PPO_SETTINGS, "seed": seed}) for seed in (1, 2)]
    assert grouped(*seeds, ("logs/3", alone)) == [["logs/1", "logs/2"], ["logs/3"]]


def test_equal_settings_without_seeds_of_their_own_are_not() -> None:
    """With one seed for both, something that is not in the settings was varied."""
    same = {**PPO_SETTINGS, "seed": 42}
    assert grouped(("constant", same), ("vowels", same)) == [["constant"], ["vowels"]]
    assert grouped(("constant", PPO_SETTINGS), ("vowels", PPO_SETTINGS)) == [
        ["constant"],
        ["vowels"],
    ]


def test_one_name_with_other_settings_is_another_experiment() -> None:
    """Stable-Baselines3 numbers runs: `PPO_1` and `PPO_2` may differ in more than the seed."""
    runs = grouped(
        ("PPO_1", {"learning_rate": 3e-4}),
        ("PPO_2", {"learning_rate": 3e-2}),
        ("PPO_3", {"learning_rate": 3e-4}),
    )
    assert runs == [["PPO_1", "PPO_3"], ["PPO_2"]]


def test_experiments_of_one_name_show_the_setting_that_differs() -> None:
    """Two groups with the same stem show the setting in which they differ."""
    runs = {
        name: run_traits(name, {**PPO_SETTINGS, "learning_rate": rate})
        for name, rate in (("PPO_1", 3e-4), ("PPO_2", 3e-2), ("PPO_3", 3e-4), ("PPO_4", 3e-2))
    }
    assert list(group_seeds(runs)) == ["PPO", "PPO learning_rate 0.03"]


def test_experiments_without_a_setting_that_differs_are_numbered() -> None:
    """They log different settings, but none of them has a value in one only."""
    runs = {f"PPO_{n}": run_traits(f"PPO_{n}", {f"option_{n}": ""}) for n in (1, 2, 3)}
    assert list(group_seeds(runs)) == ["PPO", "PPO #2", "PPO #3"]


def test_a_run_that_logs_no_settings_belongs_to_its_name() -> None:
    """It joins the others of its name where they are one experiment."""
    same = grouped(("PPO_1", PPO_SETTINGS), ("PPO_2", {}), ("PPO_3", PPO_SETTINGS))
    assert same == [["PPO_1", "PPO_2", "PPO_3"]]
    apart = grouped(
        ("PPO_1", PPO_SETTINGS), ("PPO_2", {}), ("PPO_3", {**PPO_SETTINGS, "gamma": 0.9})
    )
    assert apart == [["PPO_1"], ["PPO_2"], ["PPO_3"]]
