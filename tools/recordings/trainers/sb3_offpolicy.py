"""Records Stable-Baselines3 runs of A2C, DQN and SAC with every output its logger has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from oracle import fresh, tensorboard_points, write_expected

BUDGET = {"A2C": 3000, "DQN": 3000, "SAC": 1600}


def train(name: str) -> None:
    import gymnasium as gym
    import stable_baselines3 as sb3
    from stable_baselines3.common.logger import configure
    from stable_baselines3.common.monitor import Monitor

    env = Monitor(gym.make("Pendulum-v1" if name == "SAC" else "CartPole-v1"), "logs/0.monitor.csv")
    options = {"learning_starts": 200} if name != "A2C" else {}
    model = getattr(sb3, name)("MlpPolicy", env, seed=1, verbose=1, device="cpu", **options)
    model.set_logger(configure("logs", ["stdout", "log", "csv", "json", "tensorboard"]))
    interval = {"A2C": 100, "DQN": 10, "SAC": 2}[name]
    model.learn(BUDGET[name], log_interval=interval)


def main() -> None:
    if len(sys.argv) > 1:
        return train(sys.argv[1])
    import stable_baselines3 as sb3

    for name in BUDGET:
        target = fresh(f"sb3_{sb3.__version__}", name.lower())
        with (target / "stdout.log").open("wb") as out:
            subprocess.run([sys.executable, __file__, name], stdout=out, check=True)
        for path in sorted(Path("logs").iterdir()):
            shutil.copy(path, target)
        shutil.rmtree("logs")
        write_expected(target, tensorboard_points(target))
        print(name, *(f"{p.name}:{p.stat().st_size}" for p in sorted(target.iterdir())))
    return None


if __name__ == "__main__":
    main()
