"""JSON objects as flat tables of tags: what formats of records and of settings share."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared import metric_names
from ppo_top.parsers.shared.axes import STEP_KEYS, find_step_key, step_and_total
from ppo_top.parsers.shared.number_text import as_step, parse_number

_MAX_KEYS = 20_000
_MAX_DEPTH = 20
_DECODER = json.JSONDecoder()
_NON_FINITE_WORDS = frozenset({"nan", "inf", "-inf", "infinity", "-infinity", "+inf"})


def parse_object(data: bytes) -> dict[str, object] | str:
    """The object of a line, or the words of what is wrong with it."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        return f"not a JSON object: {str(problem)[:80]}"
    return found if isinstance(found, dict) else "a JSON value that is no object"


def first_object(data: bytes | bytearray) -> dict[str, object] | None:
    """The object that a file starts with, if it is closed; what stands behind it is left alone."""
    text = data.decode("utf-8", "replace").lstrip()
    if not text.startswith("{"):
        return None
    try:
        found, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def flatten(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Every value that is no object, under its path."""
    stack: list[tuple[str, Iterator[tuple[str, object]], int]] = [("", iter(values.items()), 0)]
    given = 0
    while stack and given < _MAX_KEYS:
        prefix, items, depth = stack[-1]
        key, value = next(items, (None, None))
        if key is None:
            stack.pop()
        elif isinstance(value, dict):
            if depth < _MAX_DEPTH:
                stack.append((f"{prefix}{printable_key(key)}/", iter(value.items()), depth + 1))
        else:
            given += 1
            yield prefix + printable_key(key), value


def printable_key(key: str) -> str:
    """A key that can be printed: half surrogate pairs are replaced."""
    return key if key.isascii() else key.encode("utf-8", "replace").decode()


def number_of(tag: str, value: object) -> float | None:
    """The number of a value; words and booleans have none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        named = value.lower() in _NON_FINITE_WORDS or metric_names.is_metric(tag)
        return parse_number(value) if named and len(value) <= 64 else None
    return None


def step_of(values: Mapping[str, object]) -> int | None:
    """The step that one of the keys says."""
    told = step_and_total(values)
    if told is not None:
        return told[0]
    for name in STEP_KEYS:
        if (step := _parse_step(values.get(name))) is not None:
            return step
    other = find_step_key(list(values))
    return _parse_step(values[other]) if other is not None else None


def _parse_step(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return as_step(value) if isinstance(value, float) else _as_int64(value)


def _as_int64(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def settings_of(settings: Mapping[str, object]) -> Iterator[tuple[str, ConfigValue]]:
    """The plain settings of a nested configuration, under their paths."""
    for name, value in flatten(settings):
        if isinstance(value, str | bool | float):
            yield name, value[:200] if isinstance(value, str) else value
        elif isinstance(value, int) and _as_int64(value) is not None:
            yield name, value
