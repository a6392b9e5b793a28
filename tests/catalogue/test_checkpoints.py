"""Names of checkpoints: what trainers write is recognised, and what cannot be placed is not."""

from __future__ import annotations

import re
from pathlib import PurePath

import pytest

from ppo_top.catalogue import is_concept, trainer_tables
from ppo_top.catalogue.checkpoints import STEP, checkpoint_name
from ppo_top.catalogue.table import shared_table

WRITTEN = (
    ("sb3", "rl_model_40000_steps.zip", 40_000),
    ("sb3", "cartpole_v1_512_steps.zip", 512),
    ("trl-ppo", "checkpoint-12", 12),
    ("trl-grpo", "checkpoint-400", 400),
    ("trl-async-grpo", "checkpoint-400", 400),
    ("trl-dpo", "checkpoint-400", 400),
    ("llama-factory", "checkpoint-400", 400),
    ("rsl_rl", "model_350.pt", 350),
    ("verl", "global_step_200", 200),
    ("openrlhf", "global_step20", 20),
    ("skrl", "agent_10000.pt", 10_000),
    ("rl_games", "last_Ant_ep_200_rew_5123.4.pth", 200),
    ("rl_games", "last_Ant_ep_200_rew__5123.4_.pth", 200),
    ("sample_factory", "checkpoint_000000976_4000000.pth", 4_000_000),
    ("ml-agents", "3DBall-499980.pt", 499_980),
    ("pfrl", "200000_checkpoint", 200_000),
)

NOT_PLACED = (
    ("sb3", "best_model.zip"),
    ("sb3", "rl_model_replay_buffer_40000_steps.pkl"),
    ("sb3", "rl_model_vecnormalize_40000_steps.pkl"),
    ("rl_games", "Ant.pth"),
    ("skrl", "best_agent.pt"),
    ("skrl", "agent_24-01-02_10-11-12-000000.pt"),
    ("sample_factory", "best_000000976_4000000_reward_21.3.pth"),
    ("rsl_rl", "model_350.onnx"),
)

LAYOUTS = (
    ("trl-grpo", "out/runs/Nov22_10-00-00_host", "out"),
    ("trl-grpo", "out/checkpoint-400", "out"),
    ("rl_games", "runs/Ant_22-10-00/summaries", "runs/Ant_22-10-00/nn"),
    ("sample_factory", "train_dir/ant/.summary/0", "train_dir/ant/checkpoint_p0"),
    ("skrl", "runs/cartpole", "runs/cartpole/checkpoints"),
    ("rsl_rl", "logs/anymal/2026-11-22", "logs/anymal/2026-11-22"),
    ("sb3", "logs/PPO_1", "logs"),
)


@pytest.mark.parametrize(("trainer", "name", "number"), WRITTEN)
def test_a_written_name_gives_its_number(trainer: str, name: str, number: int) -> None:
    """As the trainers' own code builds it."""
    named = checkpoint_name(trainer)
    assert named is not None
    match = re.fullmatch(named.pattern, name)
    assert match is not None
    assert int(match[1]) == number


@pytest.mark.parametrize(("trainer", "name"), NOT_PLACED)
def test_a_name_without_a_moment_is_no_checkpoint(trainer: str, name: str) -> None:
    """The best model, buffers and exports are never said to be from a certain step."""
    named = checkpoint_name(trainer)
    assert named is not None
    assert not re.fullmatch(named.pattern, name)


@pytest.mark.parametrize("trainer", ["rllib", "cleanrl", "spinning-up", "lightning", "unknown"])
def test_trainers_whose_numbers_are_uncertain_have_none(trainer: str) -> None:
    """RLlib's number counted iterations once and counts checkpoints now; others write none."""
    assert checkpoint_name(trainer) is None


@pytest.mark.parametrize(("trainer", "log", "checkpoints"), LAYOUTS)
def test_checkpoints_lie_where_the_trainer_puts_them(
    trainer: str, log: str, checkpoints: str
) -> None:
    """Seen from the folder of the log."""
    named = checkpoint_name(trainer)
    assert named is not None
    assert PurePath(checkpoints) in named.folders_of(PurePath(log))


def test_a_layout_that_is_not_there_adds_no_folder() -> None:
    """Two folders up is looked at only from `runs/NAME`."""
    named = checkpoint_name("trl-grpo")
    assert named is not None
    assert list(named.folders_of(PurePath("a/b/c"))) == [PurePath("a/b/c"), PurePath("a/b")]


def test_the_table_names_known_trainers_and_metrics() -> None:
    """What a number counts is the log's step or a metric; each trainer has one line and a test."""
    rows = list(shared_table("checkpoints"))
    trainers = [cells[0] for cells in rows]
    assert set(trainers) <= trainer_tables().keys()
    assert sorted(trainers) == sorted({trainer for trainer, _, _ in WRITTEN})
    assert all(counts == STEP or is_concept(counts) for _, _, counts, *_ in rows)
    assert {cells[3] for cells in rows} <= {"any", "files"}
