"""Scalars of an event file as columns, by numpy: for files of hundred thousands of events.

A writer logs the same tags in the same order at every step, so most records have a twin one period
later: as long, of the same tag, with another time, step and value. Such records are gathered as one
array of bytes, a row each. One comparison of the rows with the template shows that they hold what
it says, and their checksums need only the bytes that change.

This module alone imports numpy; import it when there is enough to read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppo_top.parsers.tensorboard.crc32c import MASK_DELTA, byte_contributions
from ppo_top.parsers.tensorboard.file_order import DecodedPoints
from ppo_top.parsers.tensorboard.templates import (
    MAX_TEMPLATE_PAYLOAD_BYTES,
    ByteRange,
    EventTemplate,
    TemplateCache,
    ranges_between,
)
from ppo_top.parsers.tensorboard.tfrecord import HEADER_BYTES, OVERHEAD_BYTES, PredictedBounds

Ints = NDArray[np.int64]
Uints = NDArray[np.uint32]
Bools = NDArray[np.bool_]

_MIN_NUMPY_RECORDS = 32
"""Fewer records than this are not worth a column."""
_MAX_TEMPLATE_TRIES = 8
"""So many templates are tried among records of equal length that follow no order."""
_PERIOD_WINDOW = 512


def predict_bounds(data: bytes, bounds: array[int], limit: int) -> PredictedBounds:
    """Bounds of records up to a limit, if their lengths go on repeating as they did.

    Each foretold header is compared with the one a period before, which has been verified.
    """
    recent = np.array(bounds)
    sizes = np.diff(recent)
    period = _find_exact_period(sizes)
    cycle = sizes[len(sizes) - period :]
    place, total = bounds[-1], int(cycle.sum())
    count = (min(limit, len(data)) - place) // total if period else 0
    if count < 1:
        return PredictedBounds(array("q"), unbroken=False)
    ends = place + np.arange(count)[:, None] * total + np.cumsum(cycle)
    headers = _windows(data, HEADER_BYTES)
    found, known = headers[(ends - cycle).ravel()], headers[recent[-1 - period : -1]]
    lengths = _number_column(found, 0, "<u8").reshape(count, period) == _number_column(
        known, 0, "<u8"
    )
    checks = _number_column(found, 8, "<u4").reshape(count, period) == _number_column(
        known, 8, "<u4"
    )
    same = (lengths & checks).ravel()
    good = len(same) if same.all() else int(same.argmin())
    return PredictedBounds(array("q", ends.ravel()[:good].tobytes()), good == len(same))


def _find_exact_period(sizes: Ints) -> int:
    """After how many records all the sizes repeat; 0 if they do not."""
    half = len(sizes) // 2
    candidates = np.flatnonzero(sizes[len(sizes) - 1 - half : -1] == sizes[-1])
    for candidate in (half - candidates[::-1]).tolist():
        if np.array_equal(sizes[candidate:], sizes[:-candidate]):
            return int(candidate)
    return 0


def _windows(data: bytes, width: int) -> NDArray[Any]:
    """Every run of `width` bytes, as one element each, without copying."""
    return np.ndarray(max(0, len(data) - width + 1), f"V{width}", data, strides=(1,))


def _number_column(rows: NDArray[Any], place: int, kind: str) -> NDArray[Any]:
    """The numbers that stand at one place of all rows of bytes, not copied."""
    return np.ndarray(len(rows), kind, rows, place, rows.strides)


def decode_columns(
    data: bytes, bounds: array[int], templates: TemplateCache
) -> tuple[list[DecodedPoints], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i stands in `data[bounds[i]:bounds[i + 1]]`.
    """
    edges = np.frombuffer(bounds, np.int64)
    sizes = np.diff(edges)
    left = np.ones(len(sizes), np.bool_)
    pieces = []
    for sample, members, alike in _candidates(sizes, left):
        start, stop = bounds[sample] + HEADER_BYTES, bounds[sample + 1] - 4
        payload = data[start:stop]
        template = templates.find_by_tag(payload) or templates.learn_template(payload)
        if template is None:
            continue
        rows = _RecordRows(data, edges[members] + HEADER_BYTES, template)
        good = rows.verify_similar() if alike else rows.verify()
        if alike and not good.all():
            good = rows.verify()
        columns = members, rows.steps, rows.times, rows.values
        if good.all():
            left[members] = False
            pieces.append(DecodedPoints(template.tag, *columns))
        elif good.any():
            left[members] = ~good
            pieces.append(DecodedPoints(template.tag, *(column[good] for column in columns)))
    return pieces, np.flatnonzero(left).tolist()


