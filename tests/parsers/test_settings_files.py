"""Hyperparameters in YAML and JSON files next to a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.model import ConfigValue
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.settings_files import JsonSettingsParser, YamlSettingsParser
from ppo_top.parsers.shared.documents.yaml_subset import parse_scalar
from tests.support.parser_harness import chunks, feed_parser, parse_every_way

DATA = Path(__file__).parents[1] / "data"


def test_flat_yaml() -> None:
    """The settings file of the old TRL trainer."""
    path = next((DATA / "trl_0.11.4").rglob("hparams.yml"))
    config = parse_every_way(YamlSettingsParser, path.read_bytes()).config
    assert config["cliprange"] == 0.2
    assert config["adap_kl_ctrl"] is True
    assert config["horizon"] == 10000.0
    assert config["query_dataset"] == "stanfordnlp/imdb"
    assert "max_grad_norm" not in config
    assert config["project_kwargs/logging_dir"] == "tb"


def test_a_map_as_a_list_of_pairs() -> None:
    """rl-baselines3-zoo writes ordered maps with a tag that nobody needs to understand."""
    text = b"""!!python/object/apply:collections.OrderedDict
- - - batch_size
    - 256
  - - clip_range
    - lin_0.2
  - - env_wrapper
    - null
  - - policy_kwargs
    - dict(net_arch=[64])
  - - normalize
    - true
  - - frames
    -
      - 1
      - 2
  - - gamma
    - 0.98
"""
    assert parse_every_way(YamlSettingsParser, text).config == {
        "batch_size": 256,
        "clip_range": "lin_0.2",
        "policy_kwargs": "dict(net_arch=[64])",
        "normalize": True,
        "gamma": 0.98,
    }
    found = detect_format("config.yml", text)
    assert isinstance(found, Format)
    assert found.name == "settings-yaml"


@pytest.mark.parametrize("path", sorted(DATA.glob("swanlab*/finished/swanlog/*/files/config.yaml")))
def test_trackers_wrap_their_values(path: Path) -> None:
    """`learning_rate: {value: 0.0003, desc: ...}` is the learning rate and nothing else."""
    config = parse_every_way(YamlSettingsParser, path.read_bytes()).config
    assert config["learning_rate"] == 0.0003
    assert config["clip_range"] == 0.2
    assert not any("/" in name for name in config)


def test_wandb_yaml() -> None:
    """The tracker's own section is no setting of the training."""
    data = (
        b"wandb_version: 1\n\n_wandb:\n  desc: null\n  value:\n    cli_version: 0.31.0\n"
        b"learning_rate:\n  desc: null\n  value: 0.0003\nnet:\n  value:\n    width: 64\n"
    )
    assert parse_every_way(YamlSettingsParser, data).config == {
        "learning_rate": 0.0003,
        "net/width": 64,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("3e-4", 3e-4),
        ("1.0", 1.0),
        (".5", 0.5),
        (".inf", float("inf")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("word # comment", "word"),
        ("'quoted # not'", "quoted # not"),
        ('"3"', "3"),
        ("[1, 2]", None),
        ("{a: 1}", None),
        ("!!python/object/apply:os.system ['id']", None),
        ("&anchor 3", None),
        ("*anchor", None),
        ("|", None),
    ],
)
def test_yaml_values(text: str, value: ConfigValue | None) -> None:
    """Numbers, words and truth; lists, tags, anchors and block texts are left out."""
    assert parse_scalar(text) == value
    assert type(parse_scalar(text)) is type(value)


def test_hostile_yaml() -> None:
    """Nothing runs, nothing expands, nothing grows."""
    data = b"a: &a [x, x]\nb: &b [*a, *a]\nc: !!python/name:os.system\n" + b"k" * 9000 + b": 1\n"
    read = parse_every_way(YamlSettingsParser, data + b"lr: 0.1\n")
    assert read.config == {"lr": 0.1}


def test_json_settings() -> None:
    """Nested objects get paths, lists and null are left out; nothing before the end."""
    path = next((DATA / "rllib_2.60.0").rglob("params.json"))
    exact = json.loads(path.read_text())
    config = parse_every_way(JsonSettingsParser, path.read_bytes()).config
    assert config["lr"] == exact["lr"]
    assert config["clip_param"] == exact["clip_param"]
    assert all(isinstance(value, str | int | float | bool) for value in config.values())


def test_braces_inside_of_texts() -> None:
    """A brace in a text may hide the end until the file is complete."""
    assert parse_every_way(JsonSettingsParser, b'{"a": "{", "lr": 0.1}').config == {
        "a": "{",
        "lr": 0.1,
    }


def test_bounded() -> None:
    """A file of megabytes is no file of settings."""
    read = feed_parser(JsonSettingsParser(), chunks(b'{"a": "' + b"x" * 1_100_000, 4096))
    assert read.config == {}
    assert len(read.problems) == 1


@pytest.mark.parametrize(
    ("name", "head", "format_name"),
    [
        ("config.yaml", b"lr: 0.1\n", "settings-yaml"),
        ("configuration.yaml", b"lr: 0.1\n", "settings-yaml"),
        ("hparams.yml", b"lr: 0.1\n", "settings-yaml"),
        ("args.json", b'{"lr": 0.1}', "settings-json"),
        ("params.json", b'{"lr": 0.1}', "settings-json"),
        ("tokenizer_config.json", b'{"lr": 0.1}', None),
        ("docker-compose.yaml", b"lr: 0.1\n", None),
    ],
)
def test_which_files_hold_settings(name: str, head: bytes, format_name: str | None) -> None:
    """By their usual names only."""
    found = detect_format(name, head)
    assert (found.name if isinstance(found, Format) else None) == format_name
