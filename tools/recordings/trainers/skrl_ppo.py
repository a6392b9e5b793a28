"""Records skrl's PPO on CartPole: its event file and console."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from oracle import fresh, tensorboard_points, write_expected

NETWORK = [{"name": "net", "input": "OBSERVATIONS", "layers": [32], "activations": "elu"}]
CONFIG = {
    "seed": 1,
    "models": {
        "separate": True,
        "policy": {"class": "CategoricalMixin", "network": NETWORK, "output": "ACTIONS"},
        "value": {"class": "DeterministicMixin", "network": NETWORK, "output": "ONE"},
    },
    "memory": {"class": "RandomMemory", "memory_size": -1},
    "agent": {
        "class": "PPO",
        "rollouts": 128,
        "learning_epochs": 4,
        "mini_batches": 4,
        "learning_rate": 3e-4,
        "entropy_loss_scale": 0.01,
        "experiment": {"directory": "runs", "experiment_name": "cartpole", "write_interval": 128,
                       "checkpoint_interval": 0},
    },
    "trainer": {"class": "SequentialTrainer", "timesteps": 2560, "environment_info": "log",
                "headless": True},
}  # fmt: skip


def train() -> None:
    import gymnasium as gym
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.utils.runner.torch import Runner

    Runner(wrap_env(gym.make_vec("CartPole-v1", num_envs=4)), CONFIG).run("train")


def main() -> None:
    if sys.argv[1:] == ["train"]:
        return train()
    target = fresh("skrl_2.1.1", "ppo")
    with (target / "console.log").open("wb") as out:
        subprocess.run(
            [sys.executable, __file__, "train"], stdout=out, stderr=subprocess.STDOUT, check=True
        )
    for path in Path("runs").rglob("*tfevents*"):
        (target / path.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / path)
    write_expected(target, tensorboard_points(target))
    print(
        *(f"{p.stat().st_size:8} {p}" for p in sorted(target.rglob("*")) if p.is_file()), sep="\n"
    )
    return None


if __name__ == "__main__":
    main()
