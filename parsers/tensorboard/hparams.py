"""Hyperparameters in event files: text summaries (tables, JSON, `key: value` lines) and hparams."""

from __future__ import annotations

import json
from typing import Any

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared.documents.json_values import flatten
from ppo_top.parsers.shared.stores.protobuf import (
    BYTES,
    ProtobufField,
    double,
    fields,
    messages,
    text,
)
from ppo_top.text.lazy_pattern import lazy_pattern

_TABLE_RULE = lazy_pattern(r"\s*:?-+:?\s*")
_KEY = lazy_pattern(r"[\w.\-/]{1,80}")
_SEPARATOR = lazy_pattern(r"[:=]")
_SKIPPED_STARTS = ("#", "---", "- ")
_NUMBER_TEXT = lazy_pattern(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_INTEGER_TEXT = lazy_pattern(r"[-+]?[0-9]+")
_WORDS: dict[str, ConfigValue | None] = {"true": True, "false": False, "none": None, "null": None}
_MAX_TEXT_CHARS = 300
"""Longer values (prompts, lists of layers) are of no use to rules and readers."""
_MAX_SETTINGS = 2000


def settings_from_text(words: str) -> dict[str, ConfigValue]:
    """The settings in a text summary; empty when it is ordinary text."""
    words = words.strip()
    if words.startswith("|"):
        return _from_table(words)
    if words.startswith(("{", "```")):
        return _from_json(words.strip("`").removeprefix("json"))
    return _from_lines(words)


def settings_from_plugin(data: bytes) -> dict[str, ConfigValue]:
    """The settings in the hparams plugin's `session_start_info`; raises `MalformedMessage`."""
    found: dict[str, ConfigValue] = {}
    for info in messages(data, ProtobufField(0, BYTES, 0, len(data)), 3):
        for entry in messages(data, info, 1):
            parts = {each.number: each for each in fields(data, entry.start, entry.stop)}
            value = _plugin_value(data, parts[2]) if 2 in parts else None
            if 1 in parts and value is not None:
                found[text(data, parts[1])] = value
    return found


def _plugin_value(data: bytes, value: ProtobufField) -> ConfigValue | None:
    """A `google.protobuf.Value`: number, string or bool; None for anything else."""
    for each in fields(data, value.start, value.stop):
        if each.number == 2:
            return double(data, each)
        if each.number == 3:
            return _short_or_none(text(data, each))
        if each.number == 4:
            return bool(each.integer)
    return None


def _from_table(words: str) -> dict[str, ConfigValue]:
    """A table of two columns in Markdown, with a rule below its head."""
    rows = [line.strip().strip("|").split("|", 1) for line in words.splitlines() if "|" in line]
    if len(rows) < 3 or not all(_TABLE_RULE.fullmatch(cell) for cell in rows[1]):
        return {}
    pairs = ((row[0].strip(" *`"), row[1].strip(" `")) for row in rows[2:] if len(row) == 2)
    return _short_settings({key: parse_value(value) for key, value in pairs})


def _from_json(words: str) -> dict[str, ConfigValue]:
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        return {}
    return _short_settings(dict(flatten(found, ".")) if isinstance(found, dict) else {})


def _from_lines(words: str) -> dict[str, ConfigValue]:
    """Lines of `key: value` or `key = value`, at least one of them a number or a bool.

    A single other line makes it ordinary text.
    """
    pairs: dict[str, ConfigValue | None] = {}
    for line in words.splitlines():
        key, *value = _SEPARATOR.split(line.strip(), maxsplit=1)
        if not key or key.startswith(_SKIPPED_STARTS):
            continue
        if not value or not _KEY.fullmatch(key.strip()) or len(pairs) >= _MAX_SETTINGS:
            return {}
        pairs[key.strip()] = parse_value(value[0].strip())
    if all(isinstance(value, str | None) for value in pairs.values()):
        return {}
    return _short_settings(pairs)


def parse_value(words: str) -> ConfigValue | None:
    """A number, a bool, None or the text itself."""
    if words.lower() in _WORDS:
        return _WORDS[words.lower()]
    if len(words) < 40 and _NUMBER_TEXT.fullmatch(words):
        return int(words) if _INTEGER_TEXT.fullmatch(words) else float(words)
    return words.strip("'\"")


def _short_or_none(words: str) -> str | None:
    return words if words and len(words) <= _MAX_TEXT_CHARS else None


def _short_settings(pairs: dict[str, Any]) -> dict[str, ConfigValue]:
    """The pairs with a short plain value."""
    found: dict[str, ConfigValue] = {}
    for key, value in pairs.items():
        if len(found) >= _MAX_SETTINGS:
            break
        if isinstance(value, str):
            value = _short_or_none(value)
        if isinstance(value, str | int | float) and key and len(key) <= _MAX_TEXT_CHARS:
            found[key] = value
    return found
