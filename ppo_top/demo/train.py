"""Train a small PPO on CartPole, healthy or with a fault, to have something to watch."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ppo_top.demo import REQUIRED_MODULES

FAULT_SETTINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "lr": {"learning_rate": 3e-2, "anneal_learning_rate": False},
    "clip": {"clip_range": 10.0, "learning_rate": 1e-2, "anneal_learning_rate": False},
    "entropy": {"ent_coef": -2.0},
    "critic": {"vf_coef": -0.5},
    "nan": {"nan_reward_at": 8},
}
"""What each fault changes: a learning rate far too high; no clipping and large steps; entropy
penalised; the sign of the value loss flipped; one NaN reward."""

NEEDS_TORCH = "training needs more: pip install torch gymnasium tensorboard"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m ppo_top.demo.train", description=__doc__)
    parser.add_argument("--logdir", type=Path, required=True, help="where TensorBoard events go")
    parser.add_argument("--fault", choices=list(FAULT_SETTINGS), default="none")
    parser.add_argument("--iterations", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train once; return 0, or 1 if torch or gymnasium is missing.

    A run that meets a NaN crashes with the traceback usual for that.
    """
    asked = parse_arguments(arguments)
    try:
        from ppo_top.demo.ppo import PpoConfig, train
    except ModuleNotFoundError as error:
        if error.name not in REQUIRED_MODULES:
            raise
        print(NEEDS_TORCH, file=sys.stderr)
        return 1
    settings = PpoConfig(
        iterations=asked.iterations, seed=asked.seed, **FAULT_SETTINGS[asked.fault]
    )
    for line in train(settings, asked.logdir):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
