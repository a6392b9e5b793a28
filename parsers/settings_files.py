"""Hyperparameters kept beside a log: config.yaml, params.json, hparams.yml and their like.

Weights & Biases and SwanLab wrap each value (`learning_rate: {value: 0.0003, desc: ...}`); the
wrapping is taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ppo_top.model import Batch, ConfigValue, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.json_objects import first_object, settings_of
from ppo_top.parsers.shared.line_splitter import Segments
from ppo_top.parsers.shared.yaml_subset import LONGEST, Outline

_LARGEST = 1 << 20
_MOST = 2000
_WRAPPING = re.compile(r"^([^/]+)/value(?=/|$)")
_BESIDE = re.compile(r"^[^/]+/(?:desc|sort)$|^_wandb(?:/|$)|^wandb_version$")


def named(found: Iterable[tuple[str, ConfigValue]]) -> dict[str, ConfigValue]:
    """Settings by name, without the wrapping of experiment trackers."""
    return {_WRAPPING.sub(r"\1", path): value for path, value in found if not _BESIDE.match(path)}


class YamlSettings:
    """Reads a YAML file of settings line by line."""

    def __init__(self) -> None:
        self._segments = Segments(LONGEST)
        self._outline = Outline()
        self._left = _MOST

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the file and give the complete lines' settings."""
        found = []
        for segment in self._segments.each(data):
            pair = self._outline.line(segment.data.decode("utf-8", "replace"))
            if pair is not None and self._left > 0:
                self._left -= 1
                found.append(pair)
        return Batch(config=named(found), problems=self._segments.take_problems())

    def finish(self) -> Batch:
        """Nothing: a last line without its end may be cut in the middle of its value."""
        return Batch()


class JsonSettings:
    """Waits for the end of one JSON object, then gives its settings."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._open = 0  # braces not closed yet, those in texts included
        self._done = False

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the file; give the settings once the object is closed."""
        if self._done:
            return Batch()
        self._data += data
        self._open += data.count(b"{") - data.count(b"}")
        if len(self._data) > _LARGEST:
            self._end()
            return Batch(problems=[Problem(0, f"settings of more than {_LARGEST:,} bytes")])
        return self._read() if self._open <= 0 else Batch()

    def finish(self) -> Batch:
        """Braces inside of texts may have hidden the end."""
        return Batch() if self._done else self._read()

    def _read(self) -> Batch:
        """The settings of the first object, if it is closed; what follows it is no concern."""
        found = first_object(self._data)
        if found is None:
            return Batch()
        self._end()
        return Batch(config=dict(list(named(settings_of(found)).items())[:_MOST]))

    def _end(self) -> None:
        self._done = True
        self._data = bytearray()


_YAML = re.compile(r"^(?:config|hparams|args|settings|params|hyperparameters|\w+_config)\.ya?ml$")
_JSON = re.compile(r"^(?:config|hparams|args|params|hyperparameters|hyperparams|\w+_args)\.json$")


def claims_yaml(_name: str, head: bytes) -> bool | None:
    """Whether the file starts like a map of plain values."""
    if not head.strip():
        return None
    if b"\x00" in head:
        return False
    complete = head.decode("utf-8", "replace").split("\n")[:-1]
    outline = Outline()
    if any(outline.line(line) is not None for line in complete):
        return True
    return None if len(head) < HEAD_BYTES else False


def claims_json(_name: str, head: bytes) -> bool | None:
    """Whether the file starts like an object."""
    start = head.lstrip()
    return start.startswith(b"{") and b"\x00" not in head if start else None


FORMATS = (
    Format(
        name="settings-yaml",
        names=_YAML,
        claims=claims_yaml,
        order=70,
        parser=YamlSettings,
        rewritten=True,
    ),
    Format(
        name="settings-json",
        names=_JSON,
        claims=claims_json,
        order=70,
        parser=JsonSettings,
        rewritten=True,
    ),
)
