"""Several names and as many numbers with slashes between them."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (
            "Reward (min/mean/max): -1.5/2.5/3.5",
            {"min Reward": -1.5, "mean Reward": 2.5, "max Reward": 3.5},
        ),
        (
            "REWARD (MIN/MEAN/MAX): -1.5, 2.5, 3.5",
            {"MIN REWARD": -1.5, "MEAN REWARD": 2.5, "MAX REWARD": 3.5},
        ),
        ("reward [mean/std] = 2.5 / 0.5", {"mean reward": 2.5, "std reward": 0.5}),
        ("mean/std return: 2.5/0.5", {"mean return": 2.5, "std return": 0.5}),
        ("Return min/max: 1/2", {"min Return": 1.0, "max Return": 2.0}),
        ("eval mean/std reward: 2.5/0.5", {"eval mean reward": 2.5, "eval std reward": 0.5}),
        # DeepRL's BaseAgent (deep_rl/utils/misc.py)
        (
            "returns 2.50/2.25/-1.50/3.50 (mean/median/min/max), 512.25 steps/s",
            {
                "mean returns": 2.5,
                "median returns": 2.25,
                "min returns": -1.5,
                "max returns": 3.5,
            },
        ),
        # pytorch-a2c-ppo-acktr in 2018 (main.py)
        (
            "FPS 512, mean/median reward 2.5/2.2, min/max reward -1.5/3.5",
            {"mean reward": 2.5, "median reward": 2.2, "min reward": -1.5, "max reward": 3.5},
        ),
        ("Actor/Critic Loss: 0.25 / 1.5", {"Actor Loss": 0.25, "Critic Loss": 1.5}),
        (
            "Loss(P/V/E): 0.25/1.5/0.5",
            {"policy Loss": 0.25, "value Loss": 1.5, "entropy Loss": 0.5},
        ),
    ],
)
def test_each_number_has_its_name(line: str, named: dict[str, float]) -> None:
    """Beside a step, and beside other pairs."""
    text = "".join(f"Iter {10 * n} | {line} | kl: 0.5\n" for n in range(1, 4))
    read = parse_every_way(ConsoleParser, text.encode())
    for name, value in {**named, "kl": 0.5}.items():
        assert read.values_by_step()[name] == [(10, value), (20, value), (30, value)]


@pytest.mark.parametrize(
    "line",
    [
        "train/loss: 0.5",
        "Step 10/200, reward: 0.5",
        "reward (mean/std): 0.5",
        "reward (mean/std/max): 0.5/1.5",
        "reward: 0.5, speed (it/s): 12",
        "reward: 0.5, 12/20 (mean/std)",
    ],
)
def test_other_slashes_stay(line: str) -> None:
    """Tags, totals, units, and lists of names that have not as many numbers."""
    data = "".join(f"update: {n}, {line}\n" for n in range(1, 4)).encode()
    read = parse_every_way(ConsoleParser, data)
    assert not {"mean", "std", "mean reward", "train", "it"} & set(read.points)
