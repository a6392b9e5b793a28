"""Files of one number a line, whose name says what they are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ppo_top
from ppo_top.cli import main
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.number_list import FORMAT, NumberListParser, claims
from tests.support.parser_harness import parse_every_way

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30)


@given(numbers)
def test_every_number_is_a_point(values: list[float]) -> None:
    """As `numpy.savetxt` writes them; the place is the step."""
    found = parse_every_way(NumberListParser, "".join(f"{n:.18e}\n" for n in values).encode())
    assert found.steps("") == list(range(1, len(values) + 1))
    assert found.values("") == values


def test_a_heading_and_odd_lines() -> None:
    """`pandas.Series.to_csv` writes a heading; what is no number costs its line."""
    found = parse_every_way(NumberListParser, b"reward\r\n1.5\r\nnan\r\n\r\noops\r\n-2,\r\n")
    assert found.values("")[::2] == [1.5, -2.0]
    assert math.isnan(found.values("")[1])
    assert [each.message for each in found.problems] == ["not a number"]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", None),
        (b"1.5\n2\n", None),
        (b"1.5\n2\n3\n", True),
        (b"reward\n1.5\n2\n3\n", True),
        (b"1.5\n2 3\n4\n", False),
        (b"The reward\nis 5\n", False),
    ],
)
def test_only_numbers_make_a_list(head: bytes, answer: bool | None) -> None:
    """A few lines decide."""
    assert claims("rewards.txt", head) is answer


def test_a_console_named_after_an_algorithm_is_not_waited_for() -> None:
    """Its first line may be words for long."""
    assert claims("ppo_s1.log", b"training\n") is False
    assert claims("rewards.txt", b"training\n") is None


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("runs/a/rewards.txt", "rewards"),
        ("episode_returns.csv", "episode_returns"),
        ("rewards_CartPole-v1.txt", "rewards (CartPole-v1)"),
        ("CartPole-v1_rewards.txt", "rewards (CartPole-v1)"),
        ("ppo_rewards_seed0.txt", "rewards (ppo)"),
        ("ppo_rewards3.txt", "rewards (ppo)"),
        ("CartPole_returns_3.txt", "returns (CartPole)"),
        ("test_rewards_seed0.txt", "test_rewards_seed0"),
        ("results/vanilla_dqn_scores.txt", "scores (vanilla_dqn)"),
        ("test_scores.txt", "test_scores"),
        ("mean_score_history.txt", "mean_score"),
        ("step_rewards.txt", "step_rewards"),
        ("dqn_stacked_Pong_3.out", "dqn_stacked_Pong_3"),
        ("losses.txt", "losses"),
        ("runs/a/critic_loss_2.txt", "critic_loss_2"),
        ("loss_of_signal.txt", ""),
        ("gloss.txt", ""),
        ("lengths.txt", ""),
    ],
)
def test_the_name_is_the_tag(path: str, tag: str) -> None:
    """A list of anything else than rewards and losses could be anything."""
    assert FORMAT.tag_of_path is not None and FORMAT.tag_of_path(path) == tag


def test_pandas_calls_a_column_without_a_name_0() -> None:
    """Above numbers that have a point; among whole ones a 0 is one of them."""
    read = parse_every_way(NumberListParser, b"0\n21.5\n-3.0\n")
    assert (read.steps(""), read.values("")) == ([1, 2], [21.5, -3.0])
    assert parse_every_way(NumberListParser, b"0\n0\n21\n").values("") == [0.0, 0.0, 21.0]


def test_of_a_list_named_after_an_algorithm_only_the_meaning_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is charted, and no reward until a line of the settings says so."""
    (tmp_path / "dqn_Pong_3.out").write_text("".join(f"{n % 7}.5\n" for n in range(60)))
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["verdict"], run["progress"]["step"]) == ("unjudged", 60)
    settings = tmp_path / "ppo-top.toml"
    settings.write_text('[tags]\n"dqn_Pong_3" = "reward_mean"\n')
    main(["check", "--json", "--no-cache", "--settings", str(settings), str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [(each["concept"], each["last"]) for each in run["metrics"]] == [("reward_mean", 3.5)]


@pytest.mark.parametrize("name", ["rewards.txt", "rewards.log", "rewards-vanilla-1.log"])
def test_it_is_judged(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a directory, beside nothing else."""
    draw = Random(1)
    rewards = [min(400, 20 + 2 * n) - 380 * (n > 250) + draw.gauss(0, 15) for n in range(400)]
    (tmp_path / name).write_text("".join(f"{each}\n" for each in rewards))
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["verdict"], run["findings"][0]["rule"]) == ("crit", "reward-crash")
    assert detect_format("scores.txt", b"CartPole 12\nPong 3\n") is False


def test_what_numpy_has_saved_is_a_list_in_any_output() -> None:
    """No program prints its numbers so; the name says nothing of them."""
    name = "flare_Asteri_147_3.out"
    saved = b"5.000000000000000000e+00\n-1.000000000000000000e+00\n0.000000000000000000e+00\n"
    found = detect_format(name, saved)
    assert isinstance(found, Format) and found.name == "number-list"
    assert found.tag_of_path is not None and found.tag_of_path(name) == "column 1"
    for other in (b"5.0\n-1.0\n0.0\n", b"Episode 1: 5.0\n"):
        found = detect_format(name, other)
        assert isinstance(found, Format) and found.name == "console"


@pytest.mark.parametrize(
    ("name", "concept"),
    [("rewards_per_episode.txt", "reward_mean"), ("reward.log", "reward_mean"), ("out.log", "")],
)
def test_what_numbers_behind_their_episodes_are(name: str, concept: str, tmp_path: Path) -> None:
    """`f.write(f"Episode {episode}: {reward}\\n")`: only the file's name may say it."""
    log = tmp_path / name
    log.write_text("".join(f"Episode {n}: -{n}.5\n" for n in range(50)))
    found = [each for each in ppo_top.points([log]) if each.concept != "episode"]
    assert {each.concept for each in found} == {concept}
    assert [(each.step, each.value) for each in found] == [(n, -n - 0.5) for n in range(50)]
