"""Records rsl-rl-lib's PPO on a point that is pushed to the origin: console and TensorBoard."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from oracle import fresh, tensorboard_points, write_expected


def train() -> None:
    from rsl_rl.env import VecEnv
    from rsl_rl.runners import OnPolicyRunner
    from tensordict import TensorDict

    class PointTask(VecEnv):
        """Sixteen points on a line; reward is minus the distance, an episode lasts 40 steps."""

        num_envs, num_actions, max_episode_length, device = 16, 1, 40, "cpu"
        cfg: dict[str, object] = {}  # noqa: RUF012

        def __init__(self) -> None:
            self.episode_length_buf = torch.randint(0, 40, (16,))
            self.place = torch.randn(16, 1)

        def get_observations(self) -> TensorDict:
            return TensorDict({"policy": self.place.clone()}, batch_size=[16])

        def step(self, actions: torch.Tensor) -> Any:
            self.place = self.place + 0.1 * actions.clamp(-1, 1)
            self.episode_length_buf += 1
            done = self.episode_length_buf >= 40
            distance = self.place.abs().squeeze(1)
            self.place[done] = torch.randn(int(done.sum()), 1)
            self.episode_length_buf[done] = 0
            log = {"/reward/distance": float(-distance.mean()), "/terminations/time_out": 1.0}
            extras = {"time_outs": done, "log": log}
            return self.get_observations(), -distance, done.long(), extras

    torch.manual_seed(1)
    model = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "elu"}
    gaussian = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    config = {
        "num_steps_per_env": 24,
        "save_interval": 1000,
        "run_name": "point",
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 4, "num_mini_batches": 4,
                      "schedule": "adaptive", "desired_kl": 0.01, "learning_rate": 1e-3},
        "actor": model | {"distribution_cfg": gaussian},
        "critic": dict(model),
    }  # fmt: skip
    OnPolicyRunner(PointTask(), config, "log", "cpu").learn(12)


def main() -> None:
    if sys.argv[1:] == ["train"]:
        return train()
    target = fresh("rsl_rl_5.5.1", "ppo")
    with (target / "console.log").open("wb") as out:
        subprocess.run(
            [sys.executable, __file__, "train"], stdout=out, stderr=subprocess.STDOUT, check=True
        )
    for path in Path("log").glob("*tfevents*"):
        with contextlib.suppress(FileExistsError):
            (target / "log").mkdir()
        (target / "log" / path.name).write_bytes(path.read_bytes())
    write_expected(target, tensorboard_points(target))
    print(
        *(f"{p.stat().st_size:8} {p}" for p in sorted(target.rglob("*")) if p.is_file()), sep="\n"
    )
    return None


if __name__ == "__main__":
    main()
