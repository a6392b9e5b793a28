"""d3rlpy's CSV files: one a metric, which its name tells; all of a folder are one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ppo_top
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.metric_files import D3rlpyCsvParser, claims_d3rlpy
from tests.support.parser_harness import feed_parser, parse_every_way
from tests.support.recordings import assert_truncation_is_harmless, damaged_bytes

RETURNS = b"1,500,21.5\n2,1000,1e-05\n3,1500,nan\n"


def test_the_second_column_is_the_step_and_the_third_the_value() -> None:
    """The first counts epochs; however the bytes arrive."""
    read = parse_every_way(D3rlpyCsvParser, RETURNS)
    assert read.steps("") == [500, 1000, 1500]
    assert read.values("")[:2] == [21.5, 1e-05]
    assert_truncation_is_harmless(D3rlpyCsvParser, RETURNS)


def test_damage_is_reported_with_its_place() -> None:
    """What is not an epoch, a step and a value."""
    for seed in range(300):
        data = damaged_bytes(RETURNS, seed)
        for problem in feed_parser(D3rlpyCsvParser(), [data]).problems:
            assert 0 <= problem.offset <= len(data)
    read = parse_every_way(D3rlpyCsvParser, b"1,500,2.5\nnonsense\n2,1000,3.5\n")
    assert [problem.offset for problem in read.problems] == [10]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", None),
        (b"1,50", None),
        (b"1,500,-0.", None),
        (b"1,500,nan\n", True),
        (b"1,500,21.5\r", None),
        (b"1,500,21.5\r\n", True),
        (b"1,500,2e-05\n2,", True),
        (b"500,1,21.5\n", False),
        (b"500,21.5\n", False),
        (b"epoch,step,value\n", False),
    ],
)
def test_it_is_told_by_its_first_line(head: bytes, answer: bool | None) -> None:
    """An epoch, a step no smaller, and a number, without a header."""
    assert claims_d3rlpy("loss.csv", head) is answer


@pytest.mark.parametrize("name", ["rollout_return", "time_step", "critic_loss", "evaluation"])
def test_files_are_told_by_their_names(name: str) -> None:
    """Those of its metrics; a script's own table of rewards is none."""
    found, other = detect_format(f"{name}.csv", RETURNS), detect_format("rewards.csv", RETURNS)
    assert isinstance(found, Format) and found.name == "d3rlpy-csv"
    assert isinstance(other, Format) and other.name != "d3rlpy-csv"


def test_a_folder_of_files_is_one_run_on_environment_steps(tmp_path: Path) -> None:
    """`FileAdapter.write_metric` prints `{epoch},{step},{value}` into `<name>.csv`."""
    run = tmp_path / "d3rlpy_logs" / "DoubleDQN_online_20261127204500"
    run.mkdir(parents=True)
    settings = {"config": {"type": "double_dqn", "params": {"gamma": 0.5, "batch_size": 32}}}
    (run / "params.json").write_text(json.dumps(settings, indent=2))
    for epoch in range(1, 41):
        values = {
            "time_environment_step": 4.1e-05,
            "rollout_return": 20.0 + 3.0 * epoch,
            "loss": 0.5,
            "evaluation": 22.0 + 3.0 * epoch,
        }
        for name, value in values.items():
            with (run / f"{name}.csv").open("a") as file:
                print(f"{epoch},{epoch * 500},{value}", file=file)
    (verdict,) = ppo_top.check([tmp_path])["runs"]
    assert (verdict["producer"], verdict["family"]) == ("d3rlpy", "value-based")
    assert verdict["config"]["gamma"] == 0.5
    rewards = [p for p in ppo_top.points([tmp_path]) if p.concept == "reward_mean"]
    assert (len(rewards), rewards[-1].step, rewards[-1].value) == (40, 20_000, 140.0)


def test_an_offline_training_is_one_run_judged_by_its_evaluations(tmp_path: Path) -> None:
    """`fit` collects nothing: its only rewards are those of an evaluator.

    `FileAdapter.watch_model` writes a table beside the metrics for each layer's gradients.
    """
    run = tmp_path / "d3rlpy_logs" / "CQL_20261128100813"
    run.mkdir(parents=True)
    layer = run / "q_funcs.0._encoder._layers.0.weight_grad.csv"
    layer.write_text("epoch,step,min,max,mean,std\n")
    for epoch in range(1, 41):
        score = 100.0 + 10.0 * epoch if epoch <= 20 else 90.0
        values = {
            "critic_loss": 0.5,
            "conservative_loss": -0.1 * epoch,
            "actor_loss": 3.0 + 0.1 * epoch,
            "temp": 0.9,
            "alpha": 1.0,
            "time_algorithm_update": 4.1e-03,
            "time_sample_batch": 4.1e-05,
            "environment": score + epoch % 3,
            "soft_opc": 0.2,
        }
        for name, value in values.items():
            with (run / f"{name}.csv").open("a") as file:
                print(f"{epoch},{epoch * 1000},{value}", file=file)
        with layer.open("a") as file:
            print(f"{epoch},{epoch * 1000},-0.02,0.02,-1e-05,0.003", file=file)
    (verdict,) = ppo_top.check([tmp_path])["runs"]
    assert (verdict["producer"], verdict["family"]) == ("d3rlpy", "off-policy")
    findings = {each["rule"]: each["severity"] for each in verdict["findings"]}
    assert findings["reward-crash"] in ("warn", "crit")
    assert "no-reward" not in findings


def test_its_console_says_the_same() -> None:
    """structlog's coloured line behind the bar: keys in order of the alphabet, the step last."""
    line = (
        " {0}%|###  | {1}/2000 [00:08<00:30, 168.4it/s]\x1b[2m2026-11-27 21:07.29\x1b[0m "
        "[\x1b[32m\x1b[1minfo     \x1b[0m] \x1b[1mDQN_online_20261127: epoch={2} step={1}\x1b[0m "
        "\x1b[36mepoch\x1b[0m=\x1b[35m{2}\x1b[0m \x1b[36mmetrics\x1b[0m=\x1b[35m"
        "{{'time_step': 0.007, 'loss': 0.28, 'rollout_return': {3}}}\x1b[0m "
        "\x1b[36mstep\x1b[0m=\x1b[35m{1}\x1b[0m\n"
    )
    text = "".join(line.format(25 * n, 500 * n, n, 20.5 + n) for n in (1, 2, 3))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()["rollout_return"] == [(500, 21.5), (1000, 22.5), (1500, 23.5)]
    assert read.steps("loss") == [500, 1000, 1500]
