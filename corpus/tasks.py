"""The tasks of the corpus, with tuned hyperparameters, and the order of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
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


# rl-baselines3-zoo's hyperparameters, with fewer steps where a task is learnt sooner.
CONTROL_TASKS = {
    task.name: task
    for task in (
        ControlTask("cartpole", "CartPole-v1", "tune", 80_000),
        ControlTask(
            "cartpole-zoo", "CartPole-v1", "tune", 100_000, environments=8,
            linear=("learning_rate", "clip_range"),
            options={
                "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98,
                "n_epochs": 20, "learning_rate": 1e-3, "clip_range": 0.2,
            },
        ),
        ControlTask(
            "pendulum", "Pendulum-v1", "tune", 100_000, environments=4,
            options={
                "n_steps": 1024, "gamma": 0.9, "learning_rate": 1e-3, "use_sde": True,
                "sde_sample_freq": 4,
            },
        ),
        ControlTask(
            "mountaincar", "MountainCarContinuous-v0", "tune", 20_000, normalize=True,
            log_interval=32,
            options={
                "n_steps": 8, "batch_size": 8, "gamma": 0.9999, "gae_lambda": 0.9,
                "learning_rate": 7.77e-5, "ent_coef": 0.00429, "clip_range": 0.1,
                "max_grad_norm": 5, "vf_coef": 0.19, "use_sde": True,
                "policy_kwargs": {"log_std_init": -3.29, "ortho_init": False},
            },
        ),
        ControlTask(
            "acrobot", "Acrobot-v1", "check", 160_000, environments=16, normalize=True,
            options={"n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4},
        ),
        ControlTask(
            "hopper", "Hopper-v5", "check", 80_000, normalize=True,
            options={"n_steps": 2048, "batch_size": 64, "gae_lambda": 0.95, "ent_coef": 0.0},
        ),
        ControlTask(
            "lunarlander", "LunarLander-v3", "check", 200_000, environments=16,
            options={
                "n_steps": 256, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4,
                "ent_coef": 0.01,
            },
        ),
        ControlTask(
            "frozenlake", "FrozenLake-v1", "tune", 80_000, environments=8,
            options={"n_steps": 128, "ent_coef": 0.01},
        ),
        ControlTask(
            "mountaincar-discrete", "MountainCar-v0", "tune", 200_000, environments=16,
            normalize=True, log_interval=4,
            options={"n_steps": 16, "gae_lambda": 0.98, "n_epochs": 4, "ent_coef": 0.0},
        ),
        ControlTask(
            "inverted-pendulum", "InvertedPendulum-v5", "tune", 16_000, normalize=True,
            options={
                "n_steps": 32, "batch_size": 64, "gamma": 0.999, "learning_rate": 2.22425e-4,
                "ent_coef": 1.37976e-07, "clip_range": 0.4, "n_epochs": 5, "gae_lambda": 0.9,
                "max_grad_norm": 0.3, "vf_coef": 0.19816,
            },
        ),
        ControlTask(
            "halfcheetah", "HalfCheetah-v5", "tune", 50_000, normalize=True,
            options={
                "n_steps": 512, "batch_size": 64, "gamma": 0.98, "learning_rate": 2.0633e-05,
                "ent_coef": 0.000401762, "clip_range": 0.1, "n_epochs": 20, "gae_lambda": 0.92,
                "max_grad_norm": 0.8, "vf_coef": 0.58096,
                "policy_kwargs": {
                    "log_std_init": -2, "ortho_init": False,
                    "net_arch": {"pi": [256, 256], "vf": [256, 256]},
                },
            },
        ),
        ControlTask(
            "reacher", "Reacher-v5", "tune", 80_000, environments=4, normalize=True,
            options={"n_steps": 256, "batch_size": 64, "gamma": 0.95, "gae_lambda": 0.95},
        ),
        ControlTask(
            "swimmer", "Swimmer-v5", "tune", 80_000, environments=4, normalize=True,
            options={
                "n_steps": 1024, "batch_size": 256, "gamma": 0.9999, "gae_lambda": 0.98,
                "learning_rate": 6e-4,
            },
        ),
        ControlTask(
            "cartpole-a2c", "CartPole-v1", "tune", 120_000, environments=8, log_interval=100,
            options={"n_steps": 5, "learning_rate": 7e-4}, algorithm="A2C",
        ),
        ControlTask(
            "cartpole-dqn", "CartPole-v1", "tune", 40_000, log_interval=4, algorithm="DQN",
            options={
                "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000,
                "learning_starts": 1000, "target_update_interval": 10, "train_freq": 256,
                "gradient_steps": 128, "exploration_fraction": 0.16,
                "exploration_final_eps": 0.04, "policy_kwargs": {"net_arch": [256, 256]},
            },
        ),
        ControlTask(
            "pendulum-sac", "Pendulum-v1", "tune", 8_000, log_interval=1, algorithm="SAC",
            options={"learning_rate": 1e-3},
        ),
    )
}  # fmt: skip


def _on_policy(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
    return ControlTask(
        name, environment, split, steps, environments=8, logs=("csv", "tensorboard", "stdout"),
        **more,
    )  # fmt: skip


def _value_based(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
    usual: dict[str, Any] = {
        "learning_rate": 1e-3, "buffer_size": 20_000, "learning_starts": 500,
        "target_update_interval": 250, "exploration_fraction": 0.3, "train_freq": 4,
    }  # fmt: skip
    options = usual | more.pop("options", {})
    return ControlTask(
        name, environment, split, steps, algorithm="QRDQN" if "qrdqn" in name else "DQN",
        options=options, logs=SB3_LOGS, **more,
    )  # fmt: skip


def _off_policy(name: str, environment: str, split: str, steps: int, **more: Any) -> ControlTask:
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


def _own(
    name: str,
    environment: str,
    split: str,
    steps: int,
    logs: tuple[str, ...] = OWN_LOGS,
    **options: Any,
) -> ControlTask:
    algorithm = name.split("-")[-1].upper()
    usual = {"learning_rate": 1e-3, "ent_coef": 0.0, "total_steps": steps} | options
    return ControlTask(
        name, environment, split, steps, environments=8, options=usual, algorithm=algorithm,
        producer="own", logs=logs,
    )  # fmt: skip


FAMILY_TASKS = (
    _on_policy(
        "corridor-a2c", "Corridor-v0", "tune", 60_000, log_interval=20, algorithm="A2C",
        options={"n_steps": 5, "learning_rate": 7e-4},
    ),
    _on_policy(
        "cartpole-trpo", "CartPole-v1", "tune", 60_000, algorithm="TRPO",
        options={"n_steps": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    _on_policy(
        "corridor-recurrent", "Corridor-v0", "tune", 30_000, algorithm="RecurrentPPO",
        options={
            "n_steps": 64, "batch_size": 512, "n_epochs": 5, "learning_rate": 3e-3,
            "policy_kwargs": {"lstm_hidden_size": 16},
        },
    ),
    _on_policy(
        "corridor-maskable", "Corridor-v0", "tune", 40_000, algorithm="MaskablePPO",
        options={"n_steps": 64, "batch_size": 128, "learning_rate": 1e-3},
    ),
    _on_policy(
        "lander-a2c", "Lander-v0", "check", 100_000, log_interval=20, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 1e-3, "ent_coef": 0.01},
    ),
    _on_policy(
        "thermostat-trpo", "Thermostat-v0", "check", 50_000, normalize=True, algorithm="TRPO",
        options={"n_steps": 200, "learning_rate": 1e-3, "target_kl": 0.02, "batch_size": 200},
    ),
    _on_policy(
        "recall-recurrent", "Recall-v0", "check", 30_000, algorithm="RecurrentPPO",
        options={
            "n_steps": 64, "batch_size": 512, "n_epochs": 5, "learning_rate": 3e-3,
            "policy_kwargs": {"lstm_hidden_size": 16},
        },
    ),
    _on_policy(
        "ranking-maskable", "Ranking-v0", "check", 60_000, algorithm="MaskablePPO",
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    _value_based("corridor-dqn", "Corridor-v0", "tune", 8_000, log_interval=4),
    _value_based("inventory-dqn", "Inventory-v0", "tune", 7_000, log_interval=2),
    _value_based("cartpole-qrdqn", "CartPole-v1", "tune", 10_000, log_interval=4, options={
        "gamma": 0.98, "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    _value_based("frozenlake-dqn", "FrozenLake-v1", "tune", 9_000, log_interval=10),
    _value_based("grid-dqn", "Grid-v0", "check", 8_000, log_interval=4),
    _value_based("bandit-dqn", "Bandit-v0", "check", 6_000, log_interval=10),
    _value_based("lander-qrdqn", "Lander-v0", "check", 9_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    _off_policy(
        "pointmass-sac", "PointMass-v0", "tune", 5_000,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    _off_policy("pointmass-td3", "PointMass-v0", "tune", 5_000),
    _off_policy("pointmass-ddpg", "PointMass-v0", "tune", 5_000),
    _off_policy(
        "inverted-pendulum-td3", "InvertedPendulum-v5", "tune", 6_000, log_interval=8,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    _off_policy("pointmass-tqc", "PointMass-v0", "tune", 5_000),
    _off_policy(
        "cruise-sac", "Cruise-v0", "check", 6_000,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    _off_policy("cruise-ddpg", "Cruise-v0", "check", 6_000),
    _off_policy("thermostat-td3", "Thermostat-v0", "check", 8_000),
    _off_policy("thermostat-tqc", "Thermostat-v0", "check", 8_000),
    _own("cartpole-own-ppo", "CartPole-v1", "tune", 30_000, n_steps=64),
    _own("corridor-own-reinforce", "Corridor-v0", "tune", 25_000, n_steps=64, learning_rate=3e-3),
    _own("inventory-own-dqn", "Inventory-v0", "tune", 16_000),
    _own("lander-own-ppo", "Lander-v0", "check", 40_000, n_steps=64, ent_coef=0.01),
    _own("bandit-own-reinforce", "Bandit-v0", "check", 25_000, n_steps=64, learning_rate=3e-3),
    _own("grid-own-dqn", "Grid-v0", "check", 16_000),
)  # fmt: skip
"""Tasks beside PPO's: other on-policy algorithms, value-based, off-policy, and our own scripts."""

