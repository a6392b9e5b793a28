"""The last values that wandb prints when a run ends, alone or below the training's own lines."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way

HISTORY = """wandb: Run history:
wandb:     global_step ▁▃▅▇█
wandb: losses/approx_kl ▁▁▂▂█
wandb:
"""
SUMMARY = """wandb: Run summary:
wandb:          global_step 500000
wandb:     losses/approx_kl 0.0125
wandb: Loss / Value loss (mean) nan
wandb:             exp_name ppo
"""
END = "wandb:\nwandb: View run lucky-sun-3 at: https://wandb.ai/x/y/runs/abc\n"


@pytest.mark.parametrize("end", [END, ""], ids=["whole", "cut off after the rows"])
def test_a_lone_summary_is_an_update(end: str) -> None:
    """Its values stand at the step that it says; the drawn history has none, nor have words."""
    found = parse_every_way(ConsoleParser, (HISTORY + SUMMARY + end).encode())
    assert set(found.points) == {"global_step", "losses/approx_kl", "Loss / Value loss (mean)"}
    assert found.values_by_step()["losses/approx_kl"] == [(500000, 0.0125)]


def test_a_summary_below_the_training_repeats_it() -> None:
    """The console has said those values already, perhaps under other names."""
    lines = "".join(f"step: {n} | reward: {n}.5 | kl: 0.01\n" for n in range(1, 5))
    alone = parse_every_way(ConsoleParser, lines.encode())
    found = parse_every_way(ConsoleParser, (lines + SUMMARY + END).encode())
    assert found.points == alone.points
    assert found.steps("reward") == [1, 2, 3, 4]


def test_a_summary_below_dictionaries_repeats_them() -> None:
    """They state no step, so its own is not theirs: 50 of them are no 500.

    Their names are those of the last step, and paths that alone would be records.
    """
    lines = "".join(f"{{'loss': {n}.5, 'epoch': 0.0{n}}}\n" for n in range(1, 6))
    rows = "wandb:   train/epoch 0.05\nwandb: train/global_step 500\nwandb:  train/loss 5.5\n"
    alone = parse_every_way(ConsoleParser, lines.encode())
    found = parse_every_way(ConsoleParser, (lines + "wandb: Run summary:\n" + rows + END).encode())
    assert found.points == alone.points
    assert found.steps("loss") == [1, 2, 3, 4, 5]
