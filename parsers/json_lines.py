"""One JSON object a line: SB3's progress.json, RLlib's result.json, verl's file logger, any other.

Nested objects become tags joined by `/`; NaN and Infinity are read bare and as strings.
verl wraps its metrics as `{"step": 1, "data": {...}}` and writes NaN and infinity as null there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ppo_top.model import Batch, ConfigValue, Ended, Problem, State
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared import metric_names as vocabulary
from ppo_top.parsers.shared.axes import TIMES, progress, unix
from ppo_top.parsers.shared.columns import Sheet
from ppo_top.parsers.shared.json_objects import flatten, load, settings_of, step_of, value_of
from ppo_top.parsers.shared.last_values import of_lines
from ppo_top.parsers.shared.line_splitter import LONGEST, Segment, Segments

_FINISHED = ("train_runtime", "train/train_runtime")


class JsonLines:
    """Reads one file of JSON objects, one a line."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._segments = Segments(longest)
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        self._sheet = Sheet()
        self._config: dict[str, ConfigValue] = {}
        self._problems: list[Problem] = []
        self._ended: Ended | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the file and give the complete objects."""
        for segment in self._segments.each(data):
            if segment.data.strip():
                self._line(segment)
        return self._take()

    def finish(self) -> Batch:
        """A last object without its line end counts when it is closed."""
        rest = self._segments.rest()
        if rest.data.rstrip().endswith(b"}"):
            self._line(rest)
        return self._take()

    def _take(self) -> Batch:
        problems = self._segments.take_problems() + self._problems
        problems.sort(key=lambda problem: problem.offset)
        batch = Batch(self._sheet.take(), self._config, problems=problems, ended=self._ended)
        self._begin()
        return batch

    def _line(self, segment: Segment) -> None:
        found = load(segment.data)
        if isinstance(found, str):
            self._problems.append(Problem(segment.offset, found))
            return
        wrapped = found.get("data")
        if isinstance(wrapped, dict) and "step" in found and len(found) <= 3:
            self._record(wrapped, found, null=math.nan)
        else:
            self._record(found, found, null=None)

    def _record(
        self,
        values: Mapping[str, object],
        outer: Mapping[str, object],
        null: float | None,
    ) -> None:
        self._count += 1
        settings = values.get("config")
        if isinstance(settings, dict):
            self._config |= dict(settings_of(settings))
        flat = {tag: value for tag, value in flatten(values) if not tag.startswith("config/")}
        step = step_of(outer) if outer is not values else step_of(flat)
        if (told := progress(flat)) is not None:
            self._config["max_steps"] = told[1]
        time = time_of(outer)
        at = self._count if step is None else step
        for tag, value in flat.items():
            point = null if value is None else value_of(tag, value)
            if point is not None:
                self._sheet.add(tag, at, time, point)
        self._ending(values)

    def _ending(self, values: Mapping[str, object]) -> None:
        if values.get("done") is True:
            self._ended = Ended(State.FINISHED, "done: true")
        elif any(name in values for name in _FINISHED):
            self._ended = Ended(State.FINISHED, "train_runtime")


def time_of(values: Mapping[str, object]) -> float:
    """The unix time that one of the keys says, or NaN."""
    said = (values.get(name) for name in TIMES)
    return next((unix(value) for value in said if isinstance(value, float | int | str)), math.nan)


_OWN_NAMES = re.compile(r"^(?:progress|result)\.json$")
_NAMES = re.compile(r"^(?:progress|result)\.json$|\.(?:jsonl|ndjson)$", re.IGNORECASE)
_OTHERS = frozenset({"kind", "tag", "prompt", "messages", "completion", "chosen"})
"""Keys of data sets, of stores with readers of their own, and of lists of single points."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether the first line is an object with a step and a metric (or the name is a logger's)."""
    start = head.lstrip()
    if not start:
        return None
    if not start.startswith(b"{"):
        return False
    line, end, _ = start.partition(b"\n")
    found = load(line)
    if isinstance(found, str):
        if not end and len(head) < HEAD_BYTES:
            return None
        return bool(_OWN_NAMES.match(name)) and not end
    return looks_like_metrics(found) or _later(start, found, len(head))


def _later(start: bytes, first: dict[str, object], size: int) -> bool | None:
    """Whether metrics follow another object; settings may come before the first of them."""
    if not _OTHERS.isdisjoint(first):
        return False
    lines = start.split(b"\n")[1:-1]
    if any(isinstance(each := load(line), dict) and looks_like_metrics(each) for line in lines):
        return True
    settings = any(vocabulary.is_setting(tag.rpartition("/")[2]) for tag, _ in flatten(first))
    return None if settings and size < HEAD_BYTES else False


def looks_like_metrics(found: dict[str, object]) -> bool:
    """Whether an object holds a metric and the step it belongs to."""
    if not _OTHERS.isdisjoint(found):
        return False
    wrapped = found.get("data")
    values = wrapped if isinstance(wrapped, dict) else found
    flat = {tag: value_of(tag, value) for tag, value in flatten(values)}
    metric = any(vocabulary.is_metric(tag) and value is not None for tag, value in flat.items())
    return metric and (step_of(found) is not None or step_of(flat) is not None)


FORMAT = Format(
    name="jsonl",
    names=_NAMES,
    claims=claims,
    order=40,
    rank=60,
    parser=JsonLines,
    newest=of_lines(JsonLines),
)
