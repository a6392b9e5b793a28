"""Hyperparameters in event files: text summaries in the forms that trainers write, and hparams."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from ppo_top.parsers.tensorboard.hparams import settings_from_text
from ppo_top.parsers.tensorboard.parser import TensorBoardParser
from tests.support.event_files import event_record, plugin_metadata, scalar_record, text_record
from tests.support.parser_harness import feed_parser, parse_every_way

HERE = Path(__file__).parents[3]
CLEANRL = """|param|value|
|-|-|
|exp_name|ppo|
|learning_rate|0.00025|
|total_timesteps|500000|
|anneal_lr|True|
|target_kl|None|
|clip_coef|2e-1|"""


def hparams(tag: str, content: bytes) -> bytes:
    """A value of the hparams plugin: everything stands in its metadata."""
    return event_record(Summary.Value(tag=tag, metadata=plugin_metadata("hparams", content)))


def config(*records: bytes) -> dict[str, object]:
    """The configuration in the records, however they are cut."""
    return parse_every_way(TensorBoardParser, b"".join(records)).config


def test_a_table_in_markdown() -> None:
    """CleanRL's hyperparameters: numbers, truths and names; what is None is absent."""
    assert config(text_record("hyperparameters", CLEANRL)) == {
        "exp_name": "ppo",
        "learning_rate": 0.00025,
        "total_timesteps": 500_000,
        "anneal_lr": True,
        "clip_coef": 0.2,
    }


def test_json() -> None:
    """The Trainer's arguments: nested ones with a dot, lists and nulls left out."""
    words = (
        '{"learning_rate": 3e-06, "beta": 0.04, "bf16": false,'
        ' "fsdp": [], "x": null, "o": {"a": 1}}'
    )
    assert config(text_record("args", words)) == {
        "learning_rate": 3e-06,
        "beta": 0.04,
        "bf16": False,
        "o.a": 1,
    }


def test_the_models_own_configuration_is_told_apart() -> None:
    """A model may have a `beta` of its own: its names get a prefix."""
    records = [text_record("args", '{"beta": 0.04}'), text_record("model_config", '{"beta": 7}')]
    assert config(*records) == {"beta": 0.04, "model_config.beta": 7}


@pytest.mark.parametrize(
    "words",
    [
        "lr: 0.1\nname: ppo\n",
        "---\n# the settings\nlr: 0.1\n\nname: 'ppo'",
        "lr = 0.1\nname = ppo",
        "trainer:\n  lr: 0.1\n  name: ppo\n  layers:\n  - 64\n",
    ],
)
def test_lines_of_names_and_values(words: str) -> None:
    """YAML as it is mostly written, and assignments."""
    assert config(text_record("config", words)) == {"lr": 0.1, "name": "ppo"}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "The quick brown fox: it jumps.",
        "user: hello\nassistant: how do you do",
        "Loss went up at 3:30\nlr: 0.1",
        "| step | text |\n|---|---|",
        "|not|a table|",
        "[1, 2, 3]",
        '{"a": ',
        '{"a": ' * 100_000,
        "|" * 100_000,
        " " * 300_000 + "x",
        "a" * 300_000 + ": 1",
        "```" * 1000,
    ],
    ids=lambda words: words[:12],
)
def test_ordinary_text_is_no_configuration(words: str) -> None:
    """Samples, dialogues, broken and hostile text: nothing, at once."""
    assert settings_from_text(words) == {}


@given(st.text())
def test_any_text_is_taken(words: str) -> None:
    """No text raises, and what is found are short single values."""
    for key, value in settings_from_text(words).items():
        assert key
        assert isinstance(value, str | int | float)
        assert len(str(value)) <= 400


def test_long_values_are_left_out() -> None:
    """A prompt of a thousand characters among the settings tells nobody anything."""
    table = CLEANRL + f"\n|prompt|{'word ' * 200}|"
    assert "prompt" not in config(text_record("hyperparameters", table))


def test_the_hparams_plugin() -> None:
    """The start of a session: numbers, names and truths; a value without a kind is nothing."""
    message = HParamsPluginData(version=0)
    settings = message.session_start_info.hparams
    settings["lr"].number_value = 0.1
    settings["optimizer"].string_value = "adam"
    settings["anneal"].bool_value = True
    settings["off"].bool_value = False
    settings["none"].SetInParent()
    value = hparams("_hparams_/session_start_info", message.SerializeToString())
    assert config(value, scalar_record("loss", 1, 0.5)) == {
        "lr": 0.1,
        "optimizer": "adam",
        "anneal": True,
        "off": False,
    }


def test_other_messages_of_the_hparams_plugin() -> None:
    """The experiment and the session's end say nothing of this run's settings."""
    end, experiment = HParamsPluginData(version=0), HParamsPluginData(version=0)
    end.session_end_info.end_time_secs = 1.5
    experiment.experiment.description = "learning_rate: 3"
    for message in (end, experiment):
        assert config(hparams("_hparams_/other", message.SerializeToString())) == {}
    nameless = b"\x1a\x02\x0a\x00"
    assert config(hparams("_hparams_/session_start_info", nameless)) == {}


def test_a_broken_hparams_message_is_a_problem() -> None:
    """With a good checksum around it; the points after it are read."""
    broken = hparams("_hparams_/session_start_info", b"\x1a\x7f")
    found = feed_parser(TensorBoardParser(), [broken, scalar_record("a", 1, 0.5)])
    assert found.config == {}
    assert len(found.problems) == 1
    assert found.values("a") == [0.5]


def test_demo_logs_tell_their_settings() -> None:
    """The real logs of two trainers hold the learning rate that they were trained with."""
    for name in ("torch_cartpole", "trl_grpo"):
        (path,) = (HERE / "demo_logs" / name).rglob("*tfevents*")
        found = feed_parser(TensorBoardParser(), [path.read_bytes()])
        assert isinstance(found.config["learning_rate"], float)
