"""Runs of one-line dictionaries with the same keys, read column by column.

The lines are cut at their quotes. Between them stand, at places that the first line tells, the keys
and the numbers: bare ones (transformers 4), quoted ones (transformers 5), or both mixed.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from ppo_top.parsers._floats import MINUS_ZERO, floats, reader

_BLANKS = bytes.maketrans(b"{}:,", b"    ")
_KEY, _LONGEST_KEY = 2, 200
_JSON = bytes.maketrans(b"'\n", b'",')
_FEWEST = 2


class Shape(NamedTuple):
    """Where keys, numbers and blanks stand in a line that was cut at its quotes."""

    width: int
    keys: tuple[bytes, ...]
    key_places: tuple[int, ...]
    number_places: tuple[int, ...]
    blank_places: tuple[int, ...]


def alike(block: bytes) -> bytes:
    """The lines at the start of `block` that have the same first key."""
    key = block[: block.find(b"'", _KEY) + 1]
    if not _KEY < len(key) <= _LONGEST_KEY:
        return b""
    end = _other_line(key).search(block)
    return block[: end.end()] if end else b""


@lru_cache(maxsize=64)
def _other_line(key: bytes) -> re.Pattern[bytes]:
    """A line end behind which no line with this first key starts."""
    return re.compile(rb"\n(?!" + re.escape(key) + rb")")


def shape_of(line: bytes) -> Shape:
    """The shape of one line (without its line end)."""
    parts = line.translate(_BLANKS).split(b"'")
    keys, numbers, blanks = [], [], []
    place = 1
    while place + 1 < len(parts):
        keys.append(place)
        quoted = not parts[place + 1].strip() and place + 3 < len(parts)
        numbers.append(place + 2 if quoted else place + 1)
        if quoted:
            blanks += [place + 1, place + 3]
        place += 4 if quoted else 2
    names = tuple(parts[place] for place in keys)
    return Shape(len(parts) - 1, names, tuple(keys), tuple(numbers), tuple(blanks))


def columns(block: bytes, shape: Shape) -> list[array[float]] | None:
    """The numbers of whole lines, key by key; None when the lines have not all this shape.

    `block` is what `alike` gave: every line starts an object.
    """
    count = block.count(b"\n")
    if b"\r" in block:
        return None
    found = _objects(block, shape, count)
    if found is not None:
        return found
    if block.count(b"}\n") != count:
        return None
    parts = block.translate(_BLANKS).split(b"'")
    if len(parts) != shape.width * count + 1 or not _aligned(parts, shape, count):
        return None
    for key, place in zip(shape.keys, shape.key_places, strict=True):
        if parts[place :: shape.width] != [key] * count:
            return None
    words = [part for place in shape.number_places for part in parts[place :: shape.width]]
    values = floats(words)
    if values is None:
        return None
    return [array("d", values[first : first + count]) for first in range(0, len(values), count)]


def _objects(block: bytes, shape: Shape, count: int) -> list[array[float]] | None:
    """The columns of lines with bare numbers only, which are JSON but for their quotes."""
    loads = reader()
    if loads is None or len(shape.keys) < _FEWEST or shape.width != 2 * len(shape.keys):
        return None
    text = block.translate(_JSON)[:-1]
    if MINUS_ZERO.search(text):
        return None
    gaps = b" nan" in text
    if gaps:
        if b"null" in text:
            return None
        text = text.replace(b" nan", b" null")
    try:
        rows = loads(b"[%b]" % text)
        if len(rows) != count or set(map(len, rows)) != {len(shape.keys)}:
            return None
        pick = itemgetter(*(key.decode() for key in shape.keys))
        found = zip(*map(pick, rows), strict=True)
        return [array("d", _filled(values) if gaps else values) for values in found]
    except (ValueError, TypeError, LookupError, OverflowError):
        return None  # None, inf, a word


def _filled(values: tuple[float | None, ...]) -> Sequence[float]:
    """NaN in the places where JSON had to say null."""
    if None not in values:
        return values  # type: ignore[return-value]
    return [math.nan if value is None else value for value in values]


def _aligned(parts: Sequence[bytes], shape: Shape, count: int) -> bool:
    """Whether every line end stands behind a last value, and nothing but blanks around quotes."""
    if sum(b"\n" in part for part in parts[shape.width :: shape.width]) != count:
        return False
    between = [part for place in shape.blank_places for part in parts[place :: shape.width]]
    return not b"".join(between).strip()
