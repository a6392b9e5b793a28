"""Records W&B offline runs: one that ended well, one that raised, one that was killed.

With wandb 0.16.6 the file is read back by the DataStore class that wandb shipped then; newer
versions ship none, so `wandb_oracle.py` does it later from the 0.16.6 environment.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from oracle import OUT, fresh


def log_everything(run: Any, logged: list[dict[str, object]]) -> None:
    """The plain calls a user makes, with each kind of value that can be met."""
    import wandb

    rng = np.random.default_rng(7)
    for i in range(30):
        row = {
            "train/approx_kl": 0.01 * math.exp(i / 10),
            "train/loss": [0.5, math.nan, math.inf, -math.inf][i % 4] if i > 20 else 1 / (i + 1),
            "charts.dotted.name": np.float32(i) / 3,
            "count": i,
            "big": 2**62 + i,
            "flag": i % 2 == 0,
            "note": "text is no number",
            "nothing": None,
            "nested": {"deep": {"kl": i / 7, "word": "x"}, "other": -i},
            "list": [1.0, 2.0, 3.0],
        }
        if i % 10 == 0:
            row["ratio"] = wandb.Histogram(rng.normal(1, 0.1, 200))
            row["small_array"] = rng.normal(size=4)
        run.log(row)
        logged.append({"step": i, "scalars": scalars(row)})
        print(f"update {i} reward {i * 1.5}")
    run.log({"late/explicit": 1.25}, step=100)
    logged.append({"step": 100, "scalars": {"late/explicit": 1.25}})
    run.log({"late/explicit": 2.5, "naïve κλ": 3.5}, step=250)
    logged.append({"step": 250, "scalars": {"late/explicit": 2.5, "naïve κλ": 3.5}})


def scalars(row: dict[str, object], prefix: str = "") -> dict[str, float | str]:
    """The numbers of a logged dictionary under flat names."""
    flat: dict[str, float | str] = {}
    for key, value in row.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat |= scalars(value, f"{name}.")
        elif isinstance(value, (int, float, np.floating)):
            number = value if isinstance(value, int) else float(value)
            flat[name] = number if math.isfinite(number) else str(number)
    return flat


CONFIG = {
    "learning_rate": 3e-4,
    "clip_range": 0.2,
    "n_epochs": 10,
    "target_kl": None,
    "env_id": "CartPole-v1",
    "anneal": True,
    "policy": {"layers": [64, 64], "activation": "tanh"},
}


def finished() -> None:
    import wandb

    run = wandb.init(mode="offline", project="ppo", name="plain-finished", config=CONFIG)
    run.define_metric("train/*", step_metric="count")
    logged: list[dict[str, object]] = []
    log_everything(run, logged)
    run.config.update({"late_setting": 12})
    run.summary["best"] = 99.5
    Path("logged.json").write_text(json.dumps(logged))
    run.finish()


def raised() -> None:
    import wandb

    run = wandb.init(mode="offline", project="ppo", name="plain-raised", config=CONFIG)
    for i in range(5):
        run.log({"loss": 1.0 / (i + 1)})
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")


def killed() -> None:
    import wandb

    run = wandb.init(mode="offline", project="ppo", name="plain-killed", config=CONFIG)
    for i in range(120):
        run.log({f"train/metric_{k}": random.random() for k in range(16)} | {"train/step": i})
    time.sleep(3)
    os.kill(os.getpid(), signal.SIGKILL)


def hf_like() -> None:
    """The calls that the Hugging Face Trainer's WandbCallback makes, profiling rows included."""
    import wandb

    run = wandb.init(mode="offline", project="huggingface", name="grpo", config={"beta": 0.04})
    run.define_metric("train/global_step")
    run.define_metric("*", step_metric="train/global_step", step_sync=True)
    for step in range(1, 13):
        for part in ("generate", "score", "loss"):
            run.log({f"profiling/Time taken: GRPOTrainer.{part}": random.random()})
        run.log(
            {
                "train/loss": -0.003 * step,
                "train/grad_norm": math.nan if step == 9 else 0.5,
                "train/kl": 0.0001 * step,
                "train/rewards/accuracy/mean": step / 20,
                "train/reward": step / 20,
                "train/completions/clipped_ratio": 0.1,
                "train/epoch": step / 12,
                "train/global_step": step,
            }
        )
    run.summary["train_runtime"] = 12.5
    run.finish()


def main() -> None:
    import wandb

    if len(sys.argv) > 1:
        return {"finished": finished, "raised": raised, "killed": killed, "hf_like": hf_like}[
            sys.argv[1]
        ]()
    base = f"wandb_{wandb.__version__}"
    for name in ("finished", "raised", "killed", "hf_like"):
        work = Path("work") / name
        work.mkdir(parents=True)
        script = Path(__file__).resolve()
        env = os.environ | {"PYTHONPATH": str(script.parent)}
        done = subprocess.run([sys.executable, str(script), name], cwd=work, env=env)
        time.sleep(2)
        target = fresh(base, name)
        run = next(work.glob("wandb/offline-run-*"))
        shutil.copytree(
            run,
            target / run.name,
            ignore=shutil.ignore_patterns("logs", "media", "tmp", "requirements.txt", "code"),
        )
        if (work / "logged.json").exists():
            shutil.copy(work / "logged.json", target / "logged.json")
        print(name, "exit", done.returncode, sorted(p.name for p in target.rglob("*.wandb")))
    print(OUT / base)
    return None


if __name__ == "__main__":
    main()
