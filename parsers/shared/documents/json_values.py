"""JSON values as numbers and settings under flat names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ppo_top.model import ConfigValue, Histogram
from ppo_top.parsers.shared.documents.printed_dict import parse_items
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import (
    STEP_KEYS,
    TIME_KEYS,
    find_step_key,
    parse_unix_time,
    step_and_total,
)
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

MAX_JSON_VALUE_CHARS = 1 << 20
"""A longer value is a table rather than a number."""
_MAX_KEYS = 20_000
_MAX_BINS = 4096
_MAX_DEPTH = 20
_MAX_SETTING_CHARS = 300
_MAX_NUMBER_CHARS = 64
_DECODER = json.JSONDecoder()
_TRACKER_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "INF": math.inf}
_PRINTED_DICT = b"\"{'"
"""Where a text holds a dictionary that Python printed."""
_NON_FINITE_WORDS = frozenset({"nan", "inf", "-inf", "infinity", "-infinity", "+inf"})


# --- from text to values -------------------------------------------------------------------------


def parse_json(text: str | bytes) -> Any:
    """A JSON value, bare NaN and infinities allowed; raises `ValueError` for anything else."""
    if len(text) > MAX_JSON_VALUE_CHARS:
        raise ValueError(f"value longer than {MAX_JSON_VALUE_CHARS:,} characters")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("too deeply nested") from None


def parse_object(data: bytes) -> dict[str, object] | str:
    """The object of a line, or a message about what is wrong with it."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        return f"not a JSON object: {str(problem)[:80]}"
    if not isinstance(found, dict):
        return "JSON, but not an object"
    if _PRINTED_DICT in data:
        return {key: _opened(value) for key, value in found.items()}
    return found


def _opened(value: object) -> object:
    """The dictionary that Python printed into a text, `"{'kl': 0.1}"`; other values as they are."""
    items = parse_items(value) if isinstance(value, str) and value.startswith("{'") else None
    return value if items is None else dict(items)


def first_object(data: bytes | bytearray) -> dict[str, object] | None:
    """The object that a file starts with, if it is complete; whatever follows is ignored."""
    text = data.decode("utf-8", "replace").lstrip()
    if not text.startswith("{"):
        return None
    try:
        found, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


# --- flat names ----------------------------------------------------------------------------------


def flatten(
    values: Mapping[str, object], separator: str = "/", keep_typed: bool = False
) -> Iterator[tuple[str, Any]]:
    """Every value that is not an object, under its path.

    With `keep_typed` objects with a `_type` (trackers' histograms) count as values.
    """
    stack: list[tuple[str, Iterator[tuple[str, object]]]] = [("", iter(values.items()))]
    count = 0
    while stack and count < _MAX_KEYS:
        prefix, items = stack[-1]
        key, value = next(items, (None, None))
        if key is None:
            stack.pop()
        elif isinstance(value, dict) and not (keep_typed and value.get("_type") is not None):
            if len(stack) <= _MAX_DEPTH:
                stack.append((f"{prefix}{_printable(key)}{separator}", iter(value.items())))
        else:
            count += 1
            yield prefix + _printable(key), value


def _printable(key: str) -> str:
    """The key with lone surrogates replaced."""
    return key if key.isascii() else key.encode("utf-8", "replace").decode()


def settings_of(
    settings: Mapping[str, object], separator: str = "/"
) -> Iterator[tuple[str, ConfigValue]]:
    """The plain settings of a nested configuration, under their paths; lists are left out."""
    for name, value in flatten(settings, separator):
        if isinstance(value, str):
            yield name, value[:_MAX_SETTING_CHARS]
        elif isinstance(value, float) or (isinstance(value, int) and _is_int64(value)):
            yield name, value


