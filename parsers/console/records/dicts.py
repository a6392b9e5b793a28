"""One-line dictionaries: what transformers 4 and 5, TRL and JSON loggers print per log call.

transformers 4 prints numbers with a bare `nan`, transformers 5 prints the numbers as strings; both
print `None`. Neither is JSON or a Python literal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.documents.fast_json import WORTH_LOADING_BYTES, json_reader
from ppo_top.parsers.shared.documents.printed_dict import DictItem, parse_items
from ppo_top.parsers.shared.names.axes import step_and_total
from ppo_top.parsers.shared.names.metric_names import STEP_AXES, is_metric, is_setting, step_axis
from ppo_top.parsers.shared.text.number_text import (
    as_step,
)

MAX_DICT_BYTES = 1 << 20
"""Longer dictionaries are not read."""

RUNTIME_KEY = "train_runtime"
_KEY_LOGGED_BEFORE_BAR = "objective/kl"
_DICT_STEP_KEYS = ("step", "global_step", "train/global_step", "current_steps")
_FRACTION_KEY = "epoch"
"""The Hugging Face trainer's records have it, and count their steps in the bar only."""
_LOG_KEYS = ("train_runtime", "train_loss", "epoch", "num_tokens", "eps", "episode", "lr")
_MAX_DICT_LAYOUTS = 256
_MIN_LINES_FOR_ORJSON = 500
"""Before that, importing orjson takes longer than it saves."""
_MINUS_ZERO = re.compile(rb"-0(?![\d.eE])")
"""JSON reads it as an integer, which has no sign."""


def parse_record(text: str) -> ConsoleRecord | None:
    """The record or the settings in a dictionary; None if it is neither."""
    items = parse_items(text)
    if items is None:
        return None
    found = [DictItem(k, float(v)) if isinstance(v, bool) else DictItem(k, v) for k, v in items]
    values = {key: value for key, value in found if isinstance(value, float)}
    named = [item for item in found if isinstance(item.value, str)]
    if any(is_metric(key) or key in _LOG_KEYS for key in values) and len(named) <= len(values):
        step, axis = _step_of(values)
        stated = step_and_total(dict(found))
        totals: dict[str, ConfigValue] = {} if stated is None else {"max_steps": stated[1]}
        if stated is not None and step is None:
            step, axis = stated[0], "step"
        return ConsoleRecord(list(values.items()), step, axis, totals)
    config: dict[str, ConfigValue] = {k: v for k, v in found if v is not None}
    return ConsoleRecord([], config=config) if any(is_setting(key) for key in config) else None


def _step_of(values: Mapping[str, float]) -> tuple[int | None, str]:
    """The step and what it counts; (None, "") if no key says so."""
    for key in _DICT_STEP_KEYS:
        if key in values:
            step = as_step(values[key])
            return step, "" if step is None else "step"
    if _FRACTION_KEY in values:
        return None, ""
    for axis in STEP_AXES:
        for key, value in values.items():
            if step_axis(key) == axis and (step := as_step(value)) is not None:
                return step, axis
    return None, ""


def _may_have_step(keys: Collection[str]) -> bool:
    """Whether `_step_of` may find a step under these keys."""
    if any(key in keys for key in _DICT_STEP_KEYS):
        return True
    return _FRACTION_KEY not in keys and any(map(step_axis, keys))


def steps_ahead_of_bar(tags: Sequence[str]) -> int:
    """How many steps a record with these tags is ahead of the bar around it.

    TRL's PPO trainer logs before it moves its bar; the others move the bar first.
    """
    return int(_KEY_LOGGED_BEFORE_BAR in tags)


def runtime_text(found: ConsoleRecord) -> str:
    """The final summary of the Hugging Face trainer, or ""."""
    return next((f"{tag}: {value:g} s" for tag, value in found.values if tag == RUNTIME_KEY), "")


class DictReader:
    """Reads dictionaries with known keys by a JSON parser, a few times as fast."""

    def __init__(self) -> None:
        self._tags_by_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._loads: Callable[[bytes], Any] = json.loads
        self._count = 0

    def parse_line(self, line: bytes) -> tuple[tuple[str, ...], list[float]] | None:
        """Tags and values of an ASCII line; None if `parse_record` has to read it."""
        if b"\\" in line or _MINUS_ZERO.search(line):
            return None
        self._count += 1
        if self._count == _MIN_LINES_FOR_ORJSON:
            self._loads = json_reader(WORTH_LOADING_BYTES)
        try:
            found = self._loads(line.replace(b"'", b'"').replace(b": nan", b': "nan"'))
            values = list(map(float, found.values()))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None
        keys = tuple(found)
        tags = self._tags_by_keys.get(keys)
        if tags is None:
            if len(self._tags_by_keys) >= _MAX_DICT_LAYOUTS:
                self._tags_by_keys.clear()
            tags = self._tags_by_keys[keys] = keys if _reads_alike(keys, line) else ()
        # Another number of colons means a repeated key or a colon in a key.
        return (tags, values) if tags and line.count(b":") == len(tags) else None


def _reads_alike(tags: tuple[str, ...], line: bytes) -> bool:
    """Whether `parse_record` reads a line with these keys as a record of the same tags."""
    text = line.decode("ascii", "replace")
    found = parse_record(text) if text.isprintable() and len(line) <= MAX_DICT_BYTES else None
    if found is None or runtime_text(found) or _may_have_step(tags):
        return False
    return tuple(tag for tag, _ in found.values) == tags
