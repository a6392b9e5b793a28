"""TensorBoard's downloads as CSV."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.parsers.shared.names.download_names import tag_of
from ppo_top.parsers.tensorboard_csv import TensorBoardCsvParser, claims
from tests.support.parser_harness import parse_every_way

HEADER = b"Wall time,Step,Value\n"


def test_every_line_is_a_point() -> None:
    """With its time; half a line is none."""
    found = parse_every_way(
        TensorBoardCsvParser, HEADER + b"1700000000.5,2048,21.5\n1700000001.5,4096,nan\nx,1\n17"
    )
    assert found.steps("") == [2048, 4096]
    assert found.times("") == [1700000000.5, 1700000001.5]
    assert found.points[""][0][2] == "21.5"
    assert [each.message for each in found.problems] == ["not a time, a step and a value"]


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("run-PPO_1-tag-rollout_ep_rew_mean.csv", "rollout/ep_rew_mean"),
        ("run-.-tag-charts_episodic_return.csv", "charts/episodic_return"),
        ("PPO_1.csv", "PPO_1 (Value)"),
        ("ctf_rewards_2.csv", "rewards"),
        ("explained_variance.csv", "explained_variance"),
        ("seed3 value-loss final.csv", "value_loss"),
    ],
)
def test_the_name_holds_the_tag(name: str, tag: str) -> None:
    """The browser put underscores for its slashes."""
    assert tag_of(f"runs/{name}") == tag


def test_nothing_is_claimed_of_a_file_that_is_named_by_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`Value` is the heading of any metric: it is no critic's value, nor another file's metric."""
    for name in ("PPO_1", "PPO_2"):
        (tmp_path / f"{name}.csv").write_bytes(HEADER + b"1700000000.5,2048,21.5\n")
    main(["check", "-v", "--no-cache", str(tmp_path)])
    assert "value mean" not in capsys.readouterr().out
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert {each["tag"]: each["concept"] for each in run["metrics"]} == {
        "PPO_1 (Value)": None,
        "PPO_2 (Value)": None,
    }


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", None),
        (b"Wall ti", None),
        (HEADER, True),
        (b"Walltime,Step,Value\r\n", True),
        (b"Wall time,Step\n", False),
        (b"x", False),
    ],
)
def test_the_header_is_known(head: bytes, answer: bool | None) -> None:
    """Other tables are left to other formats."""
    assert claims("a.csv", head) is answer


def test_files_of_several_tags_are_one_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Downloaded one by one into a directory."""
    for tag in ("rollout_ep_rew_mean", "train_approx_kl"):
        rows = "".join(f"{1.7e9 + n},{2048 * n},{n / 100}\n" for n in range(1, 31))
        (tmp_path / f"run-PPO_1-tag-{tag}.csv").write_bytes(HEADER + rows.encode())
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert {each["concept"] for each in run["metrics"]} == {"reward_mean", "approx_kl"}
    assert run["progress"]["updates"] == 30
