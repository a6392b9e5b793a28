"""A set-up that a script prints, a setting a line, before each of several trainings."""

from __future__ import annotations

import json

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

SETUP = """--- set-up {n} ---
  policy: marl
  batch_size: 256
  gamma: 0.99
  noise_std: 0.1
  training_episode: 5000
  clip_ratio: 0.2
  model: {{'actor_lr': 0.0003, 'clip_ratio': 0.2}}
--- results ---
"""


def read(text: str) -> ParserOutput:
    """All that a console holds."""
    return parse_every_way(ConsoleParser, text.encode())


def test_a_set_up_is_none_of_the_metrics_and_says_no_step() -> None:
    """Whatever its settings are called, and although records have been printed before."""
    text = "".join(f"{SETUP.format(n=n)}best reward: {n}.5\n" for n in range(1, 6))
    found = read(text)
    assert found.values_by_step() == {"best reward": [(n, n + 0.5) for n in range(1, 6)]}
    assert found.config["noise_std"] == 0.1
    assert found.config["training_episode"] == 5000


def test_what_stands_in_one_column_with_a_set_up_is_of_it() -> None:
    """Whatever it is called: the next line of the set-up is no update."""
    text = "batch_size  : 64\ngamma       : 0.99\nnum_users   : 8\nupdate      : 8\n"
    text += "".join(f"| Episode: {n} | Ep-reward: {n}.5 |\n" for n in (20, 40))
    found = read(text)
    assert found.values_by_step()["Ep-reward"] == [(20, 20.5), (40, 40.5)]
    assert "update" not in found.values_by_step()
    assert found.config["update"] == 8


def test_an_episode_that_names_its_settings_in_a_column_is_none() -> None:
    block = "Episode     : {n}\nReward      : {n}.5\nbuffer_size : 640\ngamma       : 0.9\n"
    found = read("".join(block.format(n=n) for n in (1, 2, 3)))
    assert found.steps("Reward") == [1, 2, 3]


def test_what_stands_below_a_set_up_is_measured() -> None:
    """A bare step, a reward or a loss is no setting; nor is what stands behind other text."""
    loop = "Episode: {n}\nreward: {n}.5\nclip_ratio: 0.1\n"
    found = read("batch_size: 64\ngamma: 0.99\n" + "".join(loop.format(n=n) for n in range(1, 9)))
    assert found.values_by_step()["reward"] == [(n, n + 0.5) for n in range(1, 9)]
    assert found.values("clip_ratio") == [0.1] * 8


def test_a_step_or_a_result_ends_a_set_up() -> None:
    """Without a blank line between them, in the first iteration as in all others."""
    setup = "gamma: 0.99\nbatch_size: 64\n"
    loop = "Iteration: {n}\nentropy: 0.6\nclip_fraction: 0.1\nreward: {n}.5\n"
    found = read(setup + "".join(loop.format(n=n) for n in range(1, 6)))
    assert {tag: len(values) for tag, values in found.values_by_step().items()} == dict.fromkeys(
        ["Iteration", "entropy", "clip_fraction", "reward"], 5
    )
    assert read(f"{setup}lr=0.001 loss=0.5\n").values("loss") == [0.5]
    assert read(f"{setup}entropy: 0.6\nclip_fraction: 0.1\n").points.keys() == {
        "entropy",
        "clip_fraction",
    }


@pytest.mark.parametrize("first", ["gamma: 0.99", "batch_size: 64", "device: cuda"])
def test_one_such_name_alone_makes_no_set_up(first: str) -> None:
    """A script may print its discount with each update."""
    lines = "".join(f"update: {n}\n{first}\nclip_ratio: 0.1\nreward: {n}\n" for n in range(1, 9))
    found = read(lines)
    assert found.steps("clip_ratio") == [*range(1, 9)]


def test_settings_in_one_line_say_so() -> None:
    """As `logger.info("Run config: K=%d lr=%.1e | clip_eps=%.2f", ...)` prints them."""
    title = "Run config: K=8 lr=5.0e-06 T=0.80 | clip_eps=0.20 kl_coef=0.0400 | eval_every=5\n"
    found = read(title + "".join(f"Iter {n} | loss=0.5 | reward mean={n}.5\n" for n in range(1, 6)))
    assert found.values_by_step()["reward mean"] == [(n, n + 0.5) for n in range(1, 6)]
    assert "clip_eps" not in found.points
    assert found.config["clip_eps"] == 0.2


@pytest.mark.parametrize("title", ["", "Input Parser:\n", "12:17:23 | \u914d\u7f6e:\n"])
def test_settings_printed_as_json(title: str) -> None:
    """As `json.dumps(vars(args), indent=2)` prints them, `reward_multiplier` and all."""
    settings = {"batch_size": 512, "gae_lambda": 0.95, "buffer_size": 2048, "epochs": 300}
    settings |= {"lr": 0.0001, "reward_multiplier": 1, "entropy_coef": 0.01}
    loop = "".join(f"epoch {n} | reward: {n}.5 | entropy: 0.5\n" for n in range(1, 6))
    found = read(f"{title}{json.dumps(settings, indent=2)}\n{loop}")
    assert found.points.keys() == {"epoch", "reward", "entropy"}
    assert found.config["reward_multiplier"] == 1.0
    record = json.dumps({"batch_size": 64, "reward": 1.5, "loss": 0.5, "gamma": 0.99})
    assert read(f"{record}\n").values("reward") == [1.5]


