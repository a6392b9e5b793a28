"""A task of the corpus: an environment, and hyperparameters that learn it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ControlTask:
    """An environment and the hyperparameters with which `algorithm` learns it.

    `split` belongs to the environment: thresholds may be set on *tune* and are judged on *check*.
    """

    name: str
    environment: str
    split: str
    timesteps: int
    environments: int = 1
    normalize: bool = False
    linear: tuple[str, ...] = ()
    """hyperparameters annealed linearly to 0 over the run"""
    log_interval: int = 1
    options: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "PPO"
    producer: str = "sb3"
    """`sb3` (and sb3-contrib), or `own`: the script `corpus.own`"""
    logs: tuple[str, ...] = ("csv",)
    """ways of logging: a run takes the one at its seed, counted around"""

    @property
    def rollout(self) -> int:
        """Steps between two looks at whether a fault begins, over all environments."""
        usual = ROLLOUTS.get(self.algorithm, 1) if self.producer == "sb3" else 1
        return self.environments * int(self.options.get("n_steps", usual))

    def way_of_logging(self, seed: int) -> str:
        """How a run with this seed logs."""
        return self.logs[seed % len(self.logs)]


ROLLOUTS = {"PPO": 2048, "TRPO": 2048, "MaskablePPO": 2048, "RecurrentPPO": 128, "A2C": 5}
"""Stable-Baselines3's `n_steps`; what is not here collects few steps between its updates."""

ON_POLICY = frozenset(ROLLOUTS)

SB3_LOGS = ("csv", "tensorboard", "stdout", "csv", "monitor", "json", "tensorboard")
OWN_LOGS = ("colons", "events", "csv", "bars", "jsonl", "logging", "events")
SMALL_OWN_LOGS = tuple(way for way in OWN_LOGS if way != "events")
"""Without event files, which hold every episode: hundreds of kilobytes where these are short."""

OTHER_OWN_LOGS = ("episodes", "equals", "dict", "sheet", "records")
"""Further ways of the last part's scripts, with other names for the same figures."""


def on_policy(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
    """Eight environments, with PPO unless `algorithm` says otherwise."""
    return ControlTask(
        name, environment, split, steps, environments=8, logs=("csv", "tensorboard", "stdout"),
        **more,
    )  # fmt: skip


def value_based(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
    """DQN, or QR-DQN if the name says so."""
    usual: dict[str, Any] = {
        "learning_rate": 1e-3, "buffer_size": 20_000, "learning_starts": 500,
        "target_update_interval": 250, "exploration_fraction": 0.3, "train_freq": 4,
    }  # fmt: skip
    options = usual | more.pop("options", {})
    return ControlTask(
        name, environment, split, steps, algorithm="QRDQN" if "qrdqn" in name else "DQN",
        options=options, logs=SB3_LOGS, **more,
    )  # fmt: skip


def off_policy(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
    """The algorithm that the name ends with."""
    algorithm = name.split("-")[-1].upper()
    usual: dict[str, Any] = {
        "learning_rate": 3e-3, "buffer_size": 20_000, "learning_starts": 500, "batch_size": 64,
        "train_freq": 8, "gradient_steps": 1, "policy_kwargs": {"net_arch": [64, 64]},
    }  # fmt: skip
    if algorithm in ("TD3", "DDPG"):
        usual["action_noise"] = 0.1
    options = usual | more.pop("options", {})
    return ControlTask(
        name, environment, split, steps, algorithm=algorithm, options=options, logs=SB3_LOGS,
        **more,
    )  # fmt: skip


def own(
    name: str,
    environment: str,
    split: str,
    steps: int,
    logs: tuple[str, ...] = OWN_LOGS,
    **options: Any,
) -> ControlTask:
    """A run of `corpus.own`, with the algorithm that the name ends with."""
    algorithm = name.split("-")[-1].upper()
    usual = {"learning_rate": 1e-3, "ent_coef": 0.0, "total_steps": steps} | options
    return ControlTask(
        name, environment, split, steps, environments=8, options=usual, algorithm=algorithm,
        producer="own", logs=logs,
    )  # fmt: skip
