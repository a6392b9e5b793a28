"""The catalogue's defaults, and the options that advice names, against the installed trainers."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import string
from pathlib import Path
from typing import Any

import pytest

from ppo_top.catalogue import Option, facts_about, options
from ppo_top.model import Profile
from ppo_top.rules.advice import AdviceOptions
from ppo_top.rules.advice.advised_option import AdvisedOption
from ppo_top.rules.advice.phrases import ADVICE_PHRASES
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.judged_run import JudgedRun

pytestmark = pytest.mark.real

RECORDED_OPTIONS = Path(__file__).parents[1] / "data" / "trl_1.12.0" / "ppo" / "options.json"


def lines(trainer: str) -> list[Option]:
    """The catalogue's lines of a trainer that have a default."""
    return [each for each in options() if each.trainer == trainer and each.default]


def same(said: str, real: object) -> bool:
    """Whether the catalogue's text is the trainer's value."""
    if isinstance(real, bool) or real is None or isinstance(real, str):
        return said == str(getattr(real, "value", real))
    return float(said) == float(real)  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC", "TD3"])
def test_defaults_of_sb3(algorithm: str) -> None:
    """What the catalogue says of SB3 is what its constructors take."""
    sb3 = pytest.importorskip("stable_baselines3")
    parameters = inspect.signature(getattr(sb3, algorithm).__init__).parameters
    listed = lines("sb3" if algorithm == "PPO" else f"sb3/{algorithm}")
    assert listed
    for line in listed:
        assert same(line.default, parameters[line.name].default), line


def of_trl(module: str, name: str) -> Any:
    """A configuration of the installed TRL; a version without it skips the test."""
    pytest.importorskip("trl")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        pytest.skip(f"this version of TRL has no {name}")


# TRL warns of its experimental folder, and of defaults of its own that transformers has renamed.
@pytest.mark.filterwarnings(
    "ignore:You are importing from 'trl.experimental'", "ignore::FutureWarning"
)
@pytest.mark.parametrize(
    ("trainer", "module", "name"),
    [
        ("trl-grpo", "trl", "GRPOConfig"),
        ("trl-rloo", "trl", "RLOOConfig"),
        ("trl-online-dpo", "trl.experimental.online_dpo", "OnlineDPOConfig"),
    ],
)
def test_defaults_of_trl(trainer: str, module: str, name: str, tmp_path: Path) -> None:
    """What the catalogue says of TRL is what its configurations hold, where that is installed."""
    kind = of_trl(module, name)
    config = kind(output_dir=str(tmp_path), bf16=False, use_cpu=True)
    fields = {field.name for field in dataclasses.fields(config)}
    listed = lines(trainer)
    assert listed
    for line in listed:
        assert line.name in fields, line
        assert same(line.default, getattr(config, line.name)), line


def recorded_options() -> dict[str, Any]:
    """The fields of PPOConfig and their defaults, of the last TRL that had a PPO trainer."""
    recorded: dict[str, Any] = json.loads(RECORDED_OPTIONS.read_text())
    return recorded


def test_defaults_of_trls_ppo() -> None:
    """What the catalogue says is what its configuration held."""
    recorded, listed = recorded_options(), lines("trl-ppo")
    assert listed
    for line in listed:
        assert same(line.default, recorded[line.name]), line


def advised(producer: str, family: str, algo: str = "") -> set[str]:
    """Every option that advice can name to a trainer's user, in the trainer's own words."""
    known = AdviceOptions(JudgedRun(Profile(producer, family, algo=algo)))
    found: set[str] = set()

    def find(name: str) -> AdvisedOption:
        """Record an option."""
        named = known.find_option(name)
        found.add(named.name)
        return named

    sentences = [line for rule in RULES if family in rule.families for line in rule.remedies]
    fields = {name for line in sentences for _, name, _, _ in string.Formatter().parse(line)}
    for name in filter(None, fields):
        try:
            ADVICE_PHRASES[name](
                find, facts_about(producer), family
            ) if name in ADVICE_PHRASES else find(name)
        except KeyError:
            continue
    return found


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC", "TD3"])
def test_sb3_has_what_advice_names(algorithm: str) -> None:
    """Its constructor takes every option, or `learn` does."""
    sb3 = pytest.importorskip("stable_baselines3")
    kind = getattr(sb3, algorithm)
    taken = {
        *inspect.signature(kind.__init__).parameters,
        *inspect.signature(kind.learn).parameters,
    }
    named = advised("sb3", "on-policy", algorithm)
    assert "learning_rate" in named
    assert named <= taken


def test_sb3_has_the_wrappers_that_advice_names() -> None:
    """VecNormalize with its switch for rewards, and Monitor."""
    pytest.importorskip("stable_baselines3")
    vectors = importlib.import_module("stable_baselines3.common.vec_env")
    assert facts_about("sb3")["reward-scaler"] == "VecNormalize(norm_reward=True)"
    assert "norm_reward" in inspect.signature(vectors.VecNormalize.__init__).parameters
    assert facts_about("sb3")["return-recorder"].startswith("Monitor(env)")
    assert hasattr(importlib.import_module("stable_baselines3.common.monitor"), "Monitor")


@pytest.mark.filterwarnings(
    "ignore:You are importing from 'trl.experimental'", "ignore::FutureWarning"
)
@pytest.mark.parametrize(
    ("producer", "family", "module", "name"),
    [
        ("trl-grpo", "grpo", "trl", "GRPOConfig"),
        ("trl-async-grpo", "grpo", "trl.experimental.async_grpo", "AsyncGRPOConfig"),
        ("trl-rloo", "grpo", "trl", "RLOOConfig"),
        ("trl-online-dpo", "grpo", "trl.experimental.online_dpo", "OnlineDPOConfig"),
    ],
)
def test_trl_has_what_advice_names(producer: str, family: str, module: str, name: str) -> None:
    """Every option is a field of the configuration, where that is installed."""
    kind = of_trl(module, name)
    named = advised(producer, family)
    assert "learning_rate" in named
    assert named <= {field.name for field in dataclasses.fields(kind)}


def test_trls_ppo_has_what_advice_names() -> None:
    """Every option was a field of its configuration."""
    named = advised("trl-ppo", "rlhf")
    assert "learning_rate" in named
    assert named <= recorded_options().keys()
