"""The bars of OpenRLHF's trainers, drawn by tqdm as the trainers do; the numbers are made up.

OpenRLHF itself needs several GPUs. `actor`: the minibatches of ActorPPOTrainer.ppo_train (0.11.2,
openrlhf/trainer/ray/ppo_actor.py) inside the bar of the episode. `single`: PPOTrainer.fit of 0.2
to 0.5 (openrlhf/trainer/ppo_trainer.py), whose outer bar carries the whole status.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

HOME = Path(os.environ["OUT"]) / "openrlhf_0.11.2"
STEPS, EPISODES, MINIBATCHES = 6, 2, 4


@contextmanager
def recorded(name: str) -> Iterator[list[dict[str, object]]]:
    """Send what bars draw to a file, and keep what was drawn."""
    folder = HOME / name
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    before = sys.stderr
    with (folder / "console.log").open("w", encoding="utf-8") as file:
        sys.stderr = file
        try:
            yield rows
        finally:
            sys.stderr = before
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "expected.points").write_text(text, encoding="utf-8")


def status_of(number: int) -> dict[str, float]:
    """A status as the trainer has it."""
    kl = math.nan if number == 7 else 0.003 * number
    return {"policy_loss": -0.01 * number, "reward": 0.1 * number, "kl": kl, "actor_lr": 1e-6}


def keep(rows: list[dict[str, object]], values: dict[str, float], step: int) -> None:
    """What stands on the bar: tqdm prints three digits."""
    for tag, value in values.items():
        row = {"tag": tag, "step": step, "time": math.nan, "value": float(f"{value:.3g}")}
        rows.append(row)


def actor() -> None:
    """Minibatches inside a step: the full bar of each step counts."""
    with recorded("actor") as rows:
        number = 0
        for episode in range(EPISODES):
            outer = tqdm(range(STEPS), desc=f"Episode [{episode + 1}/{EPISODES}]", file=sys.stderr)
            for _ in range(STEPS):
                number += 1
                bar = tqdm(range(MINIBATCHES), desc="Train epoch [1/1]", file=sys.stderr)
                for minibatch in bar:
                    status = status_of(number)
                    short = {
                        "act_loss": status["policy_loss"] + 0.001 * minibatch,
                        "reward": status["reward"],
                        "return": status["reward"],
                        "gen_len": 100.0 + number,
                        "tot_len": 160.0 + number,
                        "kl": status["kl"],
                        "act_lr": status["actor_lr"],
                    }
                    bar.set_postfix(short)
                keep(rows, short, number)
                outer.update()
            outer.close()


def single() -> None:
    """One process: the episode's bar carries the status of each step."""
    with recorded("single") as rows:
        for episode in range(EPISODES):
            bar = tqdm(range(STEPS), desc=f"Episode [{episode + 1}/{EPISODES}]", file=sys.stderr)
            for step in range(STEPS):
                number = episode * STEPS + step
                bar.set_postfix(status_of(number))
                keep(rows, status_of(number), number)
                bar.update()
            bar.close()


if __name__ == "__main__":
    actor()
    single()
