"""What `check` says of a training whose reward became NaN, and with it everything else."""

from __future__ import annotations

import json

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import DEMO_LOGS_FOLDER


def test_the_reward_is_named_first_and_rises_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever log of the run is read: what the other values are made of is no side note."""
    folder = DEMO_LOGS_FOLDER / "torch_cartpole_nan"
    for path in (folder, folder / "stdout.log"):
        main(["check", "--json", "--no-cache", str(path)])
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        findings = {each["rule"]: each for each in run["findings"]}
        not_a_number = findings["non-finite"]
        assert not_a_number["message"].startswith("reward became NaN, and ")
        assert not_a_number["concepts"][0] == "reward_mean"
        for finding in (not_a_number, findings["crashed"]):
            assert not any(line.startswith("reward ") for line in finding["evidence"])


def test_what_is_nan_with_the_reward_belongs_to_the_finding(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No value stands beside it as merely out of range."""
    main(["check", "--no-cache", str(DEMO_LOGS_FOLDER / "torch_cartpole_nan")])
    assert "Out of range" not in capsys.readouterr().out
