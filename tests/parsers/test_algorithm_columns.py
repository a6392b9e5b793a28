"""Tables with the rewards of several algorithms side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.parsers.run_columns import algorithms_parser, claims_algorithms
from tests.support.parser_harness import chunks, feed_trainings

TABLE = b"Episode,PER-DDQN,TD3\n0,-965.5,-6230\n1,-30.25,-5908\n2,,12.5\n3,,\nx,1,2\n4,1\n"


@pytest.mark.parametrize("size", [1, 7, len(TABLE)])
def test_each_column_is_a_training(size: int) -> None:
    """An algorithm that has fewer episodes leaves its cells empty."""
    found = feed_trainings(algorithms_parser(), chunks(TABLE, size))
    first, other = found[""], found["TD3"]
    assert first.values_by_step() == {
        "Episode": [(0, 0.0), (1, 1.0)],
        "rewards": [(0, -965.5), (1, -30.25)],
    }
    assert other.values_by_step() == {
        "Episode": [(0, 0.0), (1, 1.0), (2, 2.0)],
        "rewards": [(0, -6230.0), (1, -5908.0), (2, 12.5)],
    }
    assert [each.message for each in first.problems] == ["not a row of numbers"] * 2
    assert other.notes == ["training 2 in this table: the column of TD3"]


def test_names_that_look_alike_in_a_path_are_kept_apart() -> None:
    """Each column has a run of its own."""
    table = b"episode,DQN,PPO (a),PPO [a]\n1,1,2,3\n"
    found = feed_trainings(algorithms_parser(), chunks(table, 9))
    assert {run: each.values("rewards") for run, each in found.items()} == {
        "": [1.0],
        "PPO_a_-2": [2.0],
        "PPO_a_-3": [3.0],
    }


@pytest.mark.parametrize(
    ("name", "head", "answer"),
    [
        ("training_rewards.csv", b"Episode,DQN,PPO\n", True),
        ("training_rewards.csv", b"Episode,DQ", None),
        ("times.csv", b"Episode,DQN,PPO\n", False),
        ("rewards.csv", b"Episode,DQN\n", False),
        ("rewards.csv", b"Episode,DQN,baseline\n", False),
        ("rewards.csv", b"Episode,PPO_mean,PPO_std\n", False),
        ("rewards.csv", b"Episode,PPO reward,DQN reward\n", False),
        ("rewards.csv", b"DQN,PPO\n", False),
    ],
)
def test_the_header_and_the_files_name_say_so(name: str, head: bytes, answer: bool | None) -> None:
    """Other tables are left to other formats."""
    assert claims_algorithms(name, head) is answer


def test_they_are_runs_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a reward each, at the numbers of its episodes."""
    rows = "".join(f"{n},{n},{-n}\n" for n in range(1, 31))
    (tmp_path / "episode_rewards.csv").write_text(f"episode,DQN,Double DQN\n{rows}")
    main(["check", "--json", "--no-cache", str(tmp_path)])
    runs = json.loads(capsys.readouterr().out)["runs"]
    metrics = [each for run in runs for each in run["metrics"] if each["tag"] == "rewards"]
    assert [run["progress"]["axis"] for run in runs] == ["episode", "episode"]
    assert sorted(each["last"] for each in metrics) == [-30.0, 30.0]
    assert {each["concept"] for each in metrics} == {"reward_mean"}
