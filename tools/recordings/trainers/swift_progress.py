"""What ms-swift 3 adds to transformers' logs, on the console and in logging.jsonl; made-up numbers.

From swift/trainers/callback.py (3.8): `add_train_message`, then `append_to_jsonl` and, as
transformers does, `tqdm.write` of the dictionary beside the bar `Train`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tqdm import tqdm

HOME = Path(os.environ["OUT"]) / "swift_3.8" / "grpo"
STEPS, EVERY = 40, 5


def logs_of(step: int) -> dict[str, object]:
    """A log of GRPO with what swift adds to it."""
    return {
        "loss": round(-0.001 * step, 8),
        "grad_norm": round(0.5 + 0.01 * step, 8),
        "learning_rate": 1e-06,
        "reward": round(0.02 * step, 8),
        "reward_std": 0.25,
        "kl": round(0.0004 * step, 8),
        "completions/mean_length": 100.0 + step,
        "epoch": round(step / STEPS, 2),
        "global_step/max_steps": f"{step}/{STEPS}",
        "percentage": f"{100 * step / STEPS:.2f}%",
        "elapsed_time": f"{step}s",
        "remaining_time": f"{STEPS - step}s",
        "memory(GiB)": 12.5,
        "train_speed(iter/s)": 0.998877,
    }


def main() -> None:
    """Forty steps, a log each five."""
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "console.log").open("w") as console, (HOME / "logging.jsonl").open("w") as lines:
        sys.stdout = sys.stderr = console
        bar = tqdm(desc="Train", total=STEPS, dynamic_ncols=True, file=console)
        for step in range(1, STEPS + 1):
            bar.update()
            if step == 1 or step % EVERY == 0:
                bar.write(str(logs_of(step)), file=console)
                lines.write(json.dumps(logs_of(step)) + "\n")
        bar.close()


if __name__ == "__main__":
    main()
