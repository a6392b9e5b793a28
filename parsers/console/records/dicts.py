"""One-line dictionaries: what transformers 4 and 5, TRL and JSON loggers print per log call.

transformers 4 prints numbers with a bare `nan`, transformers 5 prints the numbers as strings; both
print `None`. Neither is JSON or a Python literal.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.columns import as_array
from ppo_top.parsers.shared.documents.fast_json import MINUS_ZERO, WORTH_LOADING_BYTES, json_reader
from ppo_top.parsers.shared.documents.printed_dict import DictItem, parse_items
from ppo_top.parsers.shared.names.axes import step_and_total
from ppo_top.parsers.shared.names.counter_names import may_lead
from ppo_top.parsers.shared.names.metric_names import (
    STEP_AXES,
    is_metric,
    is_never_measured,
    is_setting,
    step_axis,
)
from ppo_top.parsers.shared.text.number_text import as_step
from ppo_top.text.lazy_pattern import lazy_pattern

MAX_DICT_BYTES = 1 << 20
"""Longer dictionaries are not read."""

RUNTIME_KEY = "train_runtime"
_KEY_LOGGED_BEFORE_BAR = "policy/approxkl_avg"
_DICT_STEP_KEYS = ("step", "global_step", "train/global_step", "current_steps")
_FRACTION_KEY = "epoch"
"""The Hugging Face trainer's records have it, and count their steps in the bar only."""
_LOG_KEYS = ("train_runtime", "train_loss", "epoch", "num_tokens", "eps", "episode", "lr")
_FEWEST_SETTINGS = 3
_MAX_DICT_LAYOUTS = 256
_MOST_LINES = 256
_MIN_LINES_FOR_ORJSON = 500
"""Before that, importing orjson takes longer than it saves."""
_FIRST_ITEM = lazy_pattern(r"'([^']{1,80})': '?[-\d]")
_BETWEEN_DICTS = lazy_pattern(r"(?<=\}) (?=\{['\"][^'\"{}]{1,80}['\"]: )")
_WRAPPER = lazy_pattern(r"['\"](data|metrics)['\"]: \{")
_MOST_BESIDE_WRAPPED = 2


def with_start(text: str) -> str:
    """A dictionary, if need be with the brackets without which it was pasted; else "".

    `grep -o "'reward': [^,]*"` leaves one item a line.
    """
    if text.startswith("{"):
        return text
    item = None if "{" in text else _FIRST_ITEM.match(text)
    if item is None:
        return ""
    if text.endswith("}"):
        return "{" + text
    return "" if is_setting(item[1]) else "{" + text.rstrip(", ") + "}"


def parted(text: str) -> Sequence[str]:
    """The dictionaries of a line that holds several: copying has lost the ends of their lines."""
    return _BETWEEN_DICTS.split(text) if "} {" in text else (text,)


def parse_record(text: str) -> ConsoleRecord | None:
    """The record or the settings in a dictionary; None if it is neither."""
    items = _unwrapped(text, parse_items(text))
    if items is None:
        return None
    found = [DictItem(k, float(v)) if isinstance(v, bool) else DictItem(k, v) for k, v in items]
    values = {key: value for key, value in found if isinstance(value, float)}
    if _is_configuration(items, values):
        return ConsoleRecord([], config=_dotted(items))
    named = [item for item in found if isinstance(item.value, str)]
    measured = (key for key, value in items if type(value) is float)  # and not yes or no
    if any(is_metric(key) or key in _LOG_KEYS for key in measured) and len(named) <= len(values):
        step, axis = _step_of(values)
        stated = step_and_total(dict(found))
        totals: dict[str, ConfigValue] = {} if stated is None else {"max_steps": stated[1]}
        if stated is not None and step is None:
            step, axis = stated[0], "step"
        if step is None and (count := _leading_count(values)) is not None:
            return ConsoleRecord(list(values.items()), count, "timesteps", begins_line=True)
        return ConsoleRecord(list(values.items()), step, axis, totals)
    config: dict[str, ConfigValue] = {k: v for k, v in found if v is not None}
    return ConsoleRecord([], config=config) if any(is_setting(key) for key in config) else None


