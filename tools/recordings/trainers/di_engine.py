"""Records DI-engine's PPO on CartPole and SAC on Pendulum: their event files, logs and consoles."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from oracle import fresh, tensorboard_points, write_expected

STEPS = {"ppo": 12_000, "sac": 3_000}


def train(algorithm: str) -> None:
    from ding.entry import serial_pipeline, serial_pipeline_onpolicy

    if algorithm == "ppo":
        from dizoo.classic_control.cartpole.config.cartpole_ppo_config import (
            create_config,
            main_config,
        )

        start = serial_pipeline_onpolicy
    else:
        from dizoo.classic_control.pendulum.config.pendulum_sac_config import (
            create_config,
            main_config,
        )

        main_config.policy.random_collect_size = 1000
        start = serial_pipeline
    main_config.exp_name = algorithm
    start([main_config, create_config], seed=0, max_env_step=STEPS[algorithm])


def main() -> None:
    if sys.argv[1:]:
        return train(sys.argv[1])
    for algorithm in STEPS:
        target = fresh("di-engine_0.5.3", algorithm)
        with (target / "console.log").open("wb") as out:
            subprocess.run(
                [sys.executable, __file__, algorithm],
                stdout=out,
                stderr=subprocess.STDOUT,
                check=True,
            )
        shutil.copytree(Path(algorithm) / "log", target / "log")
        write_expected(target, tensorboard_points(target))
    return None


if __name__ == "__main__":
    main()
