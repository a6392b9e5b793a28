"""Scalars of an event file as columns, by numpy: for files of hundred thousands of events.

Records of equal length are gathered as one two-dimensional array of bytes. Their stored checksum
without the share of the changing bytes is the checksum of the fixed bytes: equal for one tag and
different for others. So sorting by it brings the records of a tag together, and once the fixed
bytes are compared it has been verified as well.

This module alone imports numpy; import it when there is enough to read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppo_top.parsers._crc32c import MASK_DELTA, shares
from ppo_top.parsers._layout import LONGEST, Layout, Templates
from ppo_top.parsers._pieces import Piece
from ppo_top.parsers._tfrecord import HEADER, OVERHEAD, Stride

Ints = NDArray[np.int64]
Words = NDArray[np.uint32]
Floats = NDArray[np.float64]

_FEW = 32
"""Fewer records than this are not worth a column."""
_TRIES = 6
"""So many layouts are tried among records of equal length."""


def split(data: bytes, bounds: array[int], templates: Templates) -> tuple[list[Piece], list[int]]:
    """The records that can be read as columns, and the numbers of all others in file order.

    Record i stands in `data[bounds[i]:bounds[i + 1]]`.
    """
    edges = np.frombuffer(bounds, np.int64)
    sizes = np.minimum(np.diff(edges), LONGEST + OVERHEAD + 1).astype(np.uint16)
    order = np.argsort(sizes, kind="stable")
    pieces: list[Piece] = []
    rest: list[Ints] = []
    for members in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        length = int(sizes[members[0]]) - OVERHEAD
        tries = _TRIES if length <= LONGEST else 0
        while tries and len(members) >= _FEW:
            tries -= 1
            start = bounds[members[len(members) // 2]] + HEADER
            sample = templates.learn(data[start : start + length])
            if sample is not None:
                found, members = _tags(data, edges, members, sample.layout, templates)
                pieces += found
        rest.append(members)
    return pieces, np.sort(np.concatenate(rest)).tolist()


def stride(data: bytes, bounds: array[int], limit: int) -> Stride:
    """Bounds of records up to a limit, if their lengths go on repeating as they did.

    A writer that logs the same tags in the same order at every step leaves lengths with a period.
    Each foretold header is compared with the one a period before, which has been verified.
    """
    recent = np.array(bounds)
    sizes = np.diff(recent)
    period = _period(sizes)
    cycle = sizes[len(sizes) - period :]
    place, total = bounds[-1], int(cycle.sum())
    count = (min(limit, len(data)) - place) // total if period else 0
    if count < 1:
        return Stride(array("q"), unbroken=False)
    ends = place + np.arange(count)[:, None] * total + np.cumsum(cycle)
    headers: Any = np.ndarray(len(data) - HEADER + 1, f"V{HEADER}", data, strides=(1,))
    same = (headers[ends - cycle] == headers[recent[-1 - period : -1]]).ravel()
    good = len(same) if same.all() else int(same.argmin())
    return Stride(array("q", ends.ravel()[:good].tobytes()), good == len(same))


def _period(sizes: Ints) -> int:
    """After how many records all the sizes repeat; 0 if they do not."""
    half = len(sizes) // 2
    candidates = np.flatnonzero(sizes[len(sizes) - 1 - half : -1] == sizes[-1])
    for candidate in (half - candidates[::-1]).tolist():
        if np.array_equal(sizes[candidate:], sizes[:-candidate]):
            return int(candidate)
    return 0


def _tags(
    data: bytes, edges: Ints, members: Ints, layout: Layout, templates: Templates
) -> tuple[list[Piece], Ints]:
    """A piece for each tag among records of one length, and the records that are in none."""
    starts = edges[members] + HEADER
    rows = _Rows(data, starts, layout)
    left = np.ones(len(members), np.bool_)
    pieces = []
    for checksum, places in rows.alike():
        start = int(starts[places[0]])
        payload = data[start : start + layout.length]
        found = templates.find(layout, layout.blank(payload)) or templates.learn(payload)
        if found and found.layout == layout and found.checksum == checksum:
            left[places] = False
            columns = rows.steps[places], rows.times[places], rows.values[places]
            pieces.append(Piece(found.tag, members[places], *columns))
    return pieces, members[left]


class _Rows:
    """Payloads of one length with their checksums, taken apart by a layout that they may have."""

    def __init__(self, data: bytes, starts: Ints, layout: Layout) -> None:
        width = layout.length + 4
        windows: Any = np.ndarray(len(data) - width + 1, f"V{width}", data, strides=(1,))
        self._layout = layout
        self._whole = windows[starts]
        self._bytes = self._whole.view(np.uint8).reshape(len(starts), width)
        self.times: Floats = self._column(layout.time, "<f8")
        self.values: Floats = self._column(layout.value, f"<f{layout.value_size}").astype(
            np.float64
        )
        self.steps: Ints = self._numbers()
        self._checksums = self._fixed_checksums()
        self._sound = self._steps_end()

    def _column(self, place: int, kind: str) -> NDArray[Any]:
        """A copy of the numbers that stand at one place of all rows."""
        size = np.dtype(kind).itemsize
        return np.ascontiguousarray(self._bytes[:, place : place + size]).view(kind).ravel()

    def _numbers(self) -> Ints:
        """The steps: seven bits a byte, the lowest first."""
        steps = np.zeros(len(self._bytes), np.int64)
        for place in reversed(range(self._layout.step, self._layout.step + self._layout.step_size)):
            steps <<= 7
            steps |= self._bytes[:, place] & 127
        return steps

    def _steps_end(self) -> NDArray[np.bool_]:
        """Whether the step of each row ends where the layout says."""
        places = self._bytes[:, self._layout.step : self._layout.step + self._layout.step_size]
        goes_on = places >= 128
        if not self._layout.step_size:
            return np.ones(len(places), np.bool_)
        ends: NDArray[np.bool_] = goes_on[:, :-1].all(axis=1) & ~goes_on[:, -1]
        return ends

    def _fixed_checksums(self) -> Words:
        """The checksums that the payloads would have with zeros for the changing bytes."""
        stored: Words = self._column(self._layout.length, "<u4")
        turned = stored - np.uint32(MASK_DELTA)
        sums = turned << np.uint32(15) | turned >> np.uint32(17)
        for place in self._layout.changing:
            sums ^= _shares(self._layout.length - 1 - place)[self._bytes[:, place]]
        return sums

    def alike(self) -> Iterator[tuple[int, Ints]]:
        """Groups of rows with equal fixed bytes: their checksum, and the rows in file order.

        Consumes the rows' bytes.
        """
        keys = self._checksums.astype(np.uint64) << np.uint64(32)
        keys |= np.arange(len(keys), dtype=np.uint64)
        keys.sort()
        order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        self._bytes[:, (*self._layout.changing, *range(-4, 0))] = 0
        equal = self._whole[order[1:]] == self._whole[order[:-1]]
        equal &= self._sound[order[1:]] & self._sound[order[:-1]]
        edges = np.flatnonzero(np.diff(keys >> np.uint64(32))) + 1
        for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), len(keys)], strict=True):
            if stop - start > 1 and equal[start : stop - 1].all():
                yield int(keys[start]) >> 32, order[start:stop]


@cache
def _shares(distance: int) -> Words:
    return np.array(shares(distance), np.uint32)
