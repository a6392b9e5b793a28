"""Train Stable-Baselines3 PPO on CartPole-v1 with all of SB3's logger outputs."""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor

OUTPUTS = ["stdout", "log", "csv", "json", "tensorboard"]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, required=True)
    parser.add_argument("--learning-rate", type=float, default=3e-4, help="SB3's default is 3e-4")
    parser.add_argument("--timesteps", type=int, default=80_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluate", action="store_true", help="evaluate every 10,000 steps")
    return parser.parse_args()


def evaluation(logdir: Path, seed: int) -> EvalCallback:
    """Evaluate on a separate environment and keep the results with the logs."""
    env = Monitor(gymnasium.make("CartPole-v1"))
    env.reset(seed=seed + 1000)
    return EvalCallback(env, eval_freq=10_000, n_eval_episodes=10, log_path=str(logdir))


def main() -> None:
    """Train once."""
    asked = options()
    torch.set_num_threads(1)  # small networks: threads would only wait for each other
    asked.logdir.mkdir(parents=True, exist_ok=True)
    env = Monitor(gymnasium.make("CartPole-v1"), str(asked.logdir / "0"))
    model = PPO(
        "MlpPolicy",
        env,
        learning_rate=asked.learning_rate,
        seed=asked.seed,
        verbose=1,
        device="cpu",
    )
    model.set_logger(configure(str(asked.logdir), OUTPUTS))
    callback = evaluation(asked.logdir, asked.seed) if asked.evaluate else None
    model.learn(asked.timesteps, callback=callback)


if __name__ == "__main__":
    main()
