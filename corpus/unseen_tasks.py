"""Tasks that the rules met when they had been made."""

from __future__ import annotations

from corpus.control_task import (
    OTHER_OWN_LOGS,
    OWN_LOGS,
    SMALL_OWN_LOGS,
    off_policy,
    on_policy,
    own,
    value_based,
)

LATER_TASKS = (
    off_policy("kiln-sac", "Kiln-v0", "tune", 6_000, options={"learning_rate": 2e-3}),
    off_policy("kiln-td3", "Kiln-v0", "tune", 6_000),
    off_policy("kiln-ddpg", "Kiln-v0", "tune", 6_000),
    off_policy(
        "glider-sac", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    off_policy(
        "glider-td3", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    off_policy(
        "glider-tqc", "Glider-v0", "tune", 7_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3},
    ),
    own("foraging-own-dqn", "Foraging-v0", "tune", 16_000),
    own("foraging-own-ppo", "Foraging-v0", "tune", 40_000, n_steps=64),
    own("lift-own-ppo", "Lift-v0", "tune", 40_000, n_steps=64),
    own("lift-own-reinforce", "Lift-v0", "tune", 40_000, n_steps=64, learning_rate=3e-3),
    value_based("lift-dqn", "Lift-v0", "tune", 8_000, log_interval=4),
)  # fmt: skip
"""*Tune* tasks that the rules met when they had been made; the README says how they did."""

FIRST_LAST_TASKS = (
    on_policy(
        "queue-ppo", "Queue-v0", "tune", 40_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "tank-ppo", "Tank-v0", "tune", 40_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "windy-a2c", "Windy-v0", "tune", 60_000, log_interval=8, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    on_policy(
        "queue-trpo", "Queue-v0", "tune", 40_000, algorithm="TRPO",
        options={"n_steps": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    value_based("windy-dqn", "Windy-v0", "tune", 8_000, log_interval=4),
    value_based("windy-qrdqn", "Windy-v0", "tune", 8_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    value_based("grid-again-dqn", "Grid-v0", "check", 8_000, log_interval=4),
    value_based("corridor-again-dqn", "Corridor-v0", "tune", 8_000, log_interval=4),
    off_policy("tank-sac", "Tank-v0", "tune", 6_000),
    off_policy("thermostat-again-td3", "Thermostat-v0", "check", 8_000),
    off_policy("tank-tqc", "Tank-v0", "tune", 6_000),
    off_policy("pointmass-again-ddpg", "PointMass-v0", "tune", 5_000),
    own("queue-own-ppo", "Queue-v0", "tune", 40_000, n_steps=64),
    own("windy-own-reinforce", "Windy-v0", "tune", 40_000, n_steps=64, learning_rate=3e-3),
    own("windy-own-dqn", "Windy-v0", "tune", 16_000),
    own("windy-own-ppo", "Windy-v0", "tune", 40_000, n_steps=64),
)  # fmt: skip
"""The tasks of the first last part, before it was judged; now in *tune* and *check*."""

SHAPE_TASKS = (
    on_policy(
        "beam-ppo", "Beam-v0", "tune", 60_000,
        options={"n_steps": 256, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "ladder-ppo", "Ladder-v0", "tune", 60_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "prospect-a2c", "Prospect-v0", "tune", 60_000, log_interval=8, algorithm="A2C",
        normalize=True, options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    on_policy(
        "ferry-ppo", "Ferry-v0", "tune", 40_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    value_based("ladder-dqn", "Ladder-v0", "tune", 10_000, log_interval=8),
    value_based("ferry-qrdqn", "Ferry-v0", "tune", 8_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10}, "gamma": 0.9,
    }),
    value_based("ferry-dqn", "Ferry-v0", "tune", 8_000, log_interval=4, options={"gamma": 0.9}),
    off_policy(
        "beam-sac", "Beam-v0", "tune", 8_000, options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    off_policy(
        "beam-td3", "Beam-v0", "tune", 8_000, options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    own("ferry-own-ppo", "Ferry-v0", "tune", 40_000, n_steps=64),
    own(
        "ladder-own-reinforce", "Ladder-v0", "tune", 50_000, SMALL_OWN_LOGS, n_steps=64,
        learning_rate=3e-3,
    ),
    own("ladder-own-dqn", "Ladder-v0", "tune", 16_000, SMALL_OWN_LOGS),
)  # fmt: skip
"""*Tune* tasks of other shapes: a curriculum, good from the start, heavy tails, falls."""

SECOND_LAST_TASKS = (
    on_policy(
        "cards-ppo", "Cards-v0", "tune", 60_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "patrol-ppo", "Patrol-v0", "check", 60_000,
        options={"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3},
    ),
    on_policy(
        "cliff-a2c", "Cliff-v0", "tune", 60_000, log_interval=8, algorithm="A2C",
        normalize=True, options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    on_policy(
        "crane-trpo", "Crane-v0", "tune", 50_000, algorithm="TRPO",
        options={"n_steps": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    value_based("patrol-dqn", "Patrol-v0", "check", 12_000, log_interval=2),
    value_based("cliff-dqn", "Cliff-v0", "tune", 10_000, log_interval=4),
    value_based("cliff-qrdqn", "Cliff-v0", "tune", 10_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    value_based("cards-dqn", "Cards-v0", "tune", 10_000, log_interval=80),
    off_policy("crane-sac", "Crane-v0", "tune", 8_000, options={"gradient_steps": 2}),
    off_policy(
        "crane-td3", "Crane-v0", "tune", 8_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3, "action_noise": 0.3},
    ),
    off_policy(
        "double-pendulum-tqc", "InvertedDoublePendulum-v5", "check", 8_000, log_interval=4,
        options={"gradient_steps": 2, "learning_rate": 1e-3},
    ),
    off_policy(
        "double-pendulum-ddpg", "InvertedDoublePendulum-v5", "check", 8_000, log_interval=4,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    own("patrol-own-ppo", "Patrol-v0", "check", 60_000, n_steps=64),
    own("cliff-own-dqn", "Cliff-v0", "tune", 20_000),
    own("cliff-own-ppo", "Cliff-v0", "tune", 60_000, n_steps=64, ent_coef=0.01),
    own(
        "cards-own-reinforce", "Cards-v0", "tune", 60_000, SMALL_OWN_LOGS, n_steps=64,
        learning_rate=3e-3,
    ),
)  # fmt: skip
"""The tasks of the second last part, before it was judged; now in *tune* and *check*."""

THIRD_LAST_TASKS = (
    on_policy(
        "bridge-ppo", "Bridge-v0", "tune", 30_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 5, "learning_rate": 2e-3},
    ),
    on_policy(
        "farm-ppo", "Farm-v0", "tune", 40_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 8, "learning_rate": 2e-3},
    ),
    on_policy(
        "sorting-a2c", "Sorting-v0", "tune", 40_000, log_interval=8, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    on_policy(
        "sailing-trpo", "Sailing-v0", "check", 30_000, algorithm="TRPO",
        options={"n_steps": 80, "learning_rate": 1e-3, "target_kl": 0.02},
    ),
    value_based("catch-dqn", "Catch-v0", "check", 7_000, log_interval=10),
    value_based("sorting-dqn", "Sorting-v0", "tune", 8_000, log_interval=10),
    value_based("bridge-dqn", "Bridge-v0", "tune", 8_000, log_interval=4),
    value_based("catch-qrdqn", "Catch-v0", "check", 7_000, log_interval=10, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10},
    }),
    off_policy("sailing-tqc", "Sailing-v0", "check", 4_800),
    off_policy("berth-td3", "Berth-v0", "tune", 6_000),
    off_policy("sailing-ddpg", "Sailing-v0", "check", 5_000),
    off_policy(
        "pusher-sac", "Pusher-v5", "tune", 6_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    own("bridge-own-ppo", "Bridge-v0", "tune", 40_000, OTHER_OWN_LOGS, n_steps=64),
    own("catch-own-ppo", "Catch-v0", "check", 30_000, OTHER_OWN_LOGS, n_steps=64),
    own(
        "sorting-own-dqn", "Sorting-v0", "tune", 24_000, OTHER_OWN_LOGS, gamma=0.9,
        learning_rate=2e-3,
    ),
    own(
        "farm-own-reinforce", "Farm-v0", "tune", 60_000, OTHER_OWN_LOGS, n_steps=64,
        learning_rate=5e-3, gamma=0.7,
    ),
)  # fmt: skip
"""The tasks of the third last part, before it was judged; now in *tune* and *check*."""

FOURTH_LAST_TASKS = (
    on_policy(
        "typing-ppo", "Typing-v0", "tune", 30_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 5, "learning_rate": 2e-3},
    ),
    on_policy(
        "delivery-ppo", "Delivery-v0", "tune", 60_000,
        options={"n_steps": 128, "batch_size": 256, "n_epochs": 8, "learning_rate": 2e-3},
    ),
    on_policy(
        "market-a2c", "Market-v0", "tune", 40_000, log_interval=8, algorithm="A2C",
        normalize=True, options={"n_steps": 16, "learning_rate": 1e-3},
    ),
    on_policy(
        "dam-trpo", "Dam-v0", "tune", 40_000, algorithm="TRPO", normalize=True,
        options={"n_steps": 96, "learning_rate": 1e-3, "target_kl": 0.02},
    ),
    value_based("parking-dqn", "Parking-v0", "tune", 8_000, log_interval=10),
    value_based("delivery-dqn", "Delivery-v0", "tune", 9_000, log_interval=2),
    value_based("market-dqn", "Market-v0", "tune", 7_000, log_interval=2, options={"gamma": 0.9}),
    value_based("typing-qrdqn", "Typing-v0", "tune", 7_000, log_interval=4, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10}, "gamma": 0.9,
    }),
    off_policy("dam-sac", "Dam-v0", "tune", 6_000, options={"gradient_steps": 2}),
    off_policy(
        "drone-td3", "Drone-v0", "tune", 6_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3, "action_noise": 0.3},
    ),
    off_policy(
        "drone-ddpg", "Drone-v0", "tune", 6_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3, "action_noise": 0.3},
    ),
    off_policy(
        "walker-tqc", "Walker2d-v5", "tune", 5_000,
        options={"gradient_steps": 4, "learning_rate": 1e-3},
    ),
    own("delivery-own-ppo", "Delivery-v0", "tune", 60_000, OTHER_OWN_LOGS, n_steps=64),
    own("parking-own-ppo", "Parking-v0", "tune", 40_000, OWN_LOGS, n_steps=64),
    own("typing-own-dqn", "Typing-v0", "tune", 16_000, OTHER_OWN_LOGS, gamma=0.9),
    own(
        "market-own-reinforce", "Market-v0", "tune", 60_000, OTHER_OWN_LOGS, n_steps=64,
        learning_rate=3e-3, gamma=0.7,
    ),
)  # fmt: skip
"""The tasks of the fourth last part, before it was judged; now in *tune*."""

FIFTH_LAST_TASKS = (
    on_policy(
        "balance-ppo", "Balance-v0", "last", 40_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 6, "learning_rate": 2e-3},
    ),
    on_policy(
        "crossing-ppo", "Crossing-v0", "last", 40_000, normalize=True,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 5, "learning_rate": 2e-3},
    ),
    on_policy(
        "dodge-a2c", "Dodge-v0", "last", 40_000, log_interval=8, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 2e-3},
    ),
    on_policy(
        "battery-trpo", "Battery-v0", "last", 40_000, algorithm="TRPO",
        options={"n_steps": 96, "learning_rate": 1e-3, "target_kl": 0.02},
    ),
    value_based("balance-dqn", "Balance-v0", "last", 8_000, log_interval=4),
    value_based("auction-dqn", "Auction-v0", "last", 7_000, log_interval=4, options={"gamma": 0.5}),
    value_based("crossing-dqn", "Crossing-v0", "last", 9_000, log_interval=2, options={
        "gamma": 0.9,
    }),
    value_based("dodge-qrdqn", "Dodge-v0", "last", 8_000, log_interval=10, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10}, "gamma": 0.9,
    }),
    off_policy("battery-sac", "Battery-v0", "last", 6_000, options={"gradient_steps": 3}),
    off_policy(
        "steering-td3", "Steering-v0", "last", 5_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3, "action_noise": 0.2},
    ),
    off_policy(
        "steering-ddpg", "Steering-v0", "last", 5_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3, "action_noise": 0.2},
    ),
    off_policy(
        "steering-tqc", "Steering-v0", "last", 5_000,
        options={"gradient_steps": 3, "learning_rate": 2e-3},
    ),
    own("balance-own-ppo", "Balance-v0", "last", 40_000, OWN_LOGS, n_steps=64),
    own("dodge-own-ppo", "Dodge-v0", "last", 40_000, OTHER_OWN_LOGS, n_steps=64),
    own("auction-own-reinforce", "Auction-v0", "last", 60_000, OTHER_OWN_LOGS, n_steps=64,
        learning_rate=3e-3, gamma=0.5),
    own("crossing-own-dqn", "Crossing-v0", "last", 24_000, OWN_LOGS, gamma=0.9),
)  # fmt: skip
"""The tasks of the fifth last part; its runs were not kept."""

