"""SwanLab's record files: `run-*.swanlab` (0.8 and later) and `backup.swanlab` (0.6 and 0.7).

Both are framed alike; the newer holds protocol buffers, the older one JSON object a record.
Hardware metrics (`__swanlab__...`) are kept apart from the training's.
"""

from __future__ import annotations

from typing import Any

from ppo_top.model import UNKNOWN_TIME, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.documents.json_values import as_float, parse_json
from ppo_top.parsers.shared.stores.leveldb import LevelDbRecord
from ppo_top.parsers.shared.stores.magic import claims_by_magic
from ppo_top.parsers.shared.stores.protobuf import (
    BYTES,
    ProtobufField,
    double,
    fields,
    signed,
    text,
)
from ppo_top.parsers.shared.stores.timestamps import parse_iso_time, protobuf_time
from ppo_top.parsers.shared.stores.tracker_parser import TrackerParser
from ppo_top.parsers.shared.text.number_text import as_step

SWANLAB_IDENT = b":SWL\xd6\xe1"
"""Name and magic number; followed by the version."""

SYSTEM_TAG_PREFIX = "__swanlab__."
"""Prefix of hardware metrics."""

_START_FIELD, _FINISH_FIELD, _SCALAR_FIELD, _LOG_FIELD = 10, 11, 13, 16
_EXPERIMENT_NAME_FIELD = 4
"""Of a start: what SwanLab's pages call the run."""
_END_BY_STATE = {
    1: RunEnd(State.FINISHED, "finished"),
    2: RunEnd(State.DIED, "crashed"),
    3: RunEnd(State.DIED, "aborted"),
}


class SwanlabParser(TrackerParser):
    """Reads one record file of either kind."""

    def __init__(self) -> None:
        super().__init__(SWANLAB_IDENT)

    def _read_record(self, record: LevelDbRecord) -> None:
        data = record.data
        if data.startswith(b"{"):  # a protocol buffer starts with field 1
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
            elif field.number == _START_FIELD:
                self._read_start(data, field)

    # --- protocol buffers --------------------------------------------------------------------

    def _read_scalar(self, data: bytes, message: ProtobufField) -> None:
        """One number; a value or step of zero is not written."""
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
            self._add_metric(key, step, time, value)

    def _read_start(self, data: bytes, message: ProtobufField) -> None:
        for field in fields(data, message.start, message.stop):
            if field.number == _EXPERIMENT_NAME_FIELD and field.wire_type == BYTES:
                self._batch.title = text(data, field)

    def _add_metric(self, key: str, step: int, time: float, value: float) -> None:
        if key.startswith(SYSTEM_TAG_PREFIX):
            self._machine.add_sample(key, time, value)
        elif key:
            self._add_point(key, step, time, value)

    def _read_console(self, data: bytes, message: ProtobufField, offset: int) -> None:
        words, time = "", UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                words = text(data, field)
            elif field.number == 3:
                time = protobuf_time(data, field)
        self._add_line(words, offset, time)

    def _add_line(self, words: str, offset: int, time: float) -> None:
        """A record is one line, with or without its line end."""
        self._add_output(0, f"{words.rstrip()}\n", offset, time)

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
            raise ValueError("model or data missing")
        if kind == "Scalar":
            self._read_metric(data)
        elif kind == "Log":
            time = parse_iso_time(data.get("create_time"))
            self._add_line(str(data.get("message", "")), offset, time)
        elif kind == "Experiment":
            self._batch.title = str(data.get("name") or "")
        elif kind == "Footer":
            state = State.FINISHED if data.get("success") else State.DIED
            self._ended = RunEnd(state, "finished" if data.get("success") else "crashed")

    def _read_metric(self, data: dict[str, Any]) -> None:
        metric = data.get("metric")
        if not isinstance(metric, dict):
            raise ValueError("scalar without a metric")
        value = as_float(metric.get("data"))
        step = as_step(as_float(data.get("step", metric.get("index"))))
        if value is not None and step is not None:
            time = parse_iso_time(metric.get("create_time"))
            self._add_metric(str(data.get("key", "")), step, time, value)


def _float_value(data: bytes, message: ProtobufField) -> float:
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            return double(data, field)
    return 0.0


FORMAT = Format(
    name="swanlab",
    claims=claims_by_magic(SWANLAB_IDENT),
    claim_order=10,
    precedence=85,
    parser=SwanlabParser,
    kept_open=True,
)
