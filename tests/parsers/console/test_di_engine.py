"""DI-engine's grids and lists, against the event file of the same training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way

DATA = Path(__file__).parents[2] / "data" / "di-engine_0.5.3"
WORKERS = {
    "learner/learner_logger.txt": ("learner",),
    "evaluator/evaluator_logger.txt": ("evaluator",),
    "../console.log": ("learner", "evaluator"),
}


def logged(algorithm: str, worker: str) -> dict[str, dict[int, float]]:
    """tag -> iteration -> value, as TensorBoard reads the event file."""
    found: dict[str, dict[int, float]] = {}
    for line in (DATA / algorithm / "expected.points").read_text().splitlines():
        point = json.loads(line)
        group, _, name = point["tag"].partition("/")
        if group == f"{worker}_iter":
            found.setdefault(f"{worker}/{name}", {})[point["step"]] = point["value"]
    return found


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
@pytest.mark.parametrize("log", WORKERS)
def test_grids_hold_what_the_event_file_holds(algorithm: str, log: str) -> None:
    """Each worker's values at its iterations, to the six decimals that are printed."""
    read = parse_every_way(ConsoleParser, (DATA / algorithm / "log" / log).read_bytes())
    for worker in WORKERS[log]:
        expected = logged(algorithm, worker)
        expected.pop("evaluator/eval_episode_return_mean", None)  # rich wraps the list beside it
        assert expected
        for tag, values in expected.items():
            assert dict(zip(read.steps(tag), read.values(tag), strict=True)) == pytest.approx(
                values, abs=1e-6, rel=1e-6
            )


@pytest.mark.parametrize("log", ["log/collector/collector_logger.txt", "console.log"])
def test_a_collectors_list_is_its_own(log: str) -> None:
    """`reward_mean` below `collect end:` is no evaluation's; floats are printed whole."""
    read = parse_every_way(ConsoleParser, (DATA / "ppo" / log).read_bytes())
    expected = logged("ppo", "collector")["collector/reward_mean"]
    assert read.values("collector/reward_mean") == pytest.approx([*expected.values()], rel=1e-6)


def test_an_evaluations_single_episodes_are_no_records() -> None:
    """Their mean follows; `final reward:` of each would be taken for the training's."""
    line = b"[EVALUATOR]env 1 finish episode, final reward: 9.0, current episode: 2\n"
    assert parse_every_way(ConsoleParser, line * 5).points == {}


HEADER = b"+----+----+\n| Name  | Params |\n+----+----+\n| Value | 3 |\n+----+----+\n"


def test_another_programs_table_of_names_is_left_alone() -> None:
    """Only below DI-engine's heading, or beginning with its iteration, a grid is its."""
    assert parse_every_way(ConsoleParser, HEADER * 3).points == {}


def seen(path: Path, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """The runs that `check --json` finds."""
    main(["check", "--json", "--no-cache", str(path)])
    runs: list[Any] = json.loads(capsys.readouterr().out)["runs"]
    return runs


def test_the_logs_of_all_workers_are_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever folder is given; each experiment is its own."""
    runs = seen(DATA, capsys)
    assert sorted((each["name"], each["family"], len(each["sources"])) for each in runs) == [
        ("ppo", "on-policy", 5),
        ("sac", "off-policy", 6),
    ]
    for folder in ("ppo", "ppo/log", "ppo/log/serial"):
        (run,) = seen(DATA / folder, capsys)
        assert (run["producer"], run["progress"]["step"]) == ("di-engine", 9128)
