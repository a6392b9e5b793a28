"""The catalogue's defaults against those of the installed trainers."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import pytest

from ppo_top.catalogue import Option, options

pytestmark = pytest.mark.real


def lines(trainer: str) -> list[Option]:
    """The catalogue's lines of a trainer that have a default."""
    return [each for each in options() if each.trainer == trainer and each.default]


def same(said: str, real: object) -> bool:
    """Whether the catalogue's text is the trainer's value."""
    if isinstance(real, bool) or real is None or isinstance(real, str):
        return said == str(getattr(real, "value", real))
    return float(said) == float(real)  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC", "TD3"])
def test_defaults_of_sb3(algorithm):
    """What the catalogue says of SB3 is what its constructors take."""
    sb3 = pytest.importorskip("stable_baselines3")
    parameters = inspect.signature(getattr(sb3, algorithm).__init__).parameters
    listed = lines("sb3" if algorithm == "PPO" else f"sb3/{algorithm}")
    assert listed
    for line in listed:
        assert same(line.default, parameters[line.name].default), line


# TRL warns of its experimental folder, and of defaults of its own that transformers has renamed.
@pytest.mark.filterwarnings(
    "ignore:You are importing from 'trl.experimental'", "ignore::FutureWarning"
)
@pytest.mark.parametrize(
    ("trainer", "module", "name"),
    [("trl-grpo", "trl", "GRPOConfig"), ("trl-ppo", "trl.experimental.ppo", "PPOConfig")],
)
def test_defaults_of_trl(trainer, module, name, tmp_path):
    """What the catalogue says of TRL is what its configurations hold, where that is installed."""
    pytest.importorskip("trl")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        pytest.skip(f"this version of TRL has no {name}")
    config = kind(output_dir=str(tmp_path), bf16=False, use_cpu=True)
    fields = {field.name for field in dataclasses.fields(config)}
    listed = lines(trainer)
    assert listed
    for line in listed:
        assert line.name in fields, line
        assert same(line.default, getattr(config, line.name)), line
