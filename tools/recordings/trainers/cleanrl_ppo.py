"""Records CleanRL's single-file PPO on CartPole: TensorBoard and console.

Usage: run.sh VENV cleanrl_ppo.py PATH/TO/cleanrl/ppo.py (vwxyzjn/cleanrl, commit fe8d8a03).
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from oracle import fresh, tensorboard_points, write_expected


def main() -> None:
    target = fresh("cleanrl_fe8d8a03", "ppo")
    shutil.copy(sys.argv[1], "ppo.py")
    command = [sys.executable, "ppo.py", "--no-cuda", "--total-timesteps", "6144", "--seed", "1"]
    with (target / "console.log").open("wb") as out:
        subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=True)
    shutil.copytree("runs", target / "runs")
    write_expected(target, tensorboard_points(target))
    print(
        *(f"{p.stat().st_size:8} {p}" for p in sorted(target.rglob("*")) if p.is_file()), sep="\n"
    )


if __name__ == "__main__":
    main()
