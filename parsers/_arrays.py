"""Scalars of an event file as columns, by numpy: for files of hundred thousands of events.

Records of equal length are gathered as one two-dimensional array of bytes. Their stored checksum,
with the share of the changing bytes taken out, is the checksum of the fixed bytes: equal for one tag
and different for others, so sorting by it brings the records of a tag together, and once the fixed
bytes are compared it has been verified as well.

This module alone imports numpy; import it when there is enough to read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ppo_top.parsers._crc32c import MASK_DELTA, shares
from ppo_top.parsers._layout import LONGEST, Layout, Templates
from ppo_top.parsers._pieces import Piece
from ppo_top.parsers._tfrecord import HEADER, OVERHEAD

Ints = NDArray[np.int64]
Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

_FEW = 32
"""Fewer records than this are not worth a column."""
_ROUNDS = 4
"""So many layouts are tried among records of equal length."""


def split(data: bytes, bounds: array[int], templates: Templates) -> tuple[list[Piece], list[int]]:
    """Columns of what can be read as columns, and the bounds' indices of all other records."""
    edges = np.frombuffer(bounds, np.int64)
    sizes = np.minimum(np.diff(edges), LONGEST + OVERHEAD + 1).astype(np.uint16)
    order = np.argsort(sizes, kind="stable")
    ends = np.flatnonzero(np.diff(sizes[order])) + 1
    pieces: list[Piece] = []
    rest: list[Ints] = []
    for members in np.split(order, ends):
        size = int(sizes[members[0]])
        for _ in range(_ROUNDS):
            if len(members) < _FEW or size > LONGEST + OVERHEAD:
                break
            found, members = _tags(data, edges[members], size, members, templates)
            if not found:
                break
            pieces.extend(found)
        rest.append(members)
    return pieces, np.sort(np.concatenate(rest)).tolist()


def _tags(
    data: bytes, starts: Ints, size: int, members: Ints, templates: Templates
) -> tuple[list[Piece], Ints]:
    """The pieces among records of one size that have the first one's layout; and who is left."""
    start = int(starts[0]) + HEADER
    first = templates.learn(data[start : start + size - OVERHEAD])
    if first is None:
        return [], members[1:] if len(members) > 1 else members
    rows = _Rows(data, starts + HEADER, first.layout)
    order, groups = rows.groups()
    ...
