"""Whether a file holds a log of JSON lines: what its first objects are."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.parsers.base import HEAD_BYTES
from ppo_top.parsers.shared.documents.json_values import (
    flatten,
    number_of,
    parse_object,
    step_of,
)
from ppo_top.parsers.shared.documents.python_literals import is_literal
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.counter_names import is_counter
from ppo_top.parsers.shared.tables.rising_counter import counted_steps
from ppo_top.text.lazy_pattern import lazy_pattern

_LOGGER_FILE_NAMES = lazy_pattern(r"^(?:progress|result)\.json$")
_FOREIGN_KEYS = frozenset({"kind", "tag", "prompt", "messages", "completion", "chosen"})
"""Keys of data sets, of formats with their own parser, and of lists of single points."""
_ROWS_LOOKED_AT = 16
_SAMPLE_KEYS = ({"input", "output"}, {"traj_idx"})
"""Keys of samples with their scores, of which verl and tinker-cookbook write a file each step."""


def claims_lines(name: str, head: bytes) -> bool | None:
    """Whether the first line is an object with a step and a metric (or a logger's name)."""
    start = head.lstrip()
    if not start:
        return None
    if not start.startswith(b"{") or is_literal(start):
        return False
    line, end, _ = start.partition(b"\n")
    found = parse_object(line)
    if isinstance(found, str):
        if not end and len(head) < HEAD_BYTES:
            return None
        return bool(_LOGGER_FILE_NAMES.match(name)) and not end
    if not start[len(line) :].strip() and _holds_rows(found):
        return False
    return _looks_like_metrics(found) or _metrics_follow(start, found, len(head))


def _holds_rows(found: dict[str, object]) -> bool:
    """Whether it is a document, with a list of objects in it, and no line of a log."""
    lists = (value for _, value in flatten(found) if isinstance(value, list))
    return any(isinstance(each, dict) for rows in lists for each in rows[:1])


def _metrics_follow(start: bytes, first: dict[str, object], size: int) -> bool | None:
    """Whether metrics follow another object; settings may come before the first of them."""
    if _is_foreign(first):
        return False
    read = map(parse_object, start.split(b"\n")[1:-1])
    others = [each for each in read if isinstance(each, dict)]
    if any(map(_looks_like_metrics, others)) or _rows_count([first, *others]):
        return True
    settings = any(metric_names.is_setting(tag.rpartition("/")[2]) for tag, _ in flatten(first))
    return None if settings and size < HEAD_BYTES else False


def _rows_count(rows: Sequence[dict[str, object]]) -> bool:
    """Whether objects with a metric count by numbers whose name alone does not tell: `steps`."""
    few = [
        {tag: number_of(tag, value) for tag, value in flatten(row)}
        for row in rows[:_ROWS_LOOKED_AT]
    ]
    return any(map(metric_names.is_metric, few[-1])) and bool(counted_steps(few))


def _is_foreign(found: dict[str, object]) -> bool:
    """Whether an object is of a data set, of samples or of another format."""
    keys = found.keys()
    return bool(_FOREIGN_KEYS & keys) or any(sample <= keys for sample in _SAMPLE_KEYS)


def _looks_like_metrics(found: dict[str, object]) -> bool:
    """Whether an object holds a metric and the step it belongs to."""
    if _is_foreign(found):
        return False
    wrapped = found.get("data")
    values = wrapped if isinstance(wrapped, dict) else found
    flat = {tag: number_of(tag, value) for tag, value in flatten(values)}
    metric = any(metric_names.is_metric(tag) and value is not None for tag, value in flat.items())
    counted = (tag for tag, value in flat.items() if value is not None and is_counter(tag))
    return metric and (step_of(found) is not None or step_of(flat) is not None or any(counted))