LAST_TASKS = (
    on_policy(
        "painting-ppo", "Painting-v0", "last", 40_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 6, "learning_rate": 2e-3},
    ),
    on_policy(
        "hunting-ppo", "Hunting-v0", "last", 40_000,
        options={"n_steps": 64, "batch_size": 256, "n_epochs": 5, "learning_rate": 2e-3},
    ),
    on_policy(
        "fishing-a2c", "Fishing-v0", "last", 50_000, log_interval=8, algorithm="A2C",
        options={"n_steps": 16, "learning_rate": 2e-3},
    ),
    on_policy(
        "swing-trpo", "Swing-v0", "last", 50_000, algorithm="TRPO", normalize=True,
        options={"n_steps": 96, "learning_rate": 1e-3, "target_kl": 0.02},
    ),
    value_based("hunting-dqn", "Hunting-v0", "last", 9_000, log_interval=4, options={
        "gamma": 0.9,
    }),
    value_based("painting-dqn", "Painting-v0", "last", 9_000, log_interval=4, options={
        "gamma": 0.9,
    }),
    value_based("fishing-dqn", "Fishing-v0", "last", 8_000, log_interval=4),
    value_based("hunting-qrdqn", "Hunting-v0", "last", 8_000, log_interval=3, options={
        "policy_kwargs": {"net_arch": [64, 64], "n_quantiles": 10}, "gamma": 0.9,
    }),
    off_policy("swing-sac", "Swing-v0", "last", 6_000, options={"gradient_steps": 3}),
    off_policy(
        "tracking-td3", "Tracking-v0", "last", 5_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3, "action_noise": 0.2},
    ),
    off_policy(
        "tracking-ddpg", "Tracking-v0", "last", 5_000,
        options={"gradient_steps": 2, "learning_rate": 1e-3, "action_noise": 0.2},
    ),
    off_policy(
        "tracking-tqc", "Tracking-v0", "last", 5_000,
        options={"gradient_steps": 2, "learning_rate": 2e-3},
    ),
    own("hunting-own-ppo", "Hunting-v0", "last", 40_000, OWN_LOGS, n_steps=64),
    own("painting-own-ppo", "Painting-v0", "last", 40_000, OTHER_OWN_LOGS, n_steps=64),
    own("fishing-own-reinforce", "Fishing-v0", "last", 60_000, OTHER_OWN_LOGS, n_steps=64,
        learning_rate=3e-3, gamma=0.9),
    own("hunting-own-dqn", "Hunting-v0", "last", 20_000, OWN_LOGS, gamma=0.9),
)  # fmt: skip
"""Tasks of the last part: their environments stand nowhere else."""
