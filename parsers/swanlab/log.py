"""SwanLab's record files: `run-*.swanlab` (0.8 and later) and `backup.swanlab` (0.6 and 0.7).

Both are framed alike; the newer holds protocol buffers, the older one JSON object a record.
SwanLab's measurements of the machine (`__swanlab__...`) are no metrics of the run: left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Batch, PointColumns, Problem, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.console_output import ConsoleOutput
from ppo_top.parsers.shared.json_values import as_float, parse_json
from ppo_top.parsers.shared.leveldb import LevelDbReader, LevelDbRecord
from ppo_top.parsers.shared.magic import claims_by_magic
from ppo_top.parsers.shared.number_text import as_step
from ppo_top.parsers.shared.protobuf import (
    BYTES,
    MalformedMessage,
    ProtobufField,
    double,
    fields,
    signed,
    text,
)
from ppo_top.parsers.shared.timestamps import parse_iso_time, protobuf_time

SWANLAB_IDENT = b":SWL\xd6\xe1"
"""Name and magic number; the version follows."""

SYSTEM_TAG_PREFIX = "__swanlab__."
"""How the names of the machine's measurements begin."""

_FINISH_FIELD, _SCALAR_FIELD, _LOG_FIELD = 11, 13, 16
_END_BY_STATE = {
    1: RunEnd(State.FINISHED, "finished"),
    2: RunEnd(State.DIED, "crashed"),
    3: RunEnd(State.DIED, "aborted"),
}


class SwanlabParser:
    """Reads one record file of either kind."""

    def __init__(self) -> None:
        self._reader = LevelDbReader(SWANLAB_IDENT)
        self._columns = PointColumns()
        self._output = ConsoleOutput()
        self._batch = Batch()
        self._ended: RunEnd | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes; give what is complete."""
        return self._read_records(self._reader.add_bytes(data))

    def finish(self) -> Batch:
        """Give what a damaged end still holds, and the console's last words."""
        batch = self._read_records(self._reader.finish())
        batch.lines.extend(self._output.flush())
        return batch

    def _read_records(self, found: Iterator[LevelDbRecord | Problem]) -> Batch:
        self._batch = batch = Batch()
        before = self._ended
        for each in found:
            if isinstance(each, Problem):
                batch.problems.append(each)
                continue
            try:
                self._read_record(each)
            except (MalformedMessage, ValueError) as error:
                batch.problems.append(Problem(each.offset, f"a record cannot be read: {error}"))
        batch.points = self._columns.pop_points()
        if batch.points or self._ended is not before:
            batch.ended = self._ended
        return batch

    def _read_record(self, record: LevelDbRecord) -> None:
        data = record.data
        if data.startswith(b"{"):  # no message begins so: its first field has the number 1
            self._read_object(parse_json(data), record.offset)
            return
        for field in fields(data, 0, len(data)):
            if field.wire_type != BYTES:
                continue
            if field.number == _SCALAR_FIELD:
                self._read_scalar(data, field)
            elif field.number == _LOG_FIELD:
                self._read_console(data, field, record.offset)
            elif field.number == _FINISH_FIELD:
                self._read_finish(data, field)

    # --- protocol buffers --------------------------------------------------------------------

    def _read_scalar(self, data: bytes, message: ProtobufField) -> None:
        """One number; a zero, in value or step, is not written at all."""
        key, step, time, value = "", 0, UNKNOWN_TIME, None
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                key = text(data, field)
            elif field.number == 2:
                step = signed(field.integer)
            elif field.number == 4:
                time = protobuf_time(data, field)
            elif field.number == 5:
                value = _float_value(data, field)
        if value is not None:
            self._add_point(key, step, time, value)

    def _add_point(self, key: str, step: int, time: float, value: float) -> None:
        if key and not key.startswith(SYSTEM_TAG_PREFIX):
            self._columns.add_point(key, step, time, value)
            if self._ended is not None and self._ended.state is State.DIED:
                self._ended = None  # a point behind a crash: the run went on

    def _read_console(self, data: bytes, message: ProtobufField, offset: int) -> None:
        words, time = "", UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                words = text(data, field)
            elif field.number == 3:
                time = protobuf_time(data, field)
        self._add_line(words, offset, time)

    def _add_line(self, words: str, offset: int, time: float) -> None:
        """A record is a line, with or without its end."""
        self._batch.lines.extend(self._output.add_text(f"{words.rstrip()}\n", offset, time))

    def _read_finish(self, data: bytes, message: ProtobufField) -> None:
        state, error = 0, ""
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                state = field.integer
            elif field.number == 2:
                error = text(data, field)
        ended = _END_BY_STATE.get(state)
        if ended is not None:
            last = error.strip().rpartition("\n")[2][:300]
            self._ended = RunEnd(ended.state, last or ended.text)

    # --- JSON --------------------------------------------------------------------------------

    def _read_object(self, record: Any, offset: int) -> None:
        kind = record.get("model_type") if isinstance(record, dict) else None
        data = record.get("data") if kind else None
        if not isinstance(data, dict):
            raise ValueError("no model and data")
        if kind == "Scalar":
            self._read_metric(data)
        elif kind == "Log":
            self._add_line(
                str(data.get("message", "")), offset, parse_iso_time(data.get("create_time"))
            )
        elif kind == "Footer":
            state = State.FINISHED if data.get("success") else State.DIED
            self._ended = RunEnd(state, "finished" if data.get("success") else "crashed")

    def _read_metric(self, data: dict[str, Any]) -> None:
        metric = data.get("metric")
        if not isinstance(metric, dict):
            raise ValueError("a scalar without its metric")
        value = as_float(metric.get("data"))
        step = as_float(data.get("step", metric.get("index")))
        at = None if step is None else as_step(step)
        if value is not None and at is not None:
            self._add_point(
                str(data.get("key", "")), at, parse_iso_time(metric.get("create_time")), value
            )


def _float_value(data: bytes, message: ProtobufField) -> float:
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            return double(data, field)
    return 0.0


FORMAT = Format(
    name="swanlab",
    name_pattern=re.compile(r"\.swanlab$"),
    claims=claims_by_magic(SWANLAB_IDENT),
    order=10,
    rank=85,
    parser=SwanlabParser,
    kept_open=True,
)