def _candidates(sizes: Ints, left: Bools) -> Iterator[tuple[int, Ints, bool]]:
    """Records of one length that may have one template: a sample, all of them, are they alike?

    `left` tells which records are not read yet; it changes meanwhile.
    """
    for members in _periodic_records(sizes):
        yield int(members[0]), members, True
    rest = np.flatnonzero(left)
    lengths = np.minimum(sizes[rest], MAX_TEMPLATE_PAYLOAD_BYTES + OVERHEAD_BYTES + 1).astype(
        np.uint16
    )
    order = np.argsort(lengths, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        members = rest[places]
        tries = (
            _MAX_TEMPLATE_TRIES
            if len(members) and sizes[members[0]] <= MAX_TEMPLATE_PAYLOAD_BYTES + OVERHEAD_BYTES
            else 0
        )
        while tries and len(members) >= _MIN_NUMPY_RECORDS:
            tries -= 1
            sample = int(members[len(members) // 2])  # the least likely to be an exception
            yield sample, members, False
            members = members[left[members] & (members != sample)]


def find_period(sizes: Ints) -> int:
    """After how many records the sizes repeat in most of the piece; 0 if they do not."""
    starts = (len(sizes) // 2, len(sizes) - _PERIOD_WINDOW, 0)
    periods = (
        _find_exact_period(sizes[max(0, start) : start + _PERIOD_WINDOW]) for start in starts
    )
    return next((each for each in periods if each), 0)


def _periodic_records(sizes: Ints) -> Iterator[Ints]:
    """Records that follow each other a period apart, as long as all lengths repeat."""
    count = len(sizes)
    period = find_period(sizes)
    if not period:
        return
    breaks = np.flatnonzero(sizes[period:] != sizes[:-period]) + period
    edges = np.concatenate(([0], breaks, [count]))
    for number in np.flatnonzero(np.diff(edges) >= _MIN_NUMPY_RECORDS * period).tolist():
        start, stop = int(edges[number]), int(edges[number + 1])
        for phase in range(start, start + period):
            if sizes[phase] <= MAX_TEMPLATE_PAYLOAD_BYTES + OVERHEAD_BYTES:
                yield np.arange(phase, stop, period)


class _RecordRows:
    """Payloads with their checksums, as long as the template, and the columns it finds in them."""

    def __init__(self, data: bytes, starts: Ints, template: EventTemplate) -> None:
        layout = template.layout
        self._template = template
        self._width = layout.length + 4
        self._row_bytes = _windows(data, self._width)[starts]
        self._bytes = self._row_bytes.view(np.uint8).reshape(len(starts), self._width)
        self.times = _number_column(self._row_bytes, layout.time, "<f8").copy()
        self.values = _number_column(
            self._row_bytes, layout.value, f"<f{layout.value_size}"
        ).astype(np.float64)
        self.steps = np.zeros(len(starts), np.int64)
        for place in reversed(range(layout.step, layout.step + layout.step_size)):
            self.steps <<= 7
            self.steps |= self._bytes[:, place] & 127

    def verify_similar(self) -> Bools:
        """Which rows are good, if all have the same upper bytes in their numbers.

        The upper bytes of times and steps change rarely, and some values never: equal bytes cost a
        comparison that is made anyhow. All false when they are not equal.
        """
        first, middle, last = (self._bytes[at].tobytes() for at in (0, len(self._bytes) // 2, -1))
        if self._template.read_point(first) is None:
            return np.zeros(len(self._bytes), np.bool_)
        fields = []
        for start, stop in self._template.layout.changing_ranges:
            while stop > start and first[stop - 1] == middle[stop - 1] == last[stop - 1]:
                stop -= 1
            fields.append(ByteRange(start, stop))
        return self._verify(first, fields)

    def verify(self) -> Bools:
        """Which rows are what the template says, with the right checksum."""
        return self._verify(self._template.fixed_bytes, self._template.layout.changing_ranges)

    def _verify(self, like: bytes, fields: Sequence[ByteRange]) -> Bools:
        """Compare all rows with `like` but for some fields, and the checksums with their shares."""
        layout = self._template.layout
        checksum = self._template.checksum
        stored = _number_column(self._row_bytes, layout.length, "<u4") - np.uint32(MASK_DELTA)
        sums = stored << np.uint32(15) | stored >> np.uint32(17)
        for (start, stop), (_, end) in zip(fields, layout.changing_ranges, strict=True):
            for place in range(start, stop):
                sums ^= _contributions(layout.length - 1 - place).take(self._bytes[:, place])
            for place in range(stop, end):
                checksum ^= byte_contributions(layout.length - 1 - place)[like[place]]
        good: Bools = sums == np.uint32(checksum)
        for gap in ranges_between(fields, layout.length):
            for place, size in _words(gap):
                word = int.from_bytes(like[place : place + size], "little")
                good &= _number_column(self._row_bytes, place, f"<u{size}") == word
        step = fields[1]
        for place in range(step.start, step.stop):
            goes_on = place < layout.step + layout.step_size - 1
            good &= (self._bytes[:, place] > 127) == goes_on
        return good


def _words(gap: ByteRange) -> Iterator[tuple[int, int]]:
    """Places and sizes of words that cover a gap; the last may overlap the one before."""
    place, stop = gap
    while place < stop:
        size = next(each for each in (8, 4, 2, 1) if each <= stop - gap.start)
        place = min(place, stop - size)
        yield place, size
        place += size


@cache
def _contributions(distance: int) -> Uints:
    return np.array(byte_contributions(distance), np.uint32)
