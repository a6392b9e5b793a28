"""Records verl's console, file and TensorBoard backends with its own Tracking class.

Usage: run.sh VENV verl_tracking.py FOLDER, where FOLDER holds verl/utils/ of verl 0.9.1's wheel.
The numbers are made here (training with verl needs a GPU); their names and types are those of its
trainer.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import sys
from typing import Any

import numpy as np
from oracle import fresh, point, tensorboard_points, write_expected


def metrics(step: int) -> dict[str, Any]:
    """What one step of verl's PPO trainer logs, numpy scalars and plain numbers mixed."""
    return {
        "actor/entropy": np.float64(4.16 - 0.1 * step),
        "actor/pg_loss": np.float64(math.nan if step == 6 else -0.01 * step),
        "actor/pg_clipfrac": np.float64(0.0004 * step),
        "actor/ppo_kl": np.float64(-8e-6 * step),
        "actor/grad_norm": math.inf if step == 7 else 0.5 + random.random(),
        "actor/lr": 1e-6,
        "critic/score/mean": np.float32(0.05 * step),
        "critic/rewards/mean": 0.05 * step,
        "critic/advantages/max": 1.5,
        "response_length/mean": 220.25 + step,
        "response_length/clip_ratio": 0.125,
        "training/global_step": step,
        "training/epoch": 0,
        "perf/throughput": 1234.5,
        "timing_s/step": 12.5,
    }


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    from verl.utils.tracking import Tracking

    target = fresh("verl_0.9.1", "tracking")
    os.environ |= {
        "VERL_FILE_LOGGER_ROOT": str(target),
        "TENSORBOARD_DIR": str(target / "tensorboard_log"),
    }
    random.seed(1)
    rows = []
    with (target / "console.log").open("w") as out, contextlib.redirect_stdout(out):
        tracker = Tracking("ppo", "tiny", ["console", "file", "tensorboard"], {"lr": 1e-6})
        for step in range(1, 11):
            data = metrics(step)
            tracker.log(data=data, step=step)
            rows += [point(key, step, float(value), None) for key, value in data.items()]
    for writer in tracker.logger.values():
        if hasattr(writer, "finish"):
            writer.finish()
    text = (target / "console.log").read_text().replace(str(target), "/data")
    (target / "console.log").write_text(text)
    write_expected(target, rows)
    write_expected(target, tensorboard_points(target), "expected_tensorboard")


if __name__ == "__main__":
    main()
