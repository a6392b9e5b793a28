"""Records a progress.txt with Spinning Up's own EpochLogger.

Usage: run.sh VENV spinup_logger.py PATH/TO/spinningup (openai/spinningup, commit 038665d). The
logger imports tensorflow for a function that is not used here; an empty module takes its place.
"""

from __future__ import annotations

import json
import math
import random
import sys
import types
from pathlib import Path

from oracle import fresh, point, write_expected


def main() -> None:
    package = types.ModuleType("spinup")
    package.__path__ = [f"{sys.argv[1]}/spinup"]
    sys.modules |= {"spinup": package, "tensorflow": types.ModuleType("tensorflow")}
    from spinup.utils.logx import EpochLogger

    target = fresh("spinup_038665d", "ppo")
    logger = EpochLogger(output_dir=str(target), exp_name="ppo")
    logger.save_config({"seed": 0, "clip_ratio": 0.2, "pi_lr": 3e-4, "target_kl": 0.01})
    random.seed(0)
    rows = []
    for epoch in range(10):
        for _ in range(5):
            logger.store(EpRet=20 + 10 * epoch + random.random(), EpLen=20 + epoch)
        logger.store(
            LossPi=-0.01 / (epoch + 1), LossV=math.nan if epoch == 7 else 100 / (epoch + 1)
        )
        logger.store(KL=0.001 * epoch, Entropy=0.69 - 0.01 * epoch, ClipFrac=0.1, StopIter=79)
        logger.log_tabular("Epoch", epoch)
        logger.log_tabular("EpRet", with_min_and_max=True)
        for key in ("EpLen", "LossPi", "LossV", "KL", "Entropy", "ClipFrac", "StopIter"):
            logger.log_tabular(key, average_only=True)
        logger.log_tabular("TotalEnvInteracts", (epoch + 1) * 4000)
        logger.log_tabular("Time", 1.5 * (epoch + 1))
        row = dict(logger.log_current_row)
        logger.dump_tabular()
        rows += [point(k, (epoch + 1) * 4000, float(v), None) for k, v in row.items()]
    write_expected(target, rows)
    print(json.dumps(row, default=float), sorted(p.name for p in Path(target).iterdir()))


if __name__ == "__main__":
    main()
