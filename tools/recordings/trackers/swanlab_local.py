"""Records SwanLab runs without a network: one that ended well, one that raised, one left running.

Works with 0.4.12 and 0.6.13 (mode "local": runs.swanlab and logs/) and 0.10.3 (mode "offline":
run-*.swanlab). What was handed to `swanlab.log` becomes `expected.points`.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from oracle import fresh, point, write_expected

CONFIG = {"learning_rate": 3e-4, "clip_range": 0.2, "n_epochs": 10, "env": "CartPole-v1"}
SPECIAL = {5: math.nan, 6: math.inf, 7: -math.inf, 8: 0.0}


def row(i: int) -> dict[str, float]:
    """One call's numbers."""
    return {
        "train/approx_kl": 0.01 * (i + 1) / 3,
        "train/loss": SPECIAL.get(i, 1 / (i + 1)),
        "rollout/ep_rew_mean": i * 1.5,
        "n_updates": i * 10,
        "reward κ": -0.25 * i,
    }


def version() -> tuple[int, ...]:
    import swanlab

    return tuple(int(p) for p in swanlab.__version__.split(".")[:2])


def begin(name: str) -> object:
    import swanlab

    mode = "offline" if version() >= (0, 8) else "local"
    return swanlab.init(
        project="ppo", experiment_name=name, config=CONFIG, mode=mode, logdir="swanlog"
    )


def log_rows(count: int) -> list[dict[str, object]]:
    """Log and return what `expected.points` should say; the clock is the one of this call."""
    import swanlab

    logged = []
    for i in range(count):
        step = i * 2048
        values = row(i)
        now = time.time()
        swanlab.log(values, step=step)
        print(f"update {i} reward {values['rollout/ep_rew_mean']}")
        logged += [point(tag, step, value, now) for tag, value in values.items()]
    return logged


def finished() -> None:
    import swanlab

    begin("finished")
    logged = log_rows(20)
    swanlab.log({"auto": 0.5})
    swanlab.finish()
    write_expected(Path(), logged)


def raised() -> None:
    begin("raised")
    write_expected(Path(), log_rows(10))
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")


def killed() -> None:
    begin("killed")
    logged = log_rows(60)
    write_expected(Path(), logged)
    time.sleep(3)
    os.kill(os.getpid(), 9)


def long() -> None:
    """More than 1000 points of one tag: the old store begins a second file."""
    import swanlab

    begin("long")
    random.seed(1)
    logged = []
    for i in range(1203):
        value = random.random()
        logged.append(point("loss", i, value, time.time()))
        swanlab.log({"loss": value})
    swanlab.finish()
    write_expected(Path(), logged)


def main() -> None:
    import swanlab

    if len(sys.argv) > 1:
        globals()[sys.argv[1]]()
        return
    script = Path(__file__).resolve()
    base = f"swanlab_{swanlab.__version__}"
    names = ["finished", "raised", "killed"] + (["long"] if version() < (0, 6) else [])
    for name in names:
        work = Path("work") / name
        work.mkdir(parents=True)
        env = os.environ | {"PYTHONPATH": str(script.parent)}
        done = subprocess.run([sys.executable, str(script), name], cwd=work, env=env)
        target = fresh(base, name)
        shutil.copytree(work / "swanlog", target / "swanlog")
        for junk in [*target.rglob("requirements.txt"), target / "swanlog" / ".gitignore"]:
            junk.unlink()
        shutil.copy(work / "expected.points", target)
        print(name, "exit", done.returncode)


if __name__ == "__main__":
    main()
