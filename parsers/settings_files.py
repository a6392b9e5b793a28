"""Hyperparameters in files next to a log: config.yaml, params.json, hparams.yml and their like.

Weights & Biases and SwanLab wrap each value (`learning_rate: {value: 0.0003, desc: ...}`); these
wrappers are removed.
"""

from __future__ import annotations

from collections.abc import Iterable

from ppo_top.model import Batch, ConfigValue, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.documents.json_values import first_object, settings_of
from ppo_top.parsers.shared.documents.yaml_subset import MAX_YAML_LINE_CHARS, YamlReader
from ppo_top.parsers.shared.text.line_splitter import LineSplitter
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_JSON_BYTES = 1 << 20
_MAX_SETTINGS = 2000
_TRACKER_WRAPPER = lazy_pattern(r"^([^/]+)/value(?=/|$)")
_TRACKER_KEYS = lazy_pattern(r"^[^/]+/(?:desc|sort)$|^_wandb(?:/|$)|^wandb_version$")


def unwrap_settings(found: Iterable[tuple[str, ConfigValue]]) -> dict[str, ConfigValue]:
    """Settings by name, without the wrapping of experiment trackers."""
    return {
        _TRACKER_WRAPPER.sub(r"\1", path): value
        for path, value in found
        if not _TRACKER_KEYS.match(path)
    }


class YamlSettingsParser:
    """Reads a YAML file of settings line by line."""

    def __init__(self) -> None:
        self._splitter = LineSplitter(MAX_YAML_LINE_CHARS)
        self._yaml = YamlReader()
        self._settings_left = _MAX_SETTINGS

    def feed(self, data: bytes) -> Batch:
        """The settings of the lines that the next bytes complete."""
        found = []
        for segment in self._splitter.complete_segments(data):
            pair = self._yaml.read_line(segment.data.decode("utf-8", "replace"))
            if pair is not None and self._settings_left > 0:
                self._settings_left -= 1
                found.append(pair)
        return Batch(config=unwrap_settings(found), problems=self._splitter.pop_problems())

    def finish(self) -> Batch:
        """Nothing more: a last line without its end may be cut in the middle of its value."""
        return Batch()


class JsonSettingsParser:
    """Waits for the end of one JSON object, then returns its settings."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._open_braces = 0  # unclosed braces, including those in strings
        self._done = False

    def feed(self, data: bytes) -> Batch:
        """The settings, once the object is closed."""
        if self._done:
            return Batch()
        self._data += data
        self._open_braces += data.count(b"{") - data.count(b"}")
        if len(self._data) > _MAX_JSON_BYTES:
            self._stop()
            return Batch(problems=[Problem(0, f"settings larger than {_MAX_JSON_BYTES:,} bytes")])
        return self._parse() if self._open_braces <= 0 else Batch()

    def finish(self) -> Batch:
        """Braces in strings may have hidden the end."""
        return Batch() if self._done else self._parse()

    def _parse(self) -> Batch:
        """The settings of the first object, if it is closed; whatever follows is ignored."""
        found = first_object(self._data)
        if found is None:
            return Batch()
        self._stop()
        return Batch(config=dict(list(unwrap_settings(settings_of(found)).items())[:_MAX_SETTINGS]))

    def _stop(self) -> None:
        self._done = True
        self._data = bytearray()


def claims_yaml(_name: str, head: bytes) -> bool | None:
    """Whether the file starts like a map of plain values."""
    if not head.strip():
        return None
    if b"\x00" in head:
        return False
    complete = head.decode("utf-8", "replace").split("\n")[:-1]
    outline = YamlReader()
    if any(outline.read_line(line) is not None for line in complete):
        return True
    return None if len(head) < HEAD_BYTES else False


def claims_json(_name: str, head: bytes) -> bool | None:
    """Whether the file starts like an object."""
    start = head.lstrip()
    return start.startswith(b"{") and b"\x00" not in head if start else None


FORMATS = (
    Format(
        name="settings-yaml",
        claims=claims_yaml,
        claim_order=70,
        parser=YamlSettingsParser,
        rewritten=True,
    ),
    Format(
        name="settings-json",
        claims=claims_json,
        claim_order=70,
        parser=JsonSettingsParser,
        rewritten=True,
    ),
)