LAST_TASKS = (
    _on_policy(
        "queue-ppo", "Queue-v0", "last", 40_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    _on_policy(
        "tank-ppo", "Tank-v0", "last", 40_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    _on_policy(
        "windy-a2c", "Windy-v0", "last", 60_000, log_interval=8, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    _on_policy(
        "queue-trpo", "Queue-v0", "last", 40_000, algorithm="TRPO",
        options={"n_steps": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    _value_based("windy-dqn", "Windy-v0", "last", 8_000, log_interval=4),
    _value_based("windy-qrdqn", "Windy-v0", "last", 8_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    _value_based("grid-last-dqn", "Grid-v0", "last", 8_000, log_interval=4),
    _value_based("corridor-last-dqn", "Corridor-v0", "last", 8_000, log_interval=4),
    _off_policy("tank-sac", "Tank-v0", "last", 6_000),
    _off_policy("thermostat-last-td3", "Thermostat-v0", "last", 8_000),
    _off_policy("tank-tqc", "Tank-v0", "last", 6_000),
    _off_policy("pointmass-last-ddpg", "PointMass-v0", "last", 5_000),
    _own("queue-own-ppo", "Queue-v0", "last", 40_000, n_steps=64),
    _own("windy-own-reinforce", "Windy-v0", "last", 40_000, n_steps=64, learning_rate=3e-3),
    _own("windy-own-dqn", "Windy-v0", "last", 16_000),
    _own("windy-own-ppo", "Windy-v0", "last", 40_000, n_steps=64),
)  # fmt: skip
"""Tasks of the last part: Queue, Windy and Tank stand nowhere else."""

FURTHER_TASKS = (
    _value_based("harvest-dqn", "Harvest-v0", "tune", 8_000, log_interval=4),
    _value_based("betting-dqn", "Betting-v0", "tune", 7_000, log_interval=8),
    _value_based("docking-qrdqn", "Docking-v0", "tune", 10_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    _off_policy(
        "arm-sac", "Arm-v0", "tune", 6_000,
        options={"gradient_steps": 4, "ent_coef": "auto_0.1"},
    ),
    _off_policy("arm-td3", "Arm-v0", "tune", 6_000, options={"gradient_steps": 2}),
    _off_policy("arm-ddpg", "Arm-v0", "tune", 6_000),
    _off_policy("mixing-sac", "Mixing-v0", "tune", 9_000),
    _own("harvest-own-ppo", "Harvest-v0", "tune", 30_000, n_steps=64),
    _own(
        "betting-own-reinforce", "Betting-v0", "tune", 25_000, SMALL_OWN_LOGS, n_steps=64,
        learning_rate=3e-3,
    ),
    _own("maze-own-dqn", "Maze-v0", "tune", 16_000),
    _own(
        "docking-own-ppo", "Docking-v0", "tune", 50_000, SMALL_OWN_LOGS, n_steps=64, ent_coef=0.01,
    ),
)  # fmt: skip
"""More *tune* tasks of the families in which a run shows little beside its reward."""

LATER_TASKS = (
    _off_policy("kiln-sac", "Kiln-v0", "tune", 6_000, options={"learning_rate": 2e-3}),
    _off_policy("kiln-td3", "Kiln-v0", "tune", 6_000),
    _off_policy("kiln-ddpg", "Kiln-v0", "tune", 6_000),
    _off_policy(
        "glider-sac", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    _off_policy(
        "glider-td3", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    _off_policy(
        "glider-tqc", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3},
    ),
    _own("foraging-own-dqn", "Foraging-v0", "tune", 16_000),
    _own("foraging-own-ppo", "Foraging-v0", "tune", 40_000, n_steps=64),
    _own("lift-own-ppo", "Lift-v0", "tune", 40_000, n_steps=64),
    _own("lift-own-reinforce", "Lift-v0", "tune", 40_000, n_steps=64, learning_rate=3e-3),
    _value_based("lift-dqn", "Lift-v0", "tune", 8_000, log_interval=4),
)  # fmt: skip
"""*Tune* tasks that the rules met when they had been made; the README says how they did."""

CONTROL_TASKS |= {
    task.name: task for task in (*FAMILY_TASKS, *FURTHER_TASKS, *LATER_TASKS, *LAST_TASKS)
}


START_FAULTS = (
    "lr-x100", "lr-x30", "lr-1e-8", "clip-off", "clip-off-lr-x10", "epochs-80",
    "entropy-punished", "entropy-bonus", "critic-untrained", "reward-x1000", "reward-zero",
    "reward-flipped", "observations-zero",
)  # fmt: skip
MIDWAY_FAULTS = (
    "lr-x100-midway", "reward-flipped-midway", "reward-nan-midway", "observations-zero-midway",
    "critic-reset-midway", "reward-x1000-midway",
)  # fmt: skip
MAIN_FAULTS = (
    "lr-x100", "lr-1e-8", "clip-off-lr-x10", "entropy-punished", "critic-untrained",
    "lr-x100-midway", "reward-nan-midway", "critic-reset-midway",
)  # fmt: skip
CONFIGURATION_FAULTS = (
    "gamma-0", "gradient-tiny", "clip-tiny", "value-clip-tiny", "advantages-raw", "rollout-tiny",
)  # fmt: skip
BROKEN_PART_FAULTS = (
    "observations-x1e4", "reward-noise", "lr-0-midway", "policy-frozen-midway",
    "actions-random-midway", "noise-raised-midway",
)  # fmt: skip
OTHER_FAULTS = tuple(fault for fault in START_FAULTS + MIDWAY_FAULTS if fault not in MAIN_FAULTS)
SLOW_FAULTS = ("epochs-80",)  # eight times the work of a healthy run, so on one task only

PlannedRun = tuple[str, str, int]
"""Task, fault, seed."""

PlannedRuns = tuple[str, tuple[str, ...], tuple[int, ...]]
RunPlan = Iterable[PlannedRuns]
RUN_PLAN: tuple[PlannedRuns, ...] = (
    ("cartpole", ("none",), (1, 2, 3)),
    ("cartpole", MAIN_FAULTS, (11,)),
    ("pendulum", ("none",), (1, 2, 3)),
    ("pendulum", MAIN_FAULTS, (11,)),
    ("acrobot", ("none",), (1, 2, 3)),
    ("acrobot", MAIN_FAULTS, (11,)),
    ("hopper", ("none",), (1, 2, 3)),
    ("cartpole-zoo", ("none",), (1, 2, 3)),
    ("mountaincar", ("none",), (1,)),
    ("frozenlake", ("none",), (1,)),
    ("inverted-pendulum", ("none",), (1,)),
    ("mountaincar-discrete", ("none",), (1,)),
    ("cartpole-dqn", ("none",), (1, 2, 3)),
    ("cartpole-a2c", ("none",), (1, 2, 3)),
    ("halfcheetah", ("none",), (1,)),
    ("reacher", ("none",), (1,)),
    ("cartpole", CONFIGURATION_FAULTS, (31,)),
    ("cartpole", BROKEN_PART_FAULTS, (31,)),
    ("acrobot", ("lr-x30", "clip-off", "reward-x1000", "reward-x1000-midway"), (11,)),
    ("mountaincar", ("none",), (2, 3)),
    ("lunarlander", ("none",), (1,)),
    ("frozenlake", ("entropy-bonus", "reward-flipped-midway", "observations-zero-midway"), (11,)),
    ("mountaincar-discrete", ("entropy-bonus", "reward-flipped-midway", "reward-flipped"), (11,)),
    ("cartpole-zoo", ("entropy-bonus", "reward-flipped-midway", "lr-x100-midway"), (11,)),
    ("pendulum", ("lr-0-midway", "actions-random-midway", "noise-raised-midway"), (31,)),
    ("frozenlake", ("none",), (2,)),
    ("hopper", ("lr-x100-midway", "critic-untrained"), (11,)),
    ("lunarlander", ("none",), (2,)),
    ("acrobot", ("lr-x100", "critic-untrained", "reward-flipped-midway"), (12,)),
    ("lunarlander", ("lr-x100-midway", "critic-untrained", "reward-flipped-midway"), (11,)),
    ("mountaincar-discrete", ("none",), (2,)),
    ("lunarlander", ("none",), (3,)),
    ("acrobot", ("gradient-tiny", "actions-random-midway", "gamma-0"), (31,)),
    ("acrobot", ("epochs-80",), (11,)),
    ("pendulum", ("gamma-0", "value-clip-tiny", "advantages-raw", "reward-noise"), (31,)),
    ("reacher", ("none",), (2,)),
    ("reacher", ("reward-flipped-midway", "entropy-bonus"), (11,)),
    ("swimmer", ("none",), (1,)),
    ("pendulum-sac", ("none",), (1, 2, 3)),
    ("inverted-pendulum", ("none",), (2,)),
    ("hopper", ("lr-x100", "entropy-punished"), (11,)),
    ("halfcheetah", ("none",), (2,)),
    ("mountaincar-discrete", ("observations-zero-midway",), (11,)),
    ("acrobot", START_FAULTS + MIDWAY_FAULTS, (12,)),
    ("pendulum", (*CONFIGURATION_FAULTS, *BROKEN_PART_FAULTS), (31,)),
    ("pendulum", START_FAULTS + MIDWAY_FAULTS, (11, 12)),
    ("cartpole", START_FAULTS + MIDWAY_FAULTS, (11, 12)),
    ("hopper", OTHER_FAULTS, (11,)),
)
"""Task, faults and seeds of every run, in order of priority."""


MIDWAY_ANYWHERE = (
    "reward-flipped-midway", "weights-reloaded-midway", "lr-x100-midway",
    "observations-zero-midway", "actions-random-midway", "reward-nan-midway",
)  # fmt: skip
ANYWHERE = (
    "lr-x100", "reward-flipped", "lr-1e-8", "observations-zero", "loss-reversed", "reward-zero",
    "gamma-0", "reward-x1000",
)  # fmt: skip
ON_POLICY_FAULTS = (*ANYWHERE, "entropy-bonus", "critic-untrained", *MIDWAY_ANYWHERE)
TRUST_REGION_FAULTS = (
    *(fault for fault in ANYWHERE if not fault.startswith("lr-")),
    "kl-limit-x500", "kl-limit-tiny",
    *(fault for fault in MIDWAY_ANYWHERE if not fault.startswith("lr-")),
)  # fmt: skip
VALUE_FAULTS = (
    *ANYWHERE, "epsilon-stuck", "collecting-only", "target-frozen", *MIDWAY_ANYWHERE,
    "epsilon-back-midway",
)  # fmt: skip
ACTOR_CRITIC_FAULTS = (
    *ANYWHERE, "collecting-only", "target-frozen", "target-copied", "critic-frozen",
    *MIDWAY_ANYWHERE,
)  # fmt: skip
FAULTS_BY_ALGORITHM = {
    "PPO": (*ON_POLICY_FAULTS, "clip-off-lr-x10"),
    "A2C": ON_POLICY_FAULTS,
    "TRPO": TRUST_REGION_FAULTS,
    "RecurrentPPO": ON_POLICY_FAULTS,
    "MaskablePPO": ON_POLICY_FAULTS,
    "DQN": VALUE_FAULTS,
    "QRDQN": VALUE_FAULTS,
    "SAC": (*ACTOR_CRITIC_FAULTS, "ent-coef-50", "target-entropy-5"),
    "TQC": (*ACTOR_CRITIC_FAULTS, "target-entropy-5", "ent-coef-50"),
    "TD3": (*ACTOR_CRITIC_FAULTS, "action-noise-5"),
    "DDPG": (*ACTOR_CRITIC_FAULTS, "action-noise-5"),
}
OWN_FAULTS = {
    "PPO": (*ON_POLICY_FAULTS, "clip-off-lr-x10"),
    "REINFORCE": tuple(fault for fault in ON_POLICY_FAULTS if fault != "critic-untrained"),
    "DQN": tuple(fault for fault in VALUE_FAULTS if fault != "epsilon-back-midway"),
}


FURTHER_FAULTS = {
    "DQN": (
        "lr-x0.001", "epsilon-short", "observations-x1e4", "reward-one", "reward-noise", "lr-x30",
    ),
    "SAC": (
        "lr-x0.001", "actions-weak", "observations-x1e4", "reward-one", "lr-0-midway", "lr-x30",
    ),
    "PPO": ("lr-x0.001", "reward-one", "observations-x1e4", "lr-0-midway"),
}  # fmt: skip
"""Faults of `FURTHER_TASKS` only, by the algorithm that stands for its family."""

REPRESENTED_BY = {"QRDQN": "DQN", "TD3": "SAC", "DDPG": "SAC", "TQC": "SAC", "REINFORCE": "PPO"}


def further_faults(task: ControlTask) -> tuple[str, ...]:
    """The faults of one of `FURTHER_TASKS`: the usual ones of its algorithm, and new ones."""
    named = REPRESENTED_BY.get(task.algorithm, task.algorithm)
    return (*faults_of(task), *FURTHER_FAULTS[named])


def faults_of(task: ControlTask) -> tuple[str, ...]:
    """The faults that a task can have."""
    own = task.producer == "own"
    return (OWN_FAULTS if own else FAULTS_BY_ALGORITHM)[task.algorithm]


def family_runs(
    tasks: Iterable[ControlTask],
    seeds: tuple[int, ...],
    share: int,
    faults: Callable[[ControlTask], tuple[str, ...]] = faults_of,
    first: int = 0,
) -> RunPlan:
    """Healthy runs with these seeds, and each task's share (one in `share`) of its faults.

    Tasks of one algorithm take turns, so that together they have all faults; a fault's seed is 11
    plus its place in the list, so that the ways of logging take turns too. `first` is the share of
    the first task.
    """
    for number, task in enumerate(tasks, first):
        yield task.name, ("none",), seeds
        for place, fault in list(enumerate(faults(task)))[number % share :: share]:
            yield task.name, (fault,), (11 + place,)


def all_planned() -> RunPlan:
    """The families in turns, so that each gets its share of the time; then `RUN_PLAN`."""
    plans: list[RunPlan] = []
    for split in ("tune", "check"):
        tasks = [task for task in FAMILY_TASKS if task.split == split]
        own = [task for task in tasks if task.producer == "own"]
        on_policy = [task for task in tasks if task.algorithm in ON_POLICY and task not in own]
        collecting = [task for task in tasks if task not in own and task not in on_policy]
        plans += [
            family_runs(collecting, (1, 2, 3, 4), 3),
            family_runs(own, (1, 2, 3, 4, 5), 2),
            family_runs(on_policy, (1, 2), 4),
        ]
    plans += [
        family_runs(
            [task for task in FURTHER_TASKS if (task.producer == "own") == own],
            (1, 2, 3), 3 if own else 2, further_faults,
        )
        for own in (False, True)
    ]  # fmt: skip
    plans += [family_runs(LATER_TASKS, (1, 2, 3), 3, further_faults, first) for first in (0, 1)]
    for turn in zip_longest(*plans):
        yield from (each for each in turn if each is not None)
    yield from RUN_PLAN


def planned_runs() -> Iterator[PlannedRun]:
    """Every run (task, fault, seed) once, in order of priority."""
    seen = set()
    for task, faults, seeds in all_planned():
        for run in ((task, fault, seed) for fault in faults for seed in seeds):
            slow = run[1] in SLOW_FAULTS and (run[0] != "acrobot" or run[2] not in (11, 12))
            if run not in seen and not slow:
                seen.add(run)
                yield run