def numbers_of(
    row: Mapping[str, object], histograms: dict[str, Histogram] | None = None
) -> Iterator[tuple[str, float]]:
    """All numbers of a tracker's row, names joined by dots; lists and histograms as quantiles.

    Whole histograms go into `histograms`, by name.
    """
    for name, value in flatten(row, ".", keep_typed=True):
        number = as_float(value)
        if number is not None:
            yield name, number
        elif isinstance(value, list):
            yield from _list_quantiles(name, value)
        elif isinstance(value, dict) and value["_type"] == "histogram":
            found = _parse_histogram(value)
            if found is not None and histograms is not None:
                histograms[name] = found
            for part, quantile in found.quantiles().items() if found is not None else ():
                yield f"{name}/{part}", quantile


# --- numbers -------------------------------------------------------------------------------------


def as_float(value: object) -> float | None:
    """A JSON value as a number; also the words that trackers write for NaN and the infinities."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return _TRACKER_WORDS.get(value) if isinstance(value, str) else None


def number_of(tag: str, value: object) -> float | None:
    """The number of a logged value; booleans have none, strings only under a metric's name."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        is_number = value.lower() in _NON_FINITE_WORDS or metric_names.is_metric(tag)
        return parse_number(value) if is_number and len(value) <= _MAX_NUMBER_CHARS else None
    return as_float(value)


def step_of(values: Mapping[str, object]) -> int | None:
    """The step that one of the keys says."""
    stated = step_and_total(values)
    if stated is not None:
        return stated[0]
    for name in STEP_KEYS:
        if (step := _parse_step(values.get(name))) is not None:
            return step
    other = find_step_key(list(values))
    return _parse_step(values[other]) if other is not None else None


def time_of(values: Mapping[str, object]) -> float:
    """The unix time in one of the keys, or NaN."""
    times = (values.get(name) for name in TIME_KEYS)
    return next(
        (parse_unix_time(value) for value in times if isinstance(value, float | int | str)),
        math.nan,
    )


def _parse_step(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return as_step(value)
    return value if _is_int64(value) else None


def _is_int64(value: int) -> bool:
    return -(2**63) <= value < 2**63


# --- histograms ----------------------------------------------------------------------------------


def _parse_histogram(value: dict[str, Any]) -> Histogram | None:
    """A histogram with n counts (`values`) between n + 1 edges (`bins`)."""
    counts = [as_float(each) for each in as_list(value.get("values"))]
    limits = [as_float(each) for each in as_list(value.get("bins"))]
    if "packedBins" in value and not limits:
        limits = list(_unpack_bins(value["packedBins"]))
    known = [each for each in (*counts, *limits) if each is not None and math.isfinite(each)]
    if not counts or len(limits) != len(counts) + 1 or len(known) != len(counts) + len(limits):
        return None
    edges = known[len(counts) :]
    return Histogram(edges[0], edges[-1], edges[1:], known[: len(counts)])


def _unpack_bins(bins: Any) -> Iterator[float]:
    """The edges of equal bins: lowest edge, bin size and number of bins."""
    if not isinstance(bins, dict):
        return
    low, size, count = (as_float(bins.get(key)) for key in ("min", "size", "count"))
    if low is None or size is None or count is None or not 0 < count <= _MAX_BINS:
        return
    yield from (low + size * place for place in range(int(count) + 1))


def _list_quantiles(name: str, values: list[Any]) -> Iterator[tuple[str, float]]:
    """Quantiles of a list of numbers, named like those of a histogram."""
    found = [as_float(each) for each in values]
    known = sorted(each for each in found if each is not None and not math.isnan(each))
    if not known or None in found:
        return
    for percent in (1, 50, 99):
        yield f"{name}/p{percent}", _quantile(known, percent / 100)
    yield f"{name}/max", known[-1]
    yield f"{name}/min", known[0]


def _quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    if place == low or ordered[low] == ordered[high]:
        return ordered[low]
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def as_list(value: object) -> list[Any]:
    """A list as it is; an empty one for anything else."""
    return value if isinstance(value, list) else []
