"""Logs of episodes: every view calls their rows episodes, and their numbers no steps."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.output.reports.html_report import html_report
from tests.support.screens import read_session


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command prints."""
    main([str(each) for each in arguments])
    return capsys.readouterr().out


def progress(capsys: pytest.CaptureFixture[str], log: Path) -> dict[str, Any]:
    """How far the one run of `check --json` has come."""
    (run,) = json.loads(printed(capsys, "check", "--json", log))["runs"]
    found: dict[str, Any] = run["progress"]
    return found


def kinds(capsys: pytest.CaptureFixture[str], log: Path) -> tuple[str, str]:
    """What its steps and its rows are."""
    found = progress(capsys, log)
    return found["axis"], found["row"]


def rewards(count: int) -> list[float]:
    """Returns that do not rise, of this many episodes."""
    chance = random.Random(4)
    return [round(chance.gauss(20.0, 4.0), 2) for _ in range(count)]


@pytest.fixture
def monitor(tmp_path: Path) -> Path:
    """A `monitor.csv` of Stable-Baselines3, of 600 episodes that teach nothing."""
    lines = [f"{reward},20,{at}.5" for at, reward in enumerate(rewards(600))]
    log = tmp_path / "flat" / "monitor.csv"
    log.parent.mkdir()
    log.write_text("\n".join(['#{"t_start": 1.7e9, "env_id": "Own-v0"}', "r,l,t", *lines]) + "\n")
    return log


def write_script(folder: Path, every: int = 1) -> Path:
    """The console of a script that prints one of `every` episodes, 300 lines in all."""
    lines = [
        f"Episode {every * number} reward {reward} loss 0.25"
        for number, reward in enumerate(rewards(300), 1)
    ]
    log = folder / "train.log"
    log.write_text("\n".join(lines) + "\n")
    return log


def test_rows_of_a_monitor_are_episodes(monitor: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At the environment's steps; in the report, and in what the finding says."""
    assert kinds(capsys, monitor) == ("step", "episode")
    text = printed(capsys, "check", monitor)
    assert "step 12,000 · 600 episodes" in text
    assert "in the first 600 episodes" in text
    assert "update" not in text.partition("Crucial values")[0].partition("why")[0]


def test_so_does_the_page(monitor: Path) -> None:
    """The HTML report."""
    page = html_report(read_session([monitor.parent]).runs.values(), now=0.0)
    assert "600 episodes" in page


def test_episodes_of_one_environment_stand_for_all(
    monitor: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several that run side by side: the report says so."""
    for number in range(4):
        (monitor.parent / f"{number}.monitor.csv").write_bytes(monitor.read_bytes())
    monitor.unlink()
    text = printed(capsys, "check", monitor.parent)
    assert "step 48,000 · 600 episodes of one of 4 environments" in text


def test_rows_beside_evaluations_are_episodes(
    monitor: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evaluations of the same training are rows of their own, and not counted."""
    evaluations = ["timesteps,mean_reward", *(f"{at},20.5" for at in range(2_000, 12_001, 2_000))]
    (monitor.parent / "eval.csv").write_text("\n".join(evaluations) + "\n")
    assert kinds(capsys, monitor) == ("step", "episode")


def test_a_count_of_episodes_is_no_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`Episode 300` is an episode, wherever it is said."""
    log = write_script(tmp_path)
    assert kinds(capsys, log) == ("episode", "episode")
    text = printed(capsys, "check", log)
    assert "episode 300" in text and "step 300" not in text
    assert "300 episodes\n" not in text.splitlines()[1]  # the number says it already
    points = printed(capsys, "export", "--format", "jsonl", log).splitlines()
    assert {json.loads(point)["axis"] for point in points} == {"episode"}


def test_rows_of_several_episodes_are_updates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that prints every tenth episode: 300 rows of 3,000 episodes."""
    log = write_script(tmp_path, every=10)
    assert kinds(capsys, log) == ("episode", "update")
    assert "episode 3,000 · 300 updates" in printed(capsys, "check", log)


def test_episodes_beside_steps_are_only_a_metric(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first row may have the same number of both."""
    table = tmp_path / "log.csv"
    rows = [f"{200 * number},{number},{reward}" for number, reward in enumerate(rewards(40))]
    table.write_text("\n".join(["timesteps,episode,reward", *rows]) + "\n")
    assert kinds(capsys, table) == ("step", "update")
