"""Stable-Baselines3 prints the mean of a hundred episodes: what is new in it is computed back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import fmean

import pytest

from ppo_top.cli import main
from tests.support.drawn_runs import jitter

TABLE = """\
----------------------------------
| rollout/            |          |
|    ep_len_mean      | {length:<8.3g} |
|    ep_rew_mean      | {reward:<8.3g} |
|    exploration_rate | 0.05     |
| time/               |          |
|    episodes         | {episodes:<8} |
|    fps              | 2556     |
|    time_elapsed     | {episodes:<8} |
|    total_timesteps  | {steps:<8} |
| train/              |          |
|    learning_rate    | 0.001    |
|    loss             | 0.281    |
|    n_updates        | {steps:<8} |
----------------------------------
"""
"""As `HumanOutputFormat` writes the tables of DQN (stable_baselines3/common/logger.py, 2.7)."""


def printed(returns: list[float], every: int = 4) -> str:
    """The tables of a DQN whose episodes cost 1 a step, one table every so many episodes."""
    tables = []
    for end in range(every, len(returns) + 1, every):
        mean, steps = fmean(returns[max(0, end - 100) : end]), -sum(returns[:end])
        tables.append(TABLE.format(length=-mean, reward=mean, episodes=end, steps=round(steps)))
    return "".join(tables)


def learns(episode: int) -> float:
    """From -60 to -10 within 150 episodes."""
    return -float(round(60.0 - min(50.0, episode / 3.0) + abs(jitter(episode, 2.0))))


def messages(log: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What `check` says of a console, by rule."""
    path = folder / "train.log"
    path.write_text(log, encoding="utf-8")
    main(["check", "--json", "--ended", "--no-cache", str(path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return {
        each["rule"]: each["message"] for each in run["findings"] if each["rule"] in run["open"]
    }


def test_a_fall_is_found_while_the_window_still_holds_better_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Forty episodes ago all was lost: the printed mean has fallen from -11 to -31 so far."""
    lost = [learns(i) for i in range(400)] + [-60.0] * 40
    said = messages(printed(lost), tmp_path, capsys)["reward-crash"]
    fell = re.match(r"reward of new episodes fell from (\S+) to (\S+)", said)
    assert fell is not None
    assert [*map(float, fell.groups())] == pytest.approx([-11.0, -60.0], abs=1.0)


def test_what_is_kept_is_no_fall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same run without the loss."""
    kept = [learns(i) for i in range(440)]
    assert "reward-crash" not in messages(printed(kept), tmp_path, capsys)
