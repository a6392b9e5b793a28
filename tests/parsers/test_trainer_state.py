"""trainer_state.json of the Hugging Face trainer."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ppo_top.model import State
from ppo_top.parsers import detect_format, trainer_state
from ppo_top.parsers.base import Format
from ppo_top.parsers.trainer_state import TrainerStateParser
from tests.support.parser_harness import feed_parser, parse_every_way

HERE = Path(__file__).parents[2]
FILES = sorted((HERE / "demo_logs").rglob("trainer_state.json")) + sorted(
    (HERE / "tests" / "data").rglob("trainer_state.json")
)

SMALL = b"""\
{
  "global_step": 2,
  "log_history": [
    {
      "grad_norm": NaN,
      "loss": 0.5,
      "note": null,
      "reward": -Infinity,
      "step": 1
    },
    {
      "eval_loss": 0.25,
      "step": 2
    }
  ],
  "logging_steps": 1,
  "max_steps": 100,
  "num_train_epochs": 4
}
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_agrees_with_the_json_module(path: Path) -> None:
    """Every number of the history at its step, in full precision."""
    state = json.loads(path.read_text())
    expected: dict[str, list[tuple[int, float]]] = {}
    for entry in state["log_history"]:
        for tag, value in entry.items():
            if tag != "step" and value is not None:
                expected.setdefault(tag, []).append((entry["step"], float(value)))
    read = feed_parser(TrainerStateParser(), [path.read_bytes()])
    assert repr(read.values_by_step()) == repr(expected)
    assert read.config["max_steps"] == state["max_steps"]


def test_odd_numbers_and_settings() -> None:
    """Bare NaN and Infinity are values, null is not; max_steps gives the total."""
    read = parse_every_way(TrainerStateParser, SMALL)
    assert math.isnan(read.values("grad_norm")[0])
    assert read.values_by_step()["reward"] == [(1, -math.inf)]
    assert read.values_by_step()["eval_loss"] == [(2, 0.25)]
    assert "note" not in read.points
    assert read.config == {"max_steps": 100, "logging_steps": 1, "num_train_epochs": 4}


def test_nothing_is_given_before_the_end() -> None:
    """The object counts when it is closed, at whatever byte that is."""
    last = SMALL.rindex(b"}") + 1
    for place in range(last):
        assert feed_parser(TrainerStateParser(), [SMALL[:place]], finish=False).points == {}
    assert feed_parser(TrainerStateParser(), [SMALL[:last]], finish=False).points


def test_a_run_that_is_over() -> None:
    """A record with train_runtime ends the history of a finished run."""
    data = SMALL.replace(b'"eval_loss": 0.25', b'"train_runtime": 12.5')
    read = parse_every_way(TrainerStateParser, data)
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


def test_broken_files_are_problems() -> None:
    """What is no JSON, or has no history, is said."""
    assert parse_every_way(TrainerStateParser, SMALL.replace(b"NaN", b"Nan")).problems
    assert parse_every_way(TrainerStateParser, b'{\n"global_step": 1\n}\n').problems


def test_what_is_a_trainer_state() -> None:
    """Its keys tell it."""
    assert trainer_state.claims("trainer_state.json", SMALL) is True
    assert trainer_state.claims("trainer_state.json", b"") is None
    assert trainer_state.claims("trainer_state.json", b"[1]") is False


@pytest.mark.parametrize("name", ["trainer_state.json", "trainer_state_checkpoint-25.json"])
def test_a_copy_may_have_a_longer_name(name: str) -> None:
    """People append the checkpoint's number when they copy the file out of its folder."""
    found = detect_format(name, SMALL)
    assert isinstance(found, Format)
    assert found.name == "trainer-state"


@pytest.mark.parametrize("name", ["training_logs.json", "log_history.json", "train_log.json"])
def test_a_copy_under_another_name_is_known_by_its_keys(name: str) -> None:
    """People save the history to keep it; another object with epochs is none."""
    found = detect_format(name, SMALL)
    assert isinstance(found, Format)
    assert found.name == "trainer-state"
    other = detect_format(name, b'{"epoch": [1, 2, 3], "loss": [0.5, 0.4, 0.3]}' + b" " * 70_000)
    assert isinstance(other, Format)
    assert other.name == "json-document"
