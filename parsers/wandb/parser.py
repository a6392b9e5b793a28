"""Weights & Biases' transaction log (`run-*.wandb`), as runs with and without a network write it.

Its messages are defined in wandb's `wandb_internal.proto`. The step of a history row is
`train/global_step`, `global_step` or a step metric that the run declared, else the row counter
`_step`. The summary, which repeats the last values, is skipped. System metrics have no step and
get the prefix under which W&B shows them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ppo_top.model import UNKNOWN_TIME, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.documents.json_values import as_float, numbers_of, settings_of
from ppo_top.parsers.shared.stores.leveldb import LevelDbRecord
from ppo_top.parsers.shared.stores.magic import claims_by_magic
from ppo_top.parsers.shared.stores.protobuf import (
    BYTES,
    ProtobufField,
    fields,
    messages,
    signed,
    text,
)
from ppo_top.parsers.shared.stores.timestamps import protobuf_time
from ppo_top.parsers.shared.stores.tracker_parser import TrackerParser
from ppo_top.parsers.shared.text.number_text import as_step
from ppo_top.parsers.wandb.items import KnownNames, read_item, read_row

WANDB_IDENT = b":W&B\xe1\xbe"
"""Name and magic number; followed by the version."""

SYSTEM_TAG_PREFIX = "system."

_HISTORY_FIELD, _OUTPUT_FIELD, _CONFIG_FIELD, _STATS_FIELD = 2, 4, 5, 7
_METRIC_FIELD, _RAW_OUTPUT_FIELD, _RUN_FIELD, _EXIT_FIELD = 12, 13, 17, 18
_DISPLAY_NAME_FIELD = 8
"""Of a run: what W&B's pages call it."""
_GLOBAL_STEPS = ("train/global_step", "global_step")
_MAX_STEP_METRICS = 64
_STOPPED_BY_HAND = 255
"""The exit code that W&B writes after Ctrl-C."""
_INTERNAL_KEYS = frozenset(("_step", "_timestamp", "_runtime", "_wandb"))


class WandbParser(TrackerParser):
    """Reads one transaction log."""

    def __init__(self) -> None:
        super().__init__(WANDB_IDENT)
        self._step_metrics: list[str] = list(_GLOBAL_STEPS)
        self._names: KnownNames = {}
        self._readers: dict[int, Callable[[bytes, ProtobufField], None]] = {
            _HISTORY_FIELD: self._read_history,
            _STATS_FIELD: self._read_stats,
            _CONFIG_FIELD: self._read_config,
            _RUN_FIELD: self._read_run,
            _METRIC_FIELD: self._read_metric,
            _EXIT_FIELD: self._read_exit,
        }

    def _read_record(self, record: LevelDbRecord) -> None:
        """A record holds one message; the field number is its type."""
        data = record.data
        for field in fields(data, 0, len(data)):
            if field.wire_type != BYTES:
                continue
            read = self._readers.get(field.number)
            if read is not None:
                read(data, field)
            elif field.number in (_OUTPUT_FIELD, _RAW_OUTPUT_FIELD):
                self._read_output(data, field, record.offset)

    def _read_run(self, data: bytes, message: ProtobufField) -> None:
        for config in messages(data, message, 4):  # the initial one
            self._read_config(data, config)
        for field in fields(data, message.start, message.stop):
            if field.number == _DISPLAY_NAME_FIELD and field.wire_type == BYTES:
                self._batch.title = text(data, field)

    def _read_history(self, data: bytes, message: ProtobufField) -> None:
        """One row: numbers under their names, at one step and time."""
        row = read_row(data, message, self._names)
        flat = {path[0]: value for path, value in row if len(path) == 1}
        step = self._row_step(flat)
        if step is None:
            step = _row_number(data, message)
        time = as_float(flat.get("_timestamp"))
        time = UNKNOWN_TIME if time is None or not math.isfinite(time) else time
        add = self._builder.add_point if self._ended is None else self._add_point
        for path, value in row:
            if path[0] in _INTERNAL_KEYS:
                continue
            tag = path[0] if len(path) == 1 else ".".join(path)
            if type(value) is float:
                add(tag, step, time, value)
                continue
            for name, number in numbers_of({tag: value}, self._batch.histograms):
                add(name, step, time, number)

    def _row_step(self, row: dict[str, Any]) -> int | None:
        for axis in (*self._step_metrics, "_step"):
            number = as_float(row.get(axis))
            step = None if number is None else _step_of(row[axis], number)
            if step is not None:
                return step
        return None

    def _read_metric(self, data: bytes, message: ProtobufField) -> None:
        """A step metric that the run declared."""
        known = self._step_metrics
        for field in fields(data, message.start, message.stop):
            axis = text(data, field) if field.number == 4 else ""
            if axis and axis not in known and len(known) < _MAX_STEP_METRICS:
                known.append(axis)

    def _read_stats(self, data: bytes, message: ProtobufField) -> None:
        """System metrics, all measured at one time, which stands before them."""
        time = UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 2:
                time = protobuf_time(data, field)
            elif field.number == 3 and (item := read_item(data, field)) is not None:
                number = as_float(item[1])
                if number is not None:
                    self._machine.add_sample(SYSTEM_TAG_PREFIX + ".".join(item[0]), time, number)

    def _read_config(self, data: bytes, message: ProtobufField) -> None:
        for field in messages(data, message, 1):
            found = read_item(data, field)
            if found is not None and found[0][0] != "_wandb":
                self._batch.config.update(settings_of({".".join(found[0]): found[1]}, "."))

    def _read_output(self, data: bytes, message: ProtobufField, offset: int) -> None:
        """Console output."""
        kind, words, time = 0, "", UNKNOWN_TIME
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                kind = field.integer
            elif field.number == 2:
                time = protobuf_time(data, field)
            elif field.number == 3:
                words = text(data, field)
        if kind in (0, 1):
            self._add_output(kind, words, offset, time)

    def _read_exit(self, data: bytes, message: ProtobufField) -> None:
        code = 0
        for field in fields(data, message.start, message.stop):
            if field.number == 1:
                code = signed(field.integer)
        if code == _STOPPED_BY_HAND:
            self._ended = RunEnd(State.ENDED, f"stopped by hand (exit code {code})")
        else:
            state = State.DIED if code else State.FINISHED
            self._ended = RunEnd(state, f"exit code {code}")


def _row_number(data: bytes, message: ProtobufField) -> int:
    """The row counter, for rows without a step."""
    for field in messages(data, message, 2):
        for inner in fields(data, field.start, field.stop):
            if inner.number == 1:
                return signed(inner.integer)
    return 0


def _step_of(value: Any, number: float) -> int | None:
    """A whole number as a step; an integer keeps every digit."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        return value
    return as_step(number)


FORMAT = Format(
    name="wandb",
    claims=claims_by_magic(WANDB_IDENT),
    claim_order=10,
    precedence=90,
    parser=WandbParser,
    kept_open=True,
)
