"""Values of one metric in a JSON document: rows of a step and a value, or a list of each.

"loss": [{"step": 10, "value": 0.5}, ...]
"loss": {"steps": [10, ...], "values": [0.5, ...]}, as in the metrics.json of Sacred
{"0": {"reward": 21.5}, "10": {"reward": 23.1}, ...}, rows under their steps
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.parsers.shared.documents.json_values import step_of
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import TIME_KEYS

_FEWEST_ROWS = 2
_VALUE = "value"
_COLUMNS = {"value": _VALUE, "step": "step", "timestamp": TIME_KEYS[0], "wall_time": TIME_KEYS[0]}
"""What the lists of one metric are called, in the singular or the plural."""

JsonRow = dict[str, object]


def values_of(name: str, value: Sequence[object]) -> list[JsonRow]:
    """The rows of `"loss": [{"step": 10, "value": 0.5}, ...]`; none if it is something else."""
    rows = [row for row in value if isinstance(row, dict)]
    if not name or len(rows) < len(value) or not all(map(_is_value_at_step, rows)):
        return []
    return [{name if key == _VALUE else key: row[key] for key in row} for row in rows]


def in_rows(value: object) -> object:
    """Rows for `{"steps": [10, 20], "values": [0.5, 0.4]}`, as Sacred has it, and for those under
    their steps; else what it was.
    """
    if not isinstance(value, dict):
        return value
    if numbered := _numbered_rows(value):
        return numbered
    columns = {_COLUMNS.get(name.removesuffix("s"), ""): each for name, each in value.items()}
    if {_VALUE, "step"} <= {*columns} and "" not in columns:
        lists = [each if isinstance(each, list) else [] for each in columns.values()]
        if len({*map(len, lists)}) == 1 and lists[0]:
            names = tuple(columns)
            rows = zip(*lists, strict=True)
            return [dict(zip(names, map(unpickled, row), strict=True)) for row in rows]
    return {name: in_rows(each) for name, each in value.items()}


def _numbered_rows(value: Mapping[str, object]) -> list[JsonRow]:
    """The rows of `{"0": {"reward": 21.5}, ...}`, in order; none if it is something else.

    The keys are their steps where they say no other.
    """
    if len(value) < _FEWEST_ROWS or not all(map(str.isdecimal, value)):
        return []
    rows = [(key, row) for key, row in value.items() if isinstance(row, dict)]
    if len(rows) < len(value) or not all(map(_holds_number, value.values())):
        return []
    stated = any(map(is_axis, rows[0][1]))
    ordered = sorted(rows, key=lambda each: int(each[0]))
    return [row if stated else {"step": int(key), **row} for key, row in ordered]


def _holds_number(row: object) -> bool:
    return isinstance(row, dict) and any(isinstance(each, int | float) for each in row.values())


def _is_value_at_step(row: JsonRow) -> bool:
    """Whether a row has a value, and beside it only its step, time and other counts."""
    others = [key for key in row if key != _VALUE]
    is_value = isinstance(row.get(_VALUE), int | float)
    return is_value and step_of(row) is not None and all(map(is_axis, others))


def unpickled(value: object) -> object:
    """The number of a NumPy scalar as jsonpickle writes it, for Sacred; else what it was."""
    return value.get("value") if isinstance(value, dict) and is_pickled(value) else value


def is_pickled(value: Mapping[str, object]) -> bool:
    return "py/object" in value or "py/reduce" in value


def is_stepped(name: str) -> bool:
    """Whether a name is that of a step."""
    return metric_names.step_axis(name.rpartition("/")[2]) is not None


def is_axis(tag: str) -> bool:
    return is_stepped(tag) or tag in TIME_KEYS
