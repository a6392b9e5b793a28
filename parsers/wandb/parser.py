"""Weights & Biases' transaction log (`run-*.wandb`), as runs with and without a network write it.

Its messages are described in wandb's `wandb_internal.proto`. A row of history has a counter of its
own (`_step`); the step that is given is `train/global_step`, `global_step` or a step metric that
the run declared, where the row has one. System metrics and the summary, which repeats the last
values after every row, are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Batch, Columns, Ended, Problem, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.console_output import Written
from ppo_top.parsers.shared.json_values import as_float, numbers, settings
from ppo_top.parsers.shared.leveldb import Log, Record
from ppo_top.parsers.shared.magic import begins
from ppo_top.parsers.shared.number_text import whole
from ppo_top.parsers.shared.protobuf import BYTES, Field, Malformed, fields, signed, text
from ppo_top.parsers.shared.timestamps import timestamp
from ppo_top.parsers.wandb.items import Names, item_of, row_of

IDENT = b":W&B\xe1\xbe"
"""Name and magic number; the version follows."""

_HISTORY, _OUTPUT, _CONFIG, _METRIC, _OUTPUT_RAW, _RUN, _EXIT = 2, 4, 5, 12, 13, 17, 18
_GLOBAL_STEPS = ("train/global_step", "global_step")
_MOST_AXES = 64
_OWN = frozenset(("_step", "_timestamp", "_runtime", "_wandb"))


class Wandb:
    """Reads one transaction log."""

    def __init__(self) -> None:
        self._log = Log(IDENT)
        self._columns = Columns()
        self._axes: list[str] = list(_GLOBAL_STEPS)
        self._streams: dict[int, Written] = {}
        self._names: Names = {}
        self._batch = Batch()
        self._ended: Ended | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes; give what is complete."""
        return self._collect(self._log.add(data))

    def finish(self) -> Batch:
        """Give what a damaged end still holds, and the console's last words."""
        batch = self._collect(self._log.finish())
        for stream in self._streams.values():
            batch.lines.extend(stream.rest())
        return batch

    def _collect(self, found: Iterator[Record | Problem]) -> Batch:
        self._batch = batch = Batch()
        before = self._ended
        for each in found:
            if isinstance(each, Problem):
                batch.problems.append(each)
                continue
            try:
                self._record(each)
            except Malformed as error:
                batch.problems.append(Problem(each.offset, f"a record cannot be read: {error}"))
        batch.points = self._columns.take()
        if batch.points or self._ended is not before:
            batch.ended = self._ended
        return batch

    def _record(self, record: Record) -> None:
        """One record holds one message; its number tells which."""
        data = record.data
        for field in fields(data, 0, len(data)):
            if field.wire != BYTES:
                continue
            if field.number == _HISTORY:
                self._history(data, field)
            elif field.number in (_OUTPUT, _OUTPUT_RAW):
                self._output(data, field, record.offset)
            elif field.number == _CONFIG:
                self._config(data, field)
            elif field.number == _RUN:
                self._run(data, field)
            elif field.number == _METRIC:
                self._metric(data, field)
            elif field.number == _EXIT:
                self._exit(data, field)

    def _history(self, data: bytes, message: Field) -> None:
        """One row: numbers under their names, at one step and time."""
        row = row_of(data, message, self._names)
        flat = {path[0]: value for path, value in row if len(path) == 1}
        step = self._step(flat)
        if step is None:
            step = _counter(data, message)
        time = as_float(flat.get("_timestamp"))
        time = UNKNOWN_TIME if time is None or not math.isfinite(time) else time
        add = self._columns.add if self._ended is None else self._add_behind_end
        for path, value in row:
            if path[0] in _OWN:
                continue
            tag = path[0] if len(path) == 1 else ".".join(path)
            if type(value) is float:
                add(tag, step, time, value)
                continue
            for name, number in numbers(tag, value):
                add(name, step, time, number)

    def _add_behind_end(self, tag: str, step: int, time: float, value: float) -> None:
        """A point behind a crash: the run went on."""
        if self._ended is not None and self._ended.state is State.DIED:
            self._ended = None
        self._columns.add(tag, step, time, value)

    def _step(self, row: dict[str, Any]) -> int | None:
        for axis in (*self._axes, "_step"):
            number = as_float(row.get(axis))
            step = None if number is None else _step_of(row[axis], number)
            if step is not None:
                return step
        return None

    def _metric(self, data: bytes, message: Field) -> None:
        """A step metric that the run declared."""
        for field in fields(data, message.start, message.stop):
            if field.number == 4:
                axis = text(data, field)
                if axis and axis not in self._axes and len(self._axes) < _MOST_AXES:
                    self._axes.append(axis)

    def _run(self, data: bytes, message: Field) -> None:
        """The run's first record holds the configuration it began with."""
        for field in fields(data, message.start, message.stop):
            if field.number == 4 and field.wire == BYTES:
                self._config(data, field)

    def _config(self, data: bytes, message: Field) -> None:
        for field in fields(data, message.start, message.stop):
            if field.number == 1 and field.wire == BYTES:
                found = item_of(data, field)
                if found is not None and found[0][0] != "_wandb":
                    self._batch.config.update(settings(".".join(found[0]), found[1]))

    def _output(self, data: bytes, message: Field, offset: int) -> None:
        """Something that the run wrote to the console."""
        kind, words, time = 0, "", UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                kind = field.integer
            elif field.number == 2:
                time = timestamp(data, field)
            elif field.number == 3:
                words = text(data, field)
        if kind in (0, 1):
            stream = self._streams.setdefault(kind, Written())
            self._batch.lines.extend(stream.add(words, offset, time))

    def _exit(self, data: bytes, message: Field) -> None:
        code = 0
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                code = signed(field.integer)
        state = State.DIED if code else State.FINISHED
        self._ended = Ended(state, f"exit code {code}")


def _counter(data: bytes, message: Field) -> int:
    """The row's number, where no value says its step."""
    for field in fields(data, message.start, message.stop):
        if field.number == 2 and field.wire == BYTES:
            for inner in fields(data, field.start, field.stop):
                if inner.number == 1:
                    return signed(inner.integer)
    return 0


def _step_of(value: Any, number: float) -> int | None:
    """A whole number as a step; an integer keeps every digit."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        return value
    return whole(number)


FORMAT = Format(
    name="wandb",
    names=re.compile(r"\.wandb$"),
    claims=begins(IDENT),
    order=10,
    rank=90,
    parser=Wandb,
    held=True,
)