def _unwrapped(text: str, items: Sequence[DictItem] | None) -> Sequence[DictItem] | None:
    """The items, those of the one dictionary that stands beside a step under its name: as if not.

    ROLL prints `metrics_tag: {"step": 3, "metrics": {"actor/lr": 1e-06, ...}}`.
    """
    wrapper = _WRAPPER.search(text) if items else None
    if items is None or wrapper is None:
        return items
    start = f"{wrapper[1]}/"
    beside = [item.key for item in items if not item.key.startswith(start)]
    if "step" not in beside or len(beside) > _MOST_BESIDE_WRAPPED:
        return items
    return [item._replace(key=item.key.removeprefix(start)) for item in items]


def _is_configuration(items: Sequence[DictItem], values: Mapping[str, float]) -> bool:
    """Whether this is what is set, and no result: by several names that nothing is logged under.

    Or by names of settings alone, as FinRL prints the arguments of its models.

    What verl pretty-prints before it trains is a tree without a step, with several common settings
    and, of three items, at least one that is a word, yes or no, or unset.
    """
    never_measured = [is_never_measured(item.key) for item in items]
    is_all_set = len(items) >= _FEWEST_SETTINGS and all(
        is_setting(item.key) or never for item, never in zip(items, never_measured, strict=True)
    )
    if is_all_set or sum(never_measured) >= _FEWEST_SETTINGS:
        return True
    numbers = [item.key for item in items if type(item.value) is float]
    if 3 * len(numbers) > 2 * len(items) or not any("/" in key for key in numbers):
        return False
    settings = sum(is_setting(key.rpartition("/")[2]) for key in numbers)
    return settings >= _FEWEST_SETTINGS and _step_of(values)[0] is None


def _dotted(items: Sequence[DictItem]) -> dict[str, ConfigValue]:
    """Settings named as on a command line: `actor_rollout_ref.actor.clip_ratio`."""
    return {key.replace("/", "."): value for key, value in items if value is not None}


def _step_of(values: Mapping[str, float]) -> tuple[int | None, str]:
    """The step and what it counts; (None, "") if no key says so."""
    key = next((key for key in _DICT_STEP_KEYS if key in values), None)
    if key := key or next(filter(_is_global_step, values), None):
        step = as_step(values[key])
        return step, "" if step is None else "step"
    if _FRACTION_KEY in values:
        return None, ""
    for axis in STEP_AXES:
        for key, value in values.items():
            if step_axis(key) == axis and (step := as_step(value)) is not None:
                return step, axis
    return None, ""


def _leading_count(values: Mapping[str, float]) -> int | None:
    """The steps that a dictionary says first, which may be its step: `{"steps": 1000, ...}`."""
    key = next(iter(values))
    return as_step(values[key]) if _FRACTION_KEY not in values and may_lead(key) else None


def _may_have_step(keys: Collection[str]) -> bool:
    """Whether `_step_of` may find a step under these keys."""
    if any(key in keys for key in _DICT_STEP_KEYS) or any(map(_is_global_step, keys)):
        return True
    return _FRACTION_KEY not in keys and any(map(step_axis, keys))


def _is_global_step(key: str) -> bool:
    """Whether a key is a name for it in a group: `training/global_step`, `system/step` (ROLL)."""
    return key.endswith("/global_step") or key == "system/step"


def steps_ahead_of_bar(tags: Sequence[str]) -> int:
    """How many steps a record with these tags is ahead of the bar around it.

    TRL's PPO trainer logs before it moves its bar; the others move the bar first.
    """
    return int(_KEY_LOGGED_BEFORE_BAR in tags)


