"""Shares of episodes that reached their goal: of training, which explores, and of evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main

EPOCHS = 30


def learns(epoch: int) -> float:
    """It reaches nearly every goal after ten epochs."""
    return round(min(1.0, 0.1 * max(0, epoch - 1)), 2)


def never(epoch: int) -> float:
    """No episode reaches its goal."""
    return 0.0


@pytest.fixture
def verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Checks a `progress.csv` of HER (baselines/her/her.py, rollout.py and ddpg.py: `logs`)."""

    def checked(**success: Callable[[int], float]) -> dict[str, Any]:
        shares = {f"{name}/success_rate": course for name, course in success.items()}
        rows = [",".join(("epoch", *shares, "test/mean_Q", "test/episode", "train/episode"))]
        for i in range(EPOCHS):
            values = (course(i) for course in shares.values())
            counts = (-2.0 - 0.01 * i, 20.0 * (i + 1), 100.0 * (i + 1))
            rows.append(",".join(map(str, (i, *values, *counts))))
        (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
        main(["check", "--json", "--no-cache", str(tmp_path)])
        run: dict[str, Any] = json.loads(capsys.readouterr().out)["runs"][0]
        return run

    return checked


def test_evaluation_tells_what_exploration_hides(verdict: Callable[..., dict[str, Any]]) -> None:
    """Random actions and noise fail every training episode of a policy that reaches each goal."""
    run = verdict(train=never, test=learns)
    assert {each["tag"]: each["concept"] for each in run["metrics"]}.items() >= {
        "train/success_rate": "success_rate",
        "test/success_rate": "eval_success_rate",
    }.items()
    assert [each["rule"] for each in run["findings"]] == ["at-ceiling"]
    assert run["verdict"] == "healthy"


def test_evaluation_that_never_succeeds_is_an_alarm(
    verdict: Callable[..., dict[str, Any]],
) -> None:
    """What training reaches now and then with its noise does not excuse it."""
    run = verdict(train=never, test=never)
    assert run["verdict"] == "warn"
    assert ["eval_success_rate" in each["concepts"] for each in run["findings"]] == [True]


def test_without_evaluation_training_counts(verdict: Callable[..., dict[str, Any]]) -> None:
    """The success of training episodes is all that there is."""
    run = verdict(train=learns)
    assert [each["rule"] for each in run["findings"]] == ["at-ceiling"]
