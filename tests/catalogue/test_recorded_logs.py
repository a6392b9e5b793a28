"""The catalogue against logs that real trainers left: every tag is known, whatever the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.catalogue import Trainer, identify, meaning, trainer_tables
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
DEMO = ROOT / "demo_logs"


def tags_of(path: Path) -> tuple[str, list[str]]:
    """The format of a file and the tags in it."""
    data = path.read_bytes()
    form = detect_format(path.name, data[:4096])
    assert isinstance(form, Format)
    if form.store is not None:
        store = form.store(path)
        batches = [store.poll(1_000_000)]
        store.close()
    else:
        assert form.parser is not None
        parser = form.parser()
        batches = [parser.feed(data), parser.finish()]
    return form.name, sorted({points.tag for batch in batches for points in batch.points})


def only(folder: Path, pattern: str) -> Path:
    """The one file below a folder that a pattern fits."""
    (path,) = folder.rglob(pattern)
    return path


OF_THE_ENVIRONMENT = ("/reward/", "/terminations/")
"""Tags that the recorded environment adds to rsl_rl's own."""

LOGS = [
    ("demo_logs/sb3_cartpole", "*tfevents*", "SB3 PPO"),
    ("demo_logs/sb3_cartpole", "progress.csv", "SB3 PPO"),
    ("demo_logs/sb3_cartpole", "progress.json", "SB3 PPO"),
    ("demo_logs/sb3_cartpole", "log.txt", "SB3 PPO"),
    ("demo_logs/sb3_cartpole", "stdout.log", "SB3 PPO"),
    ("demo_logs/sb3_cartpole", "0.monitor.csv", "Monitor"),
    ("demo_logs/sb3_cartpole", "evaluations.npz", "SB3"),
    ("tests/data/sb3_2.9.2/a2c", "progress.csv", "SB3 A2C"),
    ("tests/data/sb3_2.9.2/dqn", "progress.csv", "SB3 DQN"),
    ("tests/data/sb3_2.9.2/sac", "progress.csv", "SB3 SAC"),
    ("tests/data/sb3_2.9.2/sac", "*tfevents*", "SB3 SAC"),
    ("demo_logs/torch_cartpole", "*tfevents*", "custom PPO"),
    ("demo_logs/torch_cartpole", "stdout.log", "custom PPO"),
    ("demo_logs/trl_grpo", "*tfevents*", "TRL GRPO/RLOO"),
    ("demo_logs/trl_grpo", "stdout.log", "TRL GRPO/RLOO"),
    ("demo_logs/trl_grpo", "trainer_state.json", "TRL GRPO/RLOO"),
    ("tests/data/trl_0.11.4/ppo_tensorboard/tb/ppo-legacy", "*tfevents*.0", "TRL PPO (legacy)"),
    ("tests/data/trl_0.11.4/ppov2/out/runs", "*tfevents*", "TRL PPO"),
    ("tests/data/trl_1.12.0/ppo/out/runs", "*tfevents*", "TRL PPO"),
    ("tests/data/trl_1.12.0/ppo", "stdout.log", "TRL PPO"),
    ("tests/data/trl_1.12.0/ppo/out/checkpoint-12", "trainer_state.json", "TRL PPO"),
    ("tests/data/trl_0.11.4/ppov2/out/checkpoint-6", "trainer_state.json", "TRL PPO"),
    ("tests/data/cleanrl_fe8d8a03", "*tfevents*", "CleanRL PPO"),
    ("tests/data/rsl_rl_5.5.1", "*tfevents*", "rsl_rl PPO"),
    ("tests/data/rsl_rl_5.5.1", "console.log", "rsl_rl PPO"),
    ("tests/data/rllib_2.60.0", "*tfevents*", "RLlib PPO"),
    ("tests/data/rllib_2.60.0", "result.json", "RLlib PPO"),
    ("tests/data/rllib_2.60.0", "progress.csv", "RLlib PPO"),
    ("tests/data/skrl_2.1.1", "*tfevents*", "skrl PPO"),
    ("tests/data/di-engine_0.5.3/ppo", "*tfevents*", "DI-engine PPO"),
    ("tests/data/di-engine_0.5.3/ppo", "console.log", "DI-engine PPO"),
    ("tests/data/di-engine_0.5.3/ppo", "collector_logger.txt", "DI-engine"),
    ("tests/data/di-engine_0.5.3/sac", "*tfevents*", "DI-engine SAC"),
    ("tests/data/di-engine_0.5.3/sac", "evaluator_logger.txt", "DI-engine"),
    ("tests/data/spinup_038665d", "progress.txt", "Spinning Up PPO"),
    ("tests/data/verl_0.9.1", "console.log", "verl"),
    ("tests/data/verl_0.9.1", "*tfevents*", "verl"),
]


