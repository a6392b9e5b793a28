"""DVCLive's metrics: a file of tab-separated values for each, below `plots/metrics`."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from pathlib import Path

from dvclive import Live

HOME = Path(os.environ["OUT"]) / "dvclive_3.49.1"


def main() -> None:
    """Forty updates; a sick run loses its reward halfway. `expected.points`: what was logged."""
    kind, rows = sys.argv[1], []
    with Live(dir="dvclive", save_dvc_exp=False, dvcyaml=None, monitor_system=False) as live:
        live.log_params({"learning_rate": 3e-4, "clip_range": 0.2})
        for update in range(40):
            falls = kind == "sick" and update > 20
            values = {
                "train/ep_rew_mean": 10.0 if falls else 20 + 10 * update + 5 * math.sin(update),
                "train/approx_kl": 0.4 if falls else 0.01 + 0.003 * math.sin(update),
                "entropy": 0.69 - 0.005 * update,
                "odd": {5: math.nan, 6: math.inf, 7: -0.0}.get(update, update / 3),
            }
            live.step = update * 2048
            for tag, value in values.items():
                live.log_metric(tag, value, timestamp=tag == "entropy")
                row = {"tag": tag, "step": live.step, "value": value, "time": None}
                rows.append(row)
    shutil.rmtree(HOME / kind, ignore_errors=True)
    shutil.copytree("dvclive", HOME / kind / "dvclive")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (HOME / kind / "expected.points").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
