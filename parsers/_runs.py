"""Runs of one-line dictionaries with the same keys, read column by column.

The lines are cut at their quotes. Between them stand, at places that the first line tells, the keys
and the numbers: bare ones (transformers 4), quoted ones (transformers 5), or both mixed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

_BLANKS = bytes.maketrans(b"{}:,", b"    ")
_JSON = bytes.maketrans(b"'\n", b'",')
_FEWEST = 2
_NUMERIC = b"0123456789.-+eE, \n"


class Shape(NamedTuple):
    """Where keys, numbers and blanks stand in a line that was cut at its quotes."""

    width: int
    keys: tuple[bytes, ...]
    key_places: tuple[int, ...]
    number_places: tuple[int, ...]
    blank_places: tuple[int, ...]


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
    """The numbers of whole lines, key by key; None when the lines have not all this shape."""
    count = block.count(b"\n")
    if block.count(b"}\n") != count or b"\r" in block:
        return None
    found = _objects(block, shape, count)
    if found is not None:
        return found
    if block.count(b"\n{") != count - 1:
        return None
    parts = block.translate(_BLANKS).split(b"'")
    if len(parts) != shape.width * count + 1 or not _aligned(parts, shape, count):
        return None
    for key, place in zip(shape.keys, shape.key_places, strict=True):
        if parts[place :: shape.width] != [key] * count:
            return None
    words = [part for place in shape.number_places for part in parts[place :: shape.width]]
    values = _floats(words)
    if values is None:
        return None
    return [array("d", values[first : first + count]) for first in range(0, len(values), count)]


def _objects(block: bytes, shape: Shape, count: int) -> list[array[float]] | None:
    """The columns of lines with bare numbers only, which are JSON but for their quotes."""
    loads = _loads()
    if loads is None or len(shape.keys) < _FEWEST or shape.width != 2 * len(shape.keys):
        return None
    try:
        rows = loads(b"[%b]" % block.translate(_JSON)[:-1])
        if len(rows) != count or set(map(len, rows)) != {len(shape.keys)}:
            return None
        pick = itemgetter(*(key.decode() for key in shape.keys))
        return [array("d", values) for values in zip(*map(pick, rows), strict=True)]
    except (ValueError, TypeError, LookupError, OverflowError):
        return None  # nan, None, a word


def _aligned(parts: Sequence[bytes], shape: Shape, count: int) -> bool:
    """Whether every line end stands behind a last value, and nothing but blanks around quotes."""
    if sum(b"\n" in part for part in parts[shape.width :: shape.width]) != count:
        return False
    between = [part for place in shape.blank_places for part in parts[place :: shape.width]]
    return not b"".join(between).strip()


def _floats(words: Sequence[bytes]) -> list[float] | None:
    """The numbers that the words are; None when one is none."""
    loads = _loads()
    if loads is not None:
        text = b",".join(words)
        # JSON reads -0 as an integer, which has no sign, and knows no nan.
        if not text.translate(None, _NUMERIC) and b"-0," not in text and b"-0 " not in text:
            try:
                numbers: list[float] = loads(b"[%b]" % text)
                return numbers
            except ValueError:
                pass
    try:
        return list(map(float, words))
    except ValueError:
        return None


@cache
def _loads() -> Callable[[bytes], Any] | None:
    """orjson's reader, whose numbers cost an eighth of Python's, if it is installed."""
    try:
        import orjson
    except ImportError:
        return None
    return orjson.loads
