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
from ppo_top.parsers.shared.protobuf import Malformed
from ppo_top.parsers.tensorboard import decode_stdlib as _columns
from ppo_top.parsers.tensorboard.crc32c import intact
from ppo_top.parsers.tensorboard.event import Event, Value, decode
from ppo_top.parsers.tensorboard.file_order import Piece, merge, single
from ppo_top.parsers.tensorboard.hparams import from_plugin, from_text
from ppo_top.parsers.tensorboard.templates import Templates
from ppo_top.parsers.tensorboard.tfrecord import (
    BAD_CHECKSUM,
    HEADER,
    Block,
    Headers,
    Records,
    Stride,
)

NOT_LISTED = "more damage here and behind, not listed any more"
_MOST_PROBLEMS = 1000
_NUMPY_PAYS = 4 << 20
"""Bytes of events below which numpy would still be importing when we are done. A file that fills a
first piece of this size has more to come."""
_BIG_PIECE, _SMALL_PIECE = 1 << 18, 1 << 14
"""Fewer bytes at once are not worth numpy's calls: one for each tag, or one for all tags."""
_GZIP = b"\x1f\x8b"
_SUMMARY = "/text_summary"

Split = Callable[[bytes, "array[int]", Templates], tuple[list[Piece], list[int]]]

_templates = Templates()
_read_so_far = 0


class Restart(NamedTuple):
    """A writer's word that it goes on from `step`: what other files say from there on is void."""

    offset: int
    step: int


class TensorBoard:
    """Reads one event file as it grows.

    `restarts` holds the marks of `SummaryWriter(purge_step=...)` found so far.
    """

    def __init__(self) -> None:
        self.restarts: list[Restart] = []
        self._records = Records()
        self._histograms: set[str] = set()
        self._problems = 0

    def feed(self, data: bytes) -> Batch:
        """The points, settings and problems of all records that are complete now."""
        batch = Batch()
        points: dict[str, Points] = {}
        split, self._records.stride = _ways(len(data))
        for block in self._records.add(data):
            pieces, rest = split(block.data, block.bounds, _templates)
            for number in rest:
                pieces += self._single(block, number, batch)
            merge(pieces, points)
        batch.points = list(points.values())
        self._report(batch, self._records.problems())
        return batch

    def finish(self) -> Batch:
        """A record without its end is a problem now."""
        batch = Batch()
        rest = self._records.rest()
        self._report(batch, [rest] if rest else [])
        return batch

    def _single(self, block: Block, number: int, batch: Batch) -> list[Piece]:
        """The points of one record that is not like others; its settings go into the batch."""
        start, stop = block.bounds[number] + HEADER, block.bounds[number + 1] - 4
        offset = block.offset + start - HEADER
        payload = block.data[start:stop]
        template = _templates.known(payload)
        point = template and template.point(block.data[start : stop + 4])
        if template and point:
            return [single(template.tag, number, point.step, point.time, point.value)]
        if not intact(payload, int.from_bytes(block.data[stop : stop + 4], "little")):
            batch.problems.append(Problem(offset, BAD_CHECKSUM))
            return []
        try:
            event = decode(payload, 0, len(payload), self._histograms)
            for value in event.values:
                batch.config.update(_config(value))
        except Malformed as error:
            batch.problems.append(Problem(offset, f"a record that is no event: {error}"))
            return []
        if event.restart and len(self.restarts) < _MOST_PROBLEMS:
            self.restarts.append(Restart(offset, event.step))
        return _points(event, number)

    def _report(self, batch: Batch, found: list[Problem]) -> None:
        """Sort the batch's problems; of a file that is damaged all over only the first are told."""
        problems = sorted([*batch.problems, *found])
        room = _MOST_PROBLEMS - self._problems
        self._problems += len(problems)
        batch.problems = problems[: max(room, 0)]
        if 0 <= room < len(problems):
            batch.problems.append(Problem(problems[room].offset, NOT_LISTED))


def _ways(size: int) -> tuple[Split, Callable[..., Stride] | None]:
    """The fastest ways to read so many bytes: to their points, and to the bounds of records.

    The import of numpy counts with the bytes that were read so far.
    """
    global _read_so_far
    _read_so_far += size
    if size < _SMALL_PIECE or _read_so_far < _NUMPY_PAYS:
        return _columns.split, None
    from ppo_top.parsers.tensorboard import decode_numpy as _arrays
    from ppo_top.parsers.tensorboard import decode_numpy_steps as _periods

    return (_arrays.split if size >= _BIG_PIECE else _periods.split), _arrays.stride


def _points(event: Event, number: int) -> list[Piece]:
    found = []
    for value in event.values:
        if value.number is not None:
            found.append(single(value.tag, number, event.step, event.time, value.number))
        elif value.histogram is not None:
            for name, quantile in value.histogram.summary().items():
                tag = f"{value.tag}@{name}"
                found.append(single(tag, number, event.step, event.time, quantile))
    return found


def _config(value: Value) -> dict[str, int | float | bool | str]:
    """The hyperparameters in a value; those of the model's own configuration say so."""
    if value.plugin == "hparams" and value.content:
        return from_plugin(value.content)
    found = {key: each for words in value.texts for key, each in from_text(words).items()}
    name = value.tag.removesuffix(_SUMMARY)
    return (
        {f"{name}.{key}": each for key, each in found.items()} if name == "model_config" else found
    )


def tail_points(data: bytes) -> list[Points]:
    """The points in the last bytes of an event file, wherever in a record they begin.

    They are shown while a long file is read from its start, which brings them again. The first
    record is found by the checksum of its header; damage is passed over in silence.
    """
    start = Headers().search(data, 0)
    return TensorBoard().feed(data[start:]).points


def _claims(name: str, head: bytes) -> bool | None:
    """By its name alone if that is the full one, otherwise by the checksum of the first header."""
    if head.startswith(_GZIP):
        return False
    if "events.out.tfevents." in name:
        return True
    if len(head) < HEADER:
        return None
    return Headers().learn(head[:HEADER]) is not None


FORMAT = Format(
    name="tfevents",
    names=re.compile("tfevents"),
    claims=_claims,
    order=10,
    rank=100,
    parser=TensorBoard,
    chained=True,
    newest=lambda _first, last: tail_points(last),
    held=True,
)
