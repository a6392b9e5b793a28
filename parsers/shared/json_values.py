"""Values of trackers as numbers under flat names: nested objects, words for NaN, histograms."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared.histogram import Histogram

MAX_JSON_VALUE_CHARS = 1 << 20
"""Characters of one JSON value; a longer one is a table, no number."""

_NON_FINITE_NUMBERS = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "INF": math.inf,
}
_MAX_DEPTH = 16
_MAX_SETTING_CHARS = 300
_MAX_NAMES = 4096


def parse_json(text: str | bytes) -> Any:
    """A JSON value, bare NaN and infinities allowed; raises `ValueError` for anything else."""
    if len(text) > MAX_JSON_VALUE_CHARS:
        raise ValueError(f"a value of more than {MAX_JSON_VALUE_CHARS:,} characters")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("too deeply nested") from None


def as_float(value: Any) -> float | None:
    """A JSON value as a number; also the words that trackers write for NaN and the infinities."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return _NON_FINITE_NUMBERS.get(value) if isinstance(value, str) else None


def dotted_numbers(name: str, value: Any, depth: int = _MAX_DEPTH) -> Iterator[tuple[str, float]]:
    """All numbers of a value, nested names joined by dots; lists and histograms as quantiles."""
    number = as_float(value)
    if number is not None:
        yield name, number
    elif isinstance(value, list):
        yield from _list_quantiles(name, value)
    elif isinstance(value, dict) and depth:
        kind = value.get("_type")
        if kind is None:
            for key, inner in list(value.items())[:_MAX_NAMES]:
                yield from dotted_numbers(f"{name}.{key}" if name else str(key), inner, depth - 1)
        elif kind == "histogram":
            yield from histogram_quantiles(name, value)


def histogram_quantiles(name: str, value: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The quantiles of a histogram of n counts (`values`) between n + 1 limits (`bins`)."""
    counts = [as_float(each) for each in _list(value.get("values"))]
    limits = [as_float(each) for each in _list(value.get("bins"))]
    if "packedBins" in value and not limits:
        limits = list(_unpack_bins(value["packedBins"]))
    known = [each for each in (*counts, *limits) if each is not None and math.isfinite(each)]
    if not counts or len(limits) != len(counts) + 1 or len(known) != len(counts) + len(limits):
        return
    full = Histogram(known[len(counts)], known[-1], known[len(counts) + 1 :], known[: len(counts)])
    for part, number in full.quantiles().items():
        yield f"{name}/{part}", number


def _unpack_bins(bins: Any) -> Iterator[float]:
    """Equal bins in short: the least limit, the size of a bin and their number."""
    if not isinstance(bins, dict):
        return
    low, size, count = (as_float(bins.get(key)) for key in ("min", "size", "count"))
    if low is None or size is None or count is None or not 0 < count <= _MAX_NAMES:
        return
    yield from (low + size * place for place in range(int(count) + 1))


def _list_quantiles(name: str, values: list[Any]) -> Iterator[tuple[str, float]]:
    """A list of numbers, in the same words as a histogram of them."""
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


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def dotted_settings(
    name: str, value: Any, depth: int = _MAX_DEPTH
) -> Iterator[tuple[str, ConfigValue]]:
    """The plain settings of a configuration, nested names joined by dots; lists are left out."""
    if isinstance(value, dict) and depth:
        for key, inner in list(value.items())[:_MAX_NAMES]:
            yield from dotted_settings(f"{name}.{key}" if name else str(key), inner, depth - 1)
    elif isinstance(value, str):
        yield name, value[:_MAX_SETTING_CHARS]
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 63):
        yield name, value
