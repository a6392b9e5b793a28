"""Dreamer's logs: JSON lines of episodes and of updates, and what its three versions print."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import ppo_top
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way

DreamerLog = list[tuple[int, dict[str, float]]]
"""Steps, and the scalars that were written there."""


def number(value: float) -> str:
    """A number as `TerminalOutput._format_value` of danijar/elements writes it."""
    if value == 0:
        return "0"
    if 0.01 < abs(value) < 10_000:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.1e}".replace(".0e", "e").replace("+0", "").replace("+", "").replace("-0", "-")


def pairs(scalars: dict[str, float]) -> str:
    return " / ".join(f"{name} {number(value)}" for name, value in scalars.items())


def third_version(count: int = 200, fall: int = 1_000) -> DreamerLog:
    """`embodied/run/train.py`: an episode adds its score, every other write has the losses."""
    chance = random.Random(0)
    records = []
    for n in range(1, count + 1):
        score = (0.5 * n if n < fall else 2.0) + chance.gauss(0, 4)
        scalars = {"episode/score": score, "episode/length": 200.0 + n}
        if n % 2:
            scalars |= {"train/loss/policy": -0.02, "train/loss/value": 1.2, "train/ret": 0.33}
            scalars |= {"train/ent/action": 1.5, "train/rew": 0.02, "fps/policy": 30.0}
        records.append((n * 1_000, scalars))
    return records


def write_json_lines(folder: Path, records: DreamerLog) -> None:
    """`JSONLOutput`: all scalars in one file, the scores in another one, too."""
    folder.mkdir(parents=True)
    lines = [json.dumps({"step": step, **scalars}) for step, scalars in records]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    scores = [
        json.dumps({"step": step, "episode/score": each["episode/score"]}) for step, each in records
    ]
    (folder / "scores.jsonl").write_text("\n".join(scores) + "\n")


def test_its_two_files_are_one_run_whose_reward_is_the_score_of_episodes(tmp_path: Path) -> None:
    """Rewards and returns of other names are imagined; the loss of its actor has no size."""
    write_json_lines(tmp_path / "learns", third_version())
    write_json_lines(tmp_path / "falls", third_version(fall=100))
    verdicts = {each["name"]: each for each in ppo_top.check([tmp_path])["runs"]}
    assert set(verdicts) == {"learns", "falls"}
    assert {each["producer"] for each in verdicts.values()} == {"dreamer"}
    assert verdicts["learns"]["verdict"] == "healthy"
    falls = {each["rule"] for each in verdicts["falls"]["findings"]}
    assert "reward-crash" in falls
    points = [each for each in ppo_top.points([tmp_path / "learns"]) if each.concept]
    scores = {each.step: each.value for each in points if each.concept == "reward_mean"}
    expected = {step: scalars["episode/score"] for step, scalars in third_version()}
    assert scores == expected


def test_the_title_of_a_rule_is_the_step_of_what_is_below() -> None:
    """`TerminalOutput`: a rule of dashes, or one that rich draws as wide as the terminal."""

    def printed(rule: str) -> Iterator[str]:
        for step, scalars in third_version(20):
            yield f"\n{rule.replace('?', f'{step:_}')}\nMetrics filtered by: 'score|length'\n"
            yield f"{pairs(scalars)}\n\nWriting metrics: ~/logdir/metrics.jsonl\n"

    dashes = "-" * 20 + "[Agent Step ?]" + "-" * 20
    wide = "─" * 70 + " Agent (Step ?) " + "─" * 70
    for rule in (dashes, wide):
        read = parse_every_way(ConsoleParser, "".join(printed(rule)).encode())
        assert read.steps("episode/score") == [1_000 * n for n in range(1, 21)]
        assert read.steps("train/loss/value") == [1_000 * n for n in range(1, 21, 2)]


def test_a_rule_around_something_else_says_no_step_of_the_training() -> None:
    """What is saved there, say, or the best so far."""
    rule = "-" * 30
    text = "".join(
        f"{rule} Saved Step {7 * n} {rule}\nreward: {6.0 + n} loss: 0.3\n" for n in range(1, 9)
    )
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("reward") == [1, 2, 3, 4, 5, 6, 7, 8]


def test_lines_of_episodes_and_of_updates_begin_with_their_step() -> None:
    """V2's `TerminalOutput`, and `train.py`, which says each episode in words before."""
    text = ""
    for n in range(1, 21):
        score, length = 6.0 + n, 150 + n
        text += f"Train episode has {length} steps and return {score:.1f}.\n"
        text += f"[{n * 1_000}] {pairs({'train_return': score, 'train_length': length})}\n"
        if n % 3 == 1:
            losses = {"kl_loss": 0.67, "model_loss": 1.1e4, "actor_loss": -1.5e-5}
            text += f"[{n * 1_000 + 3}] {pairs(losses)}\n"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("train_return") == [1_000 * n for n in range(1, 21)]
    assert read.steps("model_loss") == [1_000 * n + 3 for n in range(1, 21, 3)]
    assert read.values("model_loss")[0] == 1.1e4


def test_the_numbers_of_a_list_are_no_steps() -> None:
    """They rise, too, but each name stands there once."""
    read = parse_every_way(ConsoleParser, b"1 kl: 0.9\n2 entropy: 1.5\n3 reward: 21\n4 loss: 1\n")
    assert read.steps("kl") == read.steps("reward") == [1]
