"""A set-up that a script prints, a setting a line, before each of several trainings."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

SETUP = """--- set-up {n} ---
  policy: marl
  batch_size: 256
  gamma: 0.99
  noise_std: 0.1
  training_episode: 5000
  clip_ratio: 0.2
  model: {{'actor_lr': 0.0003, 'clip_ratio': 0.2}}
--- results ---
"""


def read(text: str) -> ParserOutput:
    """All that a console holds."""
    return parse_every_way(ConsoleParser, text.encode())


def test_a_set_up_is_none_of_the_metrics_and_says_no_step() -> None:
    """Whatever its settings are called, and although records have been printed before."""
    text = "".join(f"{SETUP.format(n=n)}best reward: {n}.5\n" for n in range(1, 6))
    found = read(text)
    assert found.values_by_step() == {"best reward": [(n, n + 0.5) for n in range(1, 6)]}
    assert found.config["noise_std"] == 0.1
    assert found.config["training_episode"] == 5000


def test_what_stands_below_a_set_up_is_measured() -> None:
    """A bare step, a reward or a loss is no setting; nor is what stands behind other text."""
    loop = "Episode: {n}\nreward: {n}.5\nclip_ratio: 0.1\n"
    found = read("batch_size: 64\ngamma: 0.99\n" + "".join(loop.format(n=n) for n in range(1, 9)))
    assert found.values_by_step()["reward"] == [(n, n + 0.5) for n in range(1, 9)]
    assert found.values("clip_ratio") == [0.1] * 8


def test_a_step_or_a_result_ends_a_set_up() -> None:
    """Without a blank line between them, in the first iteration as in all others."""
    setup = "gamma: 0.99\nbatch_size: 64\n"
    loop = "Iteration: {n}\nentropy: 0.6\nclip_fraction: 0.1\nreward: {n}.5\n"
    found = read(setup + "".join(loop.format(n=n) for n in range(1, 6)))
    assert {tag: len(values) for tag, values in found.values_by_step().items()} == dict.fromkeys(
        ["Iteration", "entropy", "clip_fraction", "reward"], 5
    )
    assert read(f"{setup}lr=0.001 loss=0.5\n").values("loss") == [0.5]
    assert read(f"{setup}entropy: 0.6\nclip_fraction: 0.1\n").points.keys() == {
        "entropy",
        "clip_fraction",
    }


@pytest.mark.parametrize("first", ["gamma: 0.99", "batch_size: 64", "device: cuda"])
def test_one_such_name_alone_makes_no_set_up(first: str) -> None:
    """A script may print its discount with each update."""
    lines = "".join(f"update: {n}\n{first}\nclip_ratio: 0.1\nreward: {n}\n" for n in range(1, 9))
    found = read(lines)
    assert found.steps("clip_ratio") == [*range(1, 9)]
