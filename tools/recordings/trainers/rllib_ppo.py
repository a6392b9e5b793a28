"""Records RLlib's PPO under Tune: progress.csv, result.json, params.json and the event file."""

from __future__ import annotations

import shutil
from pathlib import Path

import ray
from oracle import fresh, tensorboard_points, write_expected
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0)
        .training(train_batch_size=512, minibatch_size=64, num_epochs=4)
        .debugging(seed=1)
    )
    results = Path("results").resolve()
    tune.Tuner(
        "PPO",
        param_space=config,
        run_config=tune.RunConfig(
            name="ppo", storage_path=str(results), stop={"training_iteration": 6}, verbose=0
        ),
    ).fit()
    target = fresh(f"rllib_{ray.__version__}", "ppo")
    for path in results.rglob("*"):
        wanted = ("progress.csv", "result.json", "params.json")
        if path.name in wanted or "tfevents" in path.name:
            place = target / path.relative_to(results)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    write_expected(target, tensorboard_points(target))
    print(
        *(f"{p.stat().st_size:8} {p}" for p in sorted(target.rglob("*")) if p.is_file()), sep="\n"
    )


if __name__ == "__main__":
    main()
