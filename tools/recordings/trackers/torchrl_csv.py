"""Logs with TorchRL's CSVLogger: the tags of its PPO example, with what floats can be."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import torch  # noqa: F401 - TorchRL needs it imported first
from torchrl.record.loggers import CSVLogger

TAGS = (
    "train/reward",
    "train/loss_objective",
    "train/kl_approx",
    "train/lr",
    "eval/reward",
    "loss",
    "a b/c.d",
)
ODD = {3: math.nan, 4: math.inf, 5: -math.inf, 6: -0.0, 7: 1e-300}


def main() -> None:
    """Two dozen steps of every tag, and what was logged."""
    home = Path(os.environ["OUT"]) / "torchrl_0.14.1" / "csv"
    logger = CSVLogger(exp_name="ppo", log_dir=str(home))
    logger.log_hparams({"lr": 3e-4, "clip_epsilon": 0.2})
    rows = []
    for number in range(24):
        for place, tag in enumerate(TAGS):
            value = ODD.get(number, math.sin(number) * (place + 1))
            step = number * 2048
            logger.log_scalar(tag, value, step=step)
            rows.append({"tag": tag, "step": step, "time": math.nan, "value": value})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (home / "expected.points").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
