"""The tasks of the corpus, with tuned hyperparameters."""

from __future__ import annotations

from corpus.control_task import (
    SMALL_OWN_LOGS,
    ControlTask,
    off_policy,
    on_policy,
    own,
    value_based,
)
from corpus.unseen_tasks import (
    FIFTH_LAST_TASKS,
    FIRST_LAST_TASKS,
    FOURTH_LAST_TASKS,
    LAST_TASKS,
    LATER_TASKS,
    SECOND_LAST_TASKS,
    SHAPE_TASKS,
    THIRD_LAST_TASKS,
)

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


FAMILY_TASKS = (
    on_policy(
        "corridor-a2c", "Corridor-v0", "tune", 60_000, log_interval=20, algorithm="A2C",
        options={"n_steps": 5, "learning_rate": 7e-4},
    ),
    on_policy(
        "cartpole-trpo", "CartPole-v1", "tune", 60_000, algorithm="TRPO",
        options={"n_steps": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    on_policy(
        "corridor-recurrent", "Corridor-v0", "tune", 30_000, algorithm="RecurrentPPO",
        options={
            "n_steps": 64, "batch_size": 512, "n_epochs": 5, "learning_rate": 3e-3,
            "policy_kwargs": {"lstm_hidden_size": 16},
        },
    ),
    on_policy(
        "corridor-maskable", "Corridor-v0", "tune", 40_000, algorithm="MaskablePPO",
        options={"n_steps": 64, "batch_size": 128, "learning_rate": 1e-3},
    ),
    on_policy(
        "lander-a2c", "Lander-v0", "check", 100_000, log_interval=20, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 1e-3, "ent_coef": 0.01},
    ),
    on_policy(
        "thermostat-trpo", "Thermostat-v0", "check", 50_000, normalize=True, algorithm="TRPO",
        options={"n_steps": 200, "learning_rate": 1e-3, "target_kl": 0.02, "batch_size": 200},
    ),
    on_policy(
        "recall-recurrent", "Recall-v0", "check", 30_000, algorithm="RecurrentPPO",
        options={
            "n_steps": 64, "batch_size": 512, "n_epochs": 5, "learning_rate": 3e-3,
            "policy_kwargs": {"lstm_hidden_size": 16},
        },
    ),
    on_policy(
        "ranking-maskable", "Ranking-v0", "check", 60_000, algorithm="MaskablePPO",
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    value_based("corridor-dqn", "Corridor-v0", "tune", 8_000, log_interval=4),
    value_based("inventory-dqn", "Inventory-v0", "tune", 7_000, log_interval=2),
    value_based("cartpole-qrdqn", "CartPole-v1", "tune", 10_000, log_interval=4, options={
        "gamma": 0.98, "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    value_based("frozenlake-dqn", "FrozenLake-v1", "tune", 9_000, log_interval=10),
    value_based("grid-dqn", "Grid-v0", "check", 8_000, log_interval=4),
    value_based("bandit-dqn", "Bandit-v0", "check", 6_000, log_interval=10),
    value_based("lander-qrdqn", "Lander-v0", "check", 9_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    off_policy(
        "pointmass-sac", "PointMass-v0", "tune", 5_000,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    off_policy("pointmass-td3", "PointMass-v0", "tune", 5_000),
    off_policy("pointmass-ddpg", "PointMass-v0", "tune", 5_000),
    off_policy(
        "inverted-pendulum-td3", "InvertedPendulum-v5", "tune", 6_000, log_interval=8,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    off_policy("pointmass-tqc", "PointMass-v0", "tune", 5_000),
    off_policy(
        "cruise-sac", "Cruise-v0", "check", 6_000,
        options={"learning_rate": 2e-3, "gradient_steps": 2},
    ),
    off_policy("cruise-ddpg", "Cruise-v0", "check", 6_000),
    off_policy("thermostat-td3", "Thermostat-v0", "check", 8_000),
    off_policy("thermostat-tqc", "Thermostat-v0", "check", 8_000),
    own("cartpole-own-ppo", "CartPole-v1", "tune", 30_000, n_steps=64),
    own("corridor-own-reinforce", "Corridor-v0", "tune", 25_000, n_steps=64, learning_rate=3e-3),
    own("inventory-own-dqn", "Inventory-v0", "tune", 16_000),
    own("lander-own-ppo", "Lander-v0", "check", 40_000, n_steps=64, ent_coef=0.01),
    own("bandit-own-reinforce", "Bandit-v0", "check", 25_000, n_steps=64, learning_rate=3e-3),
    own("grid-own-dqn", "Grid-v0", "check", 16_000),
)  # fmt: skip
"""Tasks beside PPO's: other on-policy algorithms, value-based, off-policy, and our own scripts."""

FURTHER_TASKS = (
    value_based("harvest-dqn", "Harvest-v0", "tune", 8_000, log_interval=4),
    value_based("betting-dqn", "Betting-v0", "tune", 7_000, log_interval=8),
    value_based("docking-qrdqn", "Docking-v0", "tune", 10_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    off_policy(
        "arm-sac", "Arm-v0", "tune", 6_000,
        options={"gradient_steps": 4, "ent_coef": "auto_0.1"},
    ),
    off_policy("arm-td3", "Arm-v0", "tune", 6_000, options={"gradient_steps": 2}),
    off_policy("arm-ddpg", "Arm-v0", "tune", 6_000),
    off_policy("mixing-sac", "Mixing-v0", "tune", 9_000),
    own("harvest-own-ppo", "Harvest-v0", "tune", 30_000, n_steps=64),
    own(
        "betting-own-reinforce", "Betting-v0", "tune", 25_000, SMALL_OWN_LOGS, n_steps=64,
        learning_rate=3e-3,
    ),
    own("maze-own-dqn", "Maze-v0", "tune", 16_000),
    own(
        "docking-own-ppo", "Docking-v0", "tune", 50_000, SMALL_OWN_LOGS, n_steps=64, ent_coef=0.01,
    ),
)  # fmt: skip
"""More *tune* tasks of the families in which a run shows little beside its reward."""

CONTROL_TASKS |= {
    task.name: task
    for task in (
        *FAMILY_TASKS, *FURTHER_TASKS, *LATER_TASKS, *FIRST_LAST_TASKS, *SHAPE_TASKS,
        *SECOND_LAST_TASKS, *THIRD_LAST_TASKS, *FOURTH_LAST_TASKS, *FIFTH_LAST_TASKS, *LAST_TASKS,
    )
}  # fmt: skip
