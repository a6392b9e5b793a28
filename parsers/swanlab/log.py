"""SwanLab's record files: `run-*.swanlab` (0.8 and later) and `backup.swanlab` (0.6 and 0.7).

Both are framed alike; the newer holds protocol buffers, the older one JSON object a record.
SwanLab's measurements of the machine (`__swanlab__...`) are no metrics of the run: left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Batch, Columns, Ended, Problem, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.console_output import Written
from ppo_top.parsers.shared.json_values import as_float, load
from ppo_top.parsers.shared.leveldb import Log, Record
from ppo_top.parsers.shared.magic import begins
from ppo_top.parsers.shared.number_text import whole
from ppo_top.parsers.shared.protobuf import BYTES, Field, Malformed, double, fields, signed, text
from ppo_top.parsers.shared.timestamps import iso, timestamp

IDENT = b":SWL\xd6\xe1"
"""Name and magic number; the version follows."""

SYSTEM = "__swanlab__."
"""How the names of the machine's measurements begin."""

_FINISH, _SCALAR, _LOG = 11, 13, 16
_ENDS = {
    1: Ended(State.FINISHED, "finished"),
    2: Ended(State.DIED, "crashed"),
    3: Ended(State.DIED, "aborted"),
}


class Swanlab:
    """Reads one record file of either kind."""

    def __init__(self) -> None:
        self._log = Log(IDENT)
        self._columns = Columns()
        self._written = Written()
        self._batch = Batch()
        self._ended: Ended | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes; give what is complete."""
        return self._collect(self._log.add(data))

    def finish(self) -> Batch:
        """Give what a damaged end still holds, and the console's last words."""
        batch = self._collect(self._log.finish())
        batch.lines.extend(self._written.rest())
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
            except (Malformed, ValueError) as error:
                batch.problems.append(Problem(each.offset, f"a record cannot be read: {error}"))
        batch.points = self._columns.take()
        if batch.points or self._ended is not before:
            batch.ended = self._ended
        return batch

    def _record(self, record: Record) -> None:
        data = record.data
        if data.startswith(b"{"):  # no message begins so: its first field has the number 1
            self._object(load(data), record.offset)
            return
        for field in fields(data, 0, len(data)):
            if field.wire != BYTES:
                continue
            if field.number == _SCALAR:
                self._scalar(data, field)
            elif field.number == _LOG:
                self._console(data, field, record.offset)
            elif field.number == _FINISH:
                self._finish(data, field)

    # --- protocol buffers --------------------------------------------------------------------

    def _scalar(self, data: bytes, message: Field) -> None:
        """One number; a zero, in value or step, is not written at all."""
        key, step, time, value = "", 0, UNKNOWN_TIME, None
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                key = text(data, field)
            elif field.number == 2:
                step = signed(field.integer)
            elif field.number == 4:
                time = timestamp(data, field)
            elif field.number == 5:
                value = _number(data, field)
        if value is not None:
            self._point(key, step, time, value)

    def _point(self, key: str, step: int, time: float, value: float) -> None:
        if key and not key.startswith(SYSTEM):
            self._columns.add(key, step, time, value)
            if self._ended is not None and self._ended.state is State.DIED:
                self._ended = None  # a point behind a crash: the run went on

    def _console(self, data: bytes, message: Field, offset: int) -> None:
        words, time = "", UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                words = text(data, field)
            elif field.number == 3:
                time = timestamp(data, field)
        self._line(words, offset, time)

    def _line(self, words: str, offset: int, time: float) -> None:
        """A record is a line, with or without its end."""
        self._batch.lines.extend(self._written.add(f"{words.rstrip()}\n", offset, time))

    def _finish(self, data: bytes, message: Field) -> None:
        state, error = 0, ""
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                state = field.integer
            elif field.number == 2:
                error = text(data, field)
        ended = _ENDS.get(state)
        if ended is not None:
            last = error.strip().rpartition("\n")[2][:300]
            self._ended = Ended(ended.state, last or ended.text)

    # --- JSON --------------------------------------------------------------------------------

    def _object(self, record: Any, offset: int) -> None:
        kind = record.get("model_type") if isinstance(record, dict) else None
        data = record.get("data") if kind else None
        if not isinstance(data, dict):
            raise ValueError("no model and data")
        if kind == "Scalar":
            self._metric(data)
        elif kind == "Log":
            self._line(str(data.get("message", "")), offset, iso(data.get("create_time")))
        elif kind == "Footer":
            state = State.FINISHED if data.get("success") else State.DIED
            self._ended = Ended(state, "finished" if data.get("success") else "crashed")

    def _metric(self, data: dict[str, Any]) -> None:
        metric = data.get("metric")
        if not isinstance(metric, dict):
            raise ValueError("a scalar without its metric")
        value = as_float(metric.get("data"))
        step = as_float(data.get("step", metric.get("index")))
        at = None if step is None else whole(step)
        if value is not None and at is not None:
            self._point(str(data.get("key", "")), at, iso(metric.get("create_time")), value)


def _number(data: bytes, message: Field) -> float:
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            return double(data, field)
    return 0.0


FORMAT = Format(
    name="swanlab",
    names=re.compile(r"\.swanlab$"),
    claims=begins(IDENT),
    order=10,
    rank=85,
    parser=Swanlab,
    held=True,
)
