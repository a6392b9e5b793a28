"""TensorBoard event files (`events.out.tfevents.*`): scalars, histograms and hyperparameters.

Every float is kept as written, including NaN, infinities and what a resumed run writes a second
time. A damaged record costs only itself.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType

from ppo_top.model import Batch, Points, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.stores.protobuf import MalformedMessage
from ppo_top.parsers.tensorboard.crc32c import is_intact
from ppo_top.parsers.tensorboard.event import Event, SummaryValue, decode_event
from ppo_top.parsers.tensorboard.file_order import DecodedPoints, merge_in_file_order
from ppo_top.parsers.tensorboard.hparams import settings_from_plugin, settings_from_text
from ppo_top.parsers.tensorboard.templates import EventPoint, TemplateCache
from ppo_top.parsers.tensorboard.tfrecord import (
    BAD_CHECKSUM,
    HEADER_BYTES,
    HeaderCache,
    RecordBlock,
    TfRecordReader,
)

NOT_LISTED = "more damage from here on is not listed"
_MAX_PROBLEMS = 1000
_MIN_BYTES_FOR_NUMPY = 1 << 20
"""Bytes of a file from which on importing numpy (about 0.1 s) pays."""
_MIN_NUMPY_PIECE_BYTES = 1 << 16
"""Smaller pieces are read faster record by record."""
_unpack_checksum = struct.Struct("<I").unpack_from
_GZIP = b"\x1f\x8b"
_TEXT_SUFFIX = "/text_summary"

_templates = TemplateCache()


class TensorBoardParser:
    """Reads one event file as it grows."""

    def __init__(self) -> None:
        self._reader = TfRecordReader()
        self._histograms: set[str] = set()
        self._problem_count = self._bytes_read = 0

    def feed(self, data: bytes) -> Batch:
        """The points, settings and problems of all records that are complete now."""
        batch = Batch()
        points: dict[str, Points] = {}
        self._bytes_read += len(data)
        use_numpy = len(data) >= _MIN_NUMPY_PIECE_BYTES and (
            self._bytes_read >= _MIN_BYTES_FOR_NUMPY or "numpy" in sys.modules
        )
        decoder = _numpy_decoder() if use_numpy else None
        look_ahead = decoder.recurring_bounds if decoder is not None else None
        for block in self._reader.add_bytes(data, look_ahead):
            columns: list[DecodedPoints] = []
            rest: list[int] | None = None
            if decoder is not None:
                columns, rest = decoder.decode_columns(block.data, block.bounds, _templates)
            singles = self._decode_singly(block, rest, batch)
            merge_in_file_order([*columns, *singles], points)
        batch.points = list(points.values())
        self._add_problems(batch, self._reader.pop_problems())
        return batch

    def finish(self) -> Batch:
        """An incomplete record is a problem now."""
        batch = Batch()
        rest = self._reader.unfinished_problem()
        self._add_problems(batch, [rest] if rest else [])
        return batch

    def _decode_singly(
        self, block: RecordBlock, numbers: Iterable[int] | None, batch: Batch
    ) -> Iterable[DecodedPoints]:
        """The points of some records (all without `numbers`), decoded one by one."""
        data, bounds = block.data, block.bounds
        found: dict[str, DecodedPoints] = {}
        for number in range(len(bounds) - 1) if numbers is None else numbers:
            start, end = bounds[number], bounds[number + 1] - 4
            payload = data[start + HEADER_BYTES : end]
            if not is_intact(payload, _unpack_checksum(data, end)[0]):
                batch.problems.append(Problem(block.offset + start, BAD_CHECKSUM))
                continue
            point = _templates.read_point(payload)
            points = (point,) if point else self._decode_event(payload, block.offset + start, batch)
            for tag, step, time, value in points:
                columns = found.get(tag)
                if columns is None:
                    columns = found[tag] = DecodedPoints.empty(tag)
                columns.record_numbers.append(number)
                columns.steps.append(step)
                columns.times.append(time)
                columns.values.append(value)
        return found.values()

    def _decode_event(self, payload: bytes, offset: int, batch: Batch) -> Sequence[EventPoint]:
        """The points of any event; its settings go into the batch."""
        try:
            event = decode_event(payload, 0, len(payload), self._histograms)
            for value in event.values:
                batch.config.update(_settings_of(value))
                if value.histogram is not None:
                    batch.histograms[value.tag] = value.histogram
        except MalformedMessage as error:
            batch.problems.append(Problem(offset, f"not an event: {error}"))
            return ()
        _templates.learn(payload, event)
        return _points_of(event)

    def _add_problems(self, batch: Batch, found: list[Problem]) -> None:
        """Sort the batch's problems; only the first ones of a file are reported."""
        problems = sorted([*batch.problems, *found])
        room = _MAX_PROBLEMS - self._problem_count
        self._problem_count += len(problems)
        batch.problems = problems[: max(room, 0)]
        if 0 <= room < len(problems):
            batch.problems.append(Problem(problems[room].offset, NOT_LISTED))


def _numpy_decoder() -> ModuleType | None:
    """What reads columns of records, where numpy is installed; without it, it takes longer."""
    try:
        return import_module("ppo_top.parsers.tensorboard.decode_numpy")
    except ImportError:
        return None


def _points_of(event: Event) -> list[EventPoint]:
    found = []
    for value in event.values:
        if value.number is not None:
            found.append((value.tag, event.step, event.time, value.number))
        elif value.histogram is not None:
            for name, quantile in value.histogram.quantiles().items():
                found.append((f"{value.tag}@{name}", event.step, event.time, quantile))
    return found


def _settings_of(value: SummaryValue) -> dict[str, int | float | bool | str]:
    """The hyperparameters in a value; those of the model's configuration get its prefix."""
    if value.plugin == "hparams" and value.content:
        return settings_from_plugin(value.content)
    prefix = "model_config." if value.tag.removesuffix(_TEXT_SUFFIX) == "model_config" else ""
    found = (settings_from_text(words) for words in value.texts)
    return {prefix + key: each for settings in found for key, each in settings.items()}


def claims(name: str, head: bytes) -> bool | None:
    """By a full name alone, otherwise by the checksum of the first header."""
    if head.startswith(_GZIP):
        return False
    if "events.out.tfevents." in name:
        return True
    if len(head) < HEADER_BYTES:
        return None
    return HeaderCache().verify(head[:HEADER_BYTES]) is not None


FORMAT = Format(
    name="tfevents",
    claims=claims,
    claim_order=10,
    precedence=100,
    parser=TensorBoardParser,
    chained=True,
    kept_open=True,
)