def runtime_text(found: ConsoleRecord) -> str:
    """The final summary of the Hugging Face trainer, or ""."""
    return next((f"{tag}: {value:g} s" for tag, value in found.values if tag == RUNTIME_KEY), "")


class DictRows(NamedTuple):
    """Dictionaries with the same keys, one after the other; the values are row after row."""

    tags: tuple[str, ...]
    values: array[float]
    size: int


class DictReader:
    """Reads dictionaries with known keys by a JSON parser, several at once."""

    def __init__(self) -> None:
        self._tags_by_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._loads: Callable[[bytes], Any] = json.loads
        self._count = 0
        self.most_lines = 1
        """How many lines to read at once: more while that goes well."""
        self.has_read = False
        """Whether there was a record."""

    def parse_line(self, line: bytes) -> tuple[tuple[str, ...], array[float]] | None:
        """Tags and values of a line without its end; None if `parse_record` has to read it."""
        rows = self._parse_rows(line + b"\n", 1)
        return (rows[0].tags, rows[0].values) if rows else None

    def parse_lines(self, lines: bytes, count: int) -> Sequence[DictRows]:
        """The rows in the first of so many whole lines; none if one has to be read by itself."""
        rows = self._parse_rows(lines, count)
        is_all = sum(each.size for each in rows) == count
        self.most_lines = min(2 * count, _MOST_LINES) if is_all else 1
        return rows

    def _parse_rows(self, lines: bytes, count: int) -> Sequence[DictRows]:
        """The rows in the first of so many lines, up to one with keys that are not known."""
        if not lines.isascii() or b"\\" in lines or b"\r" in lines or MINUS_ZERO.search(lines):
            return ()
        self._count += count
        if self._count >= _MIN_LINES_FOR_ORJSON:
            self._loads = json_reader(WORTH_LOADING_BYTES)
        text = b': "nan"'.join(lines.replace(b"'", b'"').replace(b"\n", b",").split(b": nan"))
        rows: list[DictRows] = []
        read = values_read = 0
        try:
            found = self._loads(b"[" + text[:-1] + b"]")
            for keys, alike in groupby(found, tuple):
                tags = self._tags_of(keys, lines, count)
                if not tags:
                    break
                dicts = list(alike)
                values = _as_numbers(list(chain.from_iterable(map(dict.values, dicts))))
                rows.append(DictRows(tags, values, len(dicts)))
                read, values_read = read + len(dicts), values_read + len(values)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return ()
        rest = lines.split(b"\n", read)[-1] if read < count else b""
        # Another number of colons means a repeated key or a colon in a key.
        has_all = lines.count(b":") - rest.count(b":") == values_read
        rows = rows if len(found) == count and has_all else []
        self.has_read |= bool(rows)
        return rows

    def _tags_of(self, keys: tuple[str, ...], lines: bytes, count: int) -> tuple[str, ...]:
        """The tags of these keys; none if they are read otherwise, or first seen beside others."""
        tags = self._tags_by_keys.get(keys)
        if tags is None and count == 1:
            if len(self._tags_by_keys) >= _MAX_DICT_LAYOUTS:
                self._tags_by_keys.clear()
            tags = self._tags_by_keys[keys] = keys if _reads_alike(keys, lines[:-1]) else ()
        return tags or ()


def _as_numbers(values: Sequence[Any]) -> array[float]:
    """Numbers, of which some may be text; raises `ValueError`, `TypeError` or `OverflowError`."""
    try:
        return as_array("d", values)
    except TypeError:
        return array("d", map(float, values))


def _reads_alike(tags: tuple[str, ...], line: bytes) -> bool:
    """Whether `parse_record` reads a line with these keys as a record of the same tags."""
    text = line.decode("ascii", "replace")
    found = parse_record(text) if text.isprintable() and len(line) <= MAX_DICT_BYTES else None
    if found is None or runtime_text(found) or found.begins_line or _may_have_step(tags):
        return False
    return tuple(tag for tag, _ in found.values) == tags