PPO_PYTORCH = (
    "max training timesteps :  60000\nmax timesteps per episode :  200\n"
    "----------------------------------------\nPPO update frequency : 800 timesteps\n"
    "PPO epsilon clip :  0.2\n----------------------------------------\n"
    "optimizer learning rate actor :  0.0003\noptimizer learning rate critic :  0.001\n"
)


def test_the_set_up_of_ppo_pytorch_is_no_update() -> None:
    """As its train.py prints it (nikhilbarhate99/PPO-PyTorch); it says how long the run will be."""
    rows = "".join(
        f"Episode : {50 * n} \t\t Timestep : {800 * n} \t\t Average Reward : {n}.5\n"
        for n in (1, 2, 3)
    )
    found = read(PPO_PYTORCH + rows)
    assert found.values_by_step()["Average Reward"] == [(800 * n, n + 0.5) for n in (1, 2, 3)]
    assert found.config["max training timesteps"] == 60000
    assert found.config["PPO epsilon clip"] == 0.2
    assert all(points == [] or len(points) == 3 for points in found.values_by_step().values())


def test_a_title_above_settings_says_what_they_are() -> None:
    """Also where each process that is started again prints them, a log level before each."""
    text = "".join(
        f"[2026-06-23 11:4{n}:09] [INFO] Config loaded:\n"
        f"[2026-06-23 11:4{n}:09] [INFO]   actor_lr=1e-06\n"
        f"[2026-06-23 11:4{n}:09] [INFO]   total_steps=1000\n"
        f"[2026-06-23 11:4{n}:27] [INFO] Starting PPO RLHF training...\n"
        f"[2026-06-23 11:4{n}:55] [INFO] Epoch {n}: mean total loss=0.{n}\n"
        for n in range(1, 6)
    )
    found = read(text)
    assert found.values_by_step() == {
        "Epoch": [(n, float(n)) for n in range(1, 6)],
        "mean total loss": [(n, n / 10) for n in range(1, 6)],
    }
    assert (found.config["actor_lr"], found.config["total_steps"]) == (1e-06, 1000)


@pytest.mark.parametrize(
    "lines",
    [
        ["learning_rate: 0.001", "gamma: 0.99", "batch_size: 64"],
        ["  learning_rate=0.001", "  gamma=0.99", "  batch_size=64"],
        ["learning_rate=1e-3, gamma=0.99, batch_size=64"],
        ["- 'learning_rate': 0.001 | gamma: 0.99", "* batch_size = 64"],
        ["[2026-06-23 12:01:10] [INFO] learning_rate=0.001", "gamma: 0.99,", "batch_size: 64"],
    ],
)
def test_hyperparameters_above_the_first_record_are_settings(lines: list[str]) -> None:
    """As scripts print them, one a line or several; they are no values of the training."""
    rows = [f"Episode {n}, Reward: {n}.5" for n in (1, 2, 3)]
    found = read("\n".join([*lines, *rows, ""]))
    assert found.config == {"learning_rate": 0.001, "gamma": 0.99, "batch_size": 64.0}
    assert found.values_by_step().keys() == {"Episode", "Reward"}
    assert found.values_by_step()["Reward"] == [(1, 1.5), (2, 2.5), (3, 3.5)]


@pytest.mark.parametrize(
    "line", ["gamma: 0.9 was tried before", "gamma: 0.9 width: 3", "of gamma: 0.9", "gamma: high"]
)
def test_a_line_that_says_more_sets_nothing(line: str) -> None:
    """Nor does one between records, where it may tell of the step."""
    rows = [f"Episode {n}, Reward: {n}.5\nlr: 0.{n}" for n in (1, 2, 3)]
    assert read("\n".join([line, *rows, ""])).config == {}


def test_the_steps_of_a_line_of_settings_are_how_many_there_will_be() -> None:
    """What `print(f"[Phase 1] PPO | timesteps={n} | n_envs={k} | ...")` says of what comes."""
    line = "[Phase 1] PPO | timesteps=50000 | n_envs=4 | eval_cb=on | eval_freq=8192\n"
    found = read(line + "".join(f"step={n}, reward={n}.5\n" for n in (1, 2, 3)))
    assert found.values_by_step()["reward"] == [(1, 1.5), (2, 2.5), (3, 3.5)]
    assert found.values_by_step().keys() == {"step", "reward"}
    assert found.config == {"timesteps": 50000.0, "n_envs": 4.0, "eval_freq": 8192.0}
