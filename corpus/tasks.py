"""What the corpus trains: tasks with tuned hyperparameters, and the order of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Task:
    """An environment and the hyperparameters with which PPO learns it.

    `split` belongs to the environment: thresholds may be set on *tune* and are judged on *check*.
    """

    name: str
    environment: str
    split: str
    timesteps: int
    environments: int = 1
    normalize: bool = False
    linear: tuple[str, ...] = ()
    """Hyperparameters that fall linearly to 0 over the run."""
    log_interval: int = 1
    ppo: dict[str, Any] = field(default_factory=dict)

    @property
    def rollout(self) -> int:
        """Steps between two updates, over all environments."""
        return self.environments * int(self.ppo.get("n_steps", 2048))


# From rl-baselines3-zoo's hyperparameters, with fewer steps where a task is learnt sooner.
TASKS = {
    task.name: task
    for task in (
        Task("cartpole", "CartPole-v1", "tune", 80_000),
        Task(
            "cartpole-zoo", "CartPole-v1", "tune", 100_000, environments=8,
            linear=("learning_rate", "clip_range"),
            ppo={
                "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98,
                "n_epochs": 20, "learning_rate": 1e-3, "clip_range": 0.2,
            },
        ),
        Task(
            "pendulum", "Pendulum-v1", "tune", 100_000, environments=4,
            ppo={
                "n_steps": 1024, "gamma": 0.9, "learning_rate": 1e-3, "use_sde": True,
                "sde_sample_freq": 4,
            },
        ),
        Task(
            "mountaincar", "MountainCarContinuous-v0", "tune", 20_000, normalize=True,
            log_interval=32,
            ppo={
                "n_steps": 8, "batch_size": 8, "gamma": 0.9999, "gae_lambda": 0.9,
                "learning_rate": 7.77e-5, "ent_coef": 0.00429, "clip_range": 0.1,
                "max_grad_norm": 5, "vf_coef": 0.19, "use_sde": True,
                "policy_kwargs": {"log_std_init": -3.29, "ortho_init": False},
            },
        ),
        Task(
            "acrobot", "Acrobot-v1", "check", 160_000, environments=16, normalize=True,
            ppo={"n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4},
        ),
        Task(
            "hopper", "Hopper-v5", "check", 80_000, normalize=True,
            ppo={"n_steps": 2048, "batch_size": 64, "gae_lambda": 0.95, "ent_coef": 0.0},
        ),
        Task(
            "lunarlander", "LunarLander-v3", "check", 200_000, environments=16,
            ppo={
                "n_steps": 256, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4,
                "ent_coef": 0.01,
            },
        ),
    )
}  # fmt: skip

START = (
    "lr-x100", "lr-x30", "lr-1e-8", "clip-off", "clip-off-lr-x10", "epochs-80",
    "entropy-punished", "entropy-bonus", "critic-untrained", "reward-x1000", "reward-zero",
    "reward-flipped", "observations-zero",
)  # fmt: skip
MIDWAY = (
    "lr-x100-midway", "reward-flipped-midway", "reward-nan-midway", "observations-zero-midway",
    "critic-reset-midway", "reward-x1000-midway",
)  # fmt: skip
MAIN = (
    "lr-x100", "lr-1e-8", "clip-off-lr-x10", "entropy-punished", "critic-untrained",
    "lr-x100-midway", "reward-nan-midway", "critic-reset-midway",
)  # fmt: skip
OTHERS = tuple(fault for fault in START + MIDWAY if fault not in MAIN)
SLOW = ("epochs-80",)  # eight times the work of a healthy run: on one task only

Wish = tuple[str, tuple[str, ...], tuple[int, ...]]
WISHES: tuple[Wish, ...] = (
    ("cartpole", ("none",), (1, 2, 3)),
    ("cartpole", MAIN, (11,)),
    ("pendulum", ("none",), (1, 2, 3)),
    ("pendulum", MAIN, (11,)),
    ("acrobot", ("none",), (1, 2, 3)),
    ("acrobot", MAIN, (11,)),
    ("hopper", ("none",), (1, 2, 3)),
    ("acrobot", ("reward-flipped-midway", "observations-zero", "entropy-bonus"), (11,)),
    ("cartpole", ("reward-flipped-midway", "entropy-bonus"), (11,)),
    ("pendulum", ("reward-x1000", "reward-flipped-midway", "observations-zero"), (11,)),
    ("acrobot", ("reward-zero", "reward-flipped", "observations-zero-midway"), (11,)),
    ("cartpole-zoo", ("none",), (1, 2)),
    ("lunarlander", ("none",), (1, 2)),
    ("cartpole-zoo", ("none",), (3,)),
    ("acrobot", OTHERS, (11,)),
    ("lunarlander", ("none",), (3,)),
    ("hopper", ("lr-x100", "lr-x100-midway", "critic-untrained", "entropy-punished"), (11,)),
    ("pendulum", OTHERS, (11,)),
    ("cartpole", ("reward-zero", "observations-zero-midway", "reward-x1000-midway"), (11,)),
    ("mountaincar", ("none",), (1, 2, 3)),
    ("lunarlander", ("lr-x100-midway", "critic-untrained", "reward-flipped-midway"), (11,)),
    ("acrobot", ("lr-x100", "critic-untrained", "reward-flipped-midway"), (12,)),
    ("pendulum", ("lr-x100-midway", "critic-reset-midway", "reward-flipped-midway"), (12,)),
    ("cartpole", OTHERS, (11,)),
    ("hopper", OTHERS, (11,)),
    ("lunarlander", MAIN, (11,)),
    ("acrobot", START + MIDWAY, (12,)),
    ("pendulum", START + MIDWAY, (12,)),
    ("cartpole", START + MIDWAY, (12,)),
)
"""Task, faults and seeds of every run; those that are needed first come first."""


def plan() -> Iterator[tuple[str, str, int]]:
    """Name every run (task, fault, seed) once, in the order of WISHES."""
    seen = set()
    for task, faults, seeds in WISHES:
        for run in ((task, fault, seed) for fault in faults for seed in seeds):
            slow = run[1] in SLOW and (run[0] != "acrobot" or run[2] != 11)
            if run not in seen and not slow:
                seen.add(run)
                yield run
