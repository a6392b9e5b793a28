"""TensorBoard event files (`events.out.tfevents.*`): scalars, histograms and hyperparameters.

Points are read exactly: every float as written, NaN and infinities kept, also those that a resumed
run writes a second time. A damaged record costs itself and nothing behind it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import NamedTuple

from ppo_top.model import Batch, Points, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.protobuf import MalformedMessage
from ppo_top.parsers.tensorboard import decode_stdlib
from ppo_top.parsers.tensorboard.crc32c import is_intact
from ppo_top.parsers.tensorboard.event import Event, SummaryValue, decode_event
from ppo_top.parsers.tensorboard.file_order import DecodedPoints, merge_in_file_order, single_point
from ppo_top.parsers.tensorboard.hparams import settings_from_plugin, settings_from_text
from ppo_top.parsers.tensorboard.templates import TemplateCache
from ppo_top.parsers.tensorboard.tfrecord import (
    BAD_CHECKSUM,
    HEADER_BYTES,
    HeaderCache,
    PredictedBounds,
    RecordBlock,
    TfRecordReader,
)

NOT_LISTED = "more damage here and behind, not listed any more"
_MAX_PROBLEMS = 1000
_MIN_BYTES_FOR_NUMPY = 4 << 20
"""Bytes of events below which numpy would still be importing when we are done. A file that fills a
first piece of this size has more to come."""
_MIN_BYTES_BY_TAG, _MIN_BYTES_BY_STEP = 1 << 18, 1 << 14
"""Fewer bytes at once are not worth numpy's calls: one for each tag, or one for all tags."""
_GZIP = b"\x1f\x8b"
_TEXT_SUFFIX = "/text_summary"

ColumnDecoder = Callable[
    [bytes, "array[int]", TemplateCache], tuple[list[DecodedPoints], list[int]]
]

_templates = TemplateCache()
_bytes_read = 0


class Restart(NamedTuple):
    """A writer's word that it goes on from `step`: what other files say from there on is void."""

    offset: int
    step: int


class TensorBoardParser:
    """Reads one event file as it grows.

    `restarts` holds the marks of `SummaryWriter(purge_step=...)` found so far.
    """

    def __init__(self) -> None:
        self.restarts: list[Restart] = []
        self._reader = TfRecordReader()
        self._histograms: set[str] = set()
        self._problem_count = 0

    def feed(self, data: bytes) -> Batch:
        """The points, settings and problems of all records that are complete now."""
        batch = Batch()
        points: dict[str, Points] = {}
        split, self._reader.predict_bounds = _choose_decoders(len(data))
        for block in self._reader.add_bytes(data):
            pieces, rest = split(block.data, block.bounds, _templates)
            for number in rest:
                pieces += self._decode_single(block, number, batch)
            merge_in_file_order(pieces, points)
        batch.points = list(points.values())
        self._add_problems(batch, self._reader.pop_problems())
        return batch

    def finish(self) -> Batch:
        """A record without its end is a problem now."""
        batch = Batch()
        rest = self._reader.unfinished_problem()
        self._add_problems(batch, [rest] if rest else [])
        return batch

    def _decode_single(self, block: RecordBlock, number: int, batch: Batch) -> list[DecodedPoints]:
        """The points of one record that is not like others; its settings go into the batch."""
        start, stop = block.bounds[number] + HEADER_BYTES, block.bounds[number + 1] - 4
        offset = block.offset + start - HEADER_BYTES
        payload = block.data[start:stop]
        template = _templates.find_by_tag(payload)
        point = template and template.read_point(block.data[start : stop + 4])
        if template and point:
            return [single_point(template.tag, number, point.step, point.time, point.value)]
        if not is_intact(payload, int.from_bytes(block.data[stop : stop + 4], "little")):
            batch.problems.append(Problem(offset, BAD_CHECKSUM))
            return []
        try:
            event = decode_event(payload, 0, len(payload), self._histograms)
            for value in event.values:
                batch.config.update(_settings_of(value))
        except MalformedMessage as error:
            batch.problems.append(Problem(offset, f"a record that is no event: {error}"))
            return []
        if event.restart and len(self.restarts) < _MAX_PROBLEMS:
            self.restarts.append(Restart(offset, event.step))
        return _decoded_points(event, number)

    def _add_problems(self, batch: Batch, found: list[Problem]) -> None:
        """Sort the batch's problems; of a file that is damaged all over only the first are told."""
        problems = sorted([*batch.problems, *found])
        room = _MAX_PROBLEMS - self._problem_count
        self._problem_count += len(problems)
        batch.problems = problems[: max(room, 0)]
        if 0 <= room < len(problems):
            batch.problems.append(Problem(problems[room].offset, NOT_LISTED))


def _choose_decoders(size: int) -> tuple[ColumnDecoder, Callable[..., PredictedBounds] | None]:
    """The fastest ways to read so many bytes: to their points, and to the bounds of records.

    The import of numpy counts with the bytes that were read so far.
    """
    global _bytes_read
    _bytes_read += size
    if size < _MIN_BYTES_BY_STEP or _bytes_read < _MIN_BYTES_FOR_NUMPY:
        return decode_stdlib.decode_columns, None
    from ppo_top.parsers.tensorboard import decode_numpy, decode_numpy_steps

    return (
        decode_numpy.decode_columns
        if size >= _MIN_BYTES_BY_TAG
        else decode_numpy_steps.decode_columns
    ), decode_numpy.predict_bounds


def _decoded_points(event: Event, number: int) -> list[DecodedPoints]:
    found = []
    for value in event.values:
        if value.number is not None:
            found.append(single_point(value.tag, number, event.step, event.time, value.number))
        elif value.histogram is not None:
            for name, quantile in value.histogram.quantiles().items():
                tag = f"{value.tag}@{name}"
                found.append(single_point(tag, number, event.step, event.time, quantile))
    return found


def _settings_of(value: SummaryValue) -> dict[str, int | float | bool | str]:
    """The hyperparameters in a value; those of the model's own configuration say so."""
    if value.plugin == "hparams" and value.content:
        return settings_from_plugin(value.content)
    found = {key: each for words in value.texts for key, each in settings_from_text(words).items()}
    name = value.tag.removesuffix(_TEXT_SUFFIX)
    return (
        {f"{name}.{key}": each for key, each in found.items()} if name == "model_config" else found
    )


def last_points(data: bytes) -> list[Points]:
    """The points in the last bytes of an event file, wherever in a record they begin.

    They are shown while a long file is read from its start, which brings them again. The first
    record is found by the checksum of its header; damage is passed over in silence.
    """
    start = HeaderCache().find_header(data, 0)
    return TensorBoardParser().feed(data[start:]).points


def claims(name: str, head: bytes) -> bool | None:
    """By its name alone if that is the full one, otherwise by the checksum of the first header."""
    if head.startswith(_GZIP):
        return False
    if "events.out.tfevents." in name:
        return True
    if len(head) < HEADER_BYTES:
        return None
    return HeaderCache().verify(head[:HEADER_BYTES]) is not None


FORMAT = Format(
    name="tfevents",
    name_pattern=re.compile("tfevents"),
    claims=claims,
    order=10,
    rank=100,
    parser=TensorBoardParser,
    chained=True,
    read_last_points=lambda _first, last: last_points(last),
    kept_open=True,
)