@pytest.mark.parametrize(("folder", "pattern", "label"), LOGS)
def test_every_tag_of_a_real_log_is_in_its_trainers_table(
    folder: str, pattern: str, label: str
) -> None:
    """The writer is recognised, and nothing that it wrote is unknown."""
    form, tags = tags_of(only(ROOT / folder, pattern))
    assert tags
    found = identify(tags, {form})
    assert found.label == label
    table = trainer_tables()[found.id]
    unknown = [tag for tag in tags if table.find_entry(tag) is None]
    assert [tag for tag in unknown if not tag.startswith(OF_THE_ENVIRONMENT)] == []


CRUCIAL = {
    "approx_kl", "clip_fraction", "entropy", "ep_len", "explained_variance", "lr", "reward_mean",
    "value_loss",
}  # fmt: skip


def concepts_of(trainer: Trainer, tags: list[str]) -> set[str]:
    """The concepts that a log's tags stand for."""
    return {known.concept for tag in tags if (known := meaning(trainer, tag)) is not None}


@pytest.mark.parametrize(
    ("folder", "pattern", "missing"),
    [
        ("demo_logs/sb3_cartpole", "*tfevents*", set()),
        ("demo_logs/torch_cartpole", "*tfevents*", set()),
        ("tests/data/cleanrl_fe8d8a03", "*tfevents*", {"reward_mean", "ep_len"}),
        ("tests/data/rllib_2.60.0", "*tfevents*", {"clip_fraction"}),
        ("tests/data/rllib_2.60.0", "result.json", {"clip_fraction"}),
        ("tests/data/di-engine_0.5.3/ppo", "*tfevents*", {"explained_variance"}),
        ("tests/data/di-engine_0.5.3/ppo", "console.log", {"explained_variance"}),
        (
            "tests/data/rsl_rl_5.5.1",
            "*tfevents*",
            {"approx_kl", "clip_fraction", "explained_variance"},
        ),
        (
            "tests/data/skrl_2.1.1",
            "*tfevents*",
            {"approx_kl", "clip_fraction", "explained_variance", "lr"},
        ),
    ],
)
def test_the_crucial_values_of_control_are_found(
    folder: str, pattern: str, missing: set[str]
) -> None:
    """What a trainer logs of the crucial values is found; what is missing was not logged.

    (CleanRL looks for finished episodes where Gymnasium 1 no longer puts them.)
    """
    form, tags = tags_of(only(ROOT / folder, pattern))
    assert CRUCIAL - concepts_of(identify(tags, {form}), tags) == missing


def test_the_crucial_values_of_rlhf_and_grpo_are_found() -> None:
    """The lists of TRL's logging guide, in logs of the real trainers."""
    legacy = concepts_of(
        identify(["env/reward_mean"]),
        tags_of(only(DATA / "trl_0.11.4/ppo_tensorboard/tb/ppo-legacy", "*tfevents*.0"))[1],
    )
    assert {
        "reward_mean", "ref_kl", "kl_coef", "non_score_reward", "clip_fraction", "approx_kl",
        "value_loss", "entropy", "explained_variance",
    } <= legacy  # fmt: skip
    ppo = concepts_of(
        identify(["policy/approxkl_avg"]),
        tags_of(only(DATA / "trl_1.12.0/ppo/out/runs", "*tfevents*"))[1],
    )
    assert {
        "reward_mean", "rlhf_reward", "non_score_reward", "value_loss", "ratio_mean",
        "clip_fraction", "approx_kl", "ref_kl", "entropy",
    } <= ppo  # fmt: skip
    grpo = concepts_of(
        identify(["completions/clipped_ratio"]), tags_of(only(DEMO / "trl_grpo", "*tfevents*"))[1]
    )
    assert {
        "reward_mean", "ref_kl_token", "clip_fraction", "clip_low", "clip_high", "truncated_frac",
        "entropy", "reward_std", "frac_zero_std",
    } <= grpo  # fmt: skip
    assert any(name.startswith("reward_component_mean{") for name in grpo)
