"""Runs of one-line dictionaries with the same keys, read column by column.

Such lines are equal but for the characters of their numbers. With these taken out, all lines must
be the same as the first; with everything else taken out, the numbers are left.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate
from typing import NamedTuple

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.shared.float_batches import parse_float_list

_FAST_NUMBER_CHARS = b"0123456789.-+E"
_TO_BLANKS = bytes.maketrans(b"'}\n", b"  ,")
_NON_NUMERIC = bytes(set(range(256)) - set(_FAST_NUMBER_CHARS + b"'} ,\n"))
_VALUE_PATTERN = rb"'[^']+': (?:''|'nan'|nan|)"
_SKELETON = re.compile(rb"\{" + _VALUE_PATTERN + rb"(?:, " + _VALUE_PATTERN + rb")*+\}\n")
_SKELETON_ITEM = re.compile(rb"'([^']+)': '?(nan)?")
_NUMBER_LIKE = re.compile(rb"e[-+]|[\d.\-+E,]")
"""What in a key might be taken for a part of a number."""
_NAN_GAP = re.compile(rb",[ ,]*,")
_NAN_COLUMN = array("d", [UNKNOWN_TIME])


class DictShape(NamedTuple):
    """What lines with the same keys, and nan at the same places, have in common."""

    keys: tuple[bytes, ...]
    skeleton: bytes
    """A line without its numbers, with its line end."""
    numbers: tuple[int | None, ...]
    """For each key which of a line's numbers it has; None: nan."""
    gaps: tuple[bytes, ...]
    """The commas between two numbers where nan was between them, the longest first."""


def shape_of(line: bytes) -> DictShape | None:
    """The shape of one line with its line end; None when it is not that of numbers under keys."""
    skeleton = _mark_exponents(line).translate(None, _FAST_NUMBER_CHARS)
    if not _SKELETON.fullmatch(skeleton) or not line.isascii():
        return None
    found = _SKELETON_ITEM.findall(skeleton)
    keys = tuple(key for key, _ in found)
    if not line[:-1].decode("ascii").isprintable() or any(map(_NUMBER_LIKE.search, keys)):
        return None
    gaps = [bool(gap) for _, gap in found]
    if gaps[0] or gaps[-1]:
        return None  # what stands between two lines is always the same
    places = accumulate(not gap for gap in gaps)
    numbers = tuple(None if gap else at - 1 for gap, at in zip(gaps, places, strict=True))
    needles = _NAN_GAP.findall(_only_numbers(_mark_exponents(line)))
    return DictShape(keys, skeleton, numbers, tuple(sorted(set(needles), key=len, reverse=True)))


def read_columns(block: bytes, shape: DictShape) -> tuple[int, list[array[float]]] | None:
    """How many bytes of a block of whole lines have the shape, and their numbers key by key.

    None when a number is spelt in another way.
    """
    text = _mark_exponents(block)
    size = _matching_bytes(text, block, shape)
    if size < len(block):
        block = block[:size]
        text = _mark_exponents(block)
    text = _only_numbers(text)
    for gap in shape.gaps:
        text = text.replace(gap, b",")
    numbers = parse_float_list(text)
    count = block.count(b"\n")
    width = len(shape.numbers) - shape.numbers.count(None)
    if numbers is None or len(numbers) != width * count:
        return None
    values = array("d", numbers)
    return size, [_NAN_COLUMN * count if at is None else values[at::width] for at in shape.numbers]


def _matching_bytes(text: bytes, block: bytes, shape: DictShape) -> int:
    """How many bytes at the start of a block are lines of a shape."""
    found = text.translate(None, _FAST_NUMBER_CHARS)
    count, rest = divmod(len(found), len(shape.skeleton))
    if not rest and found == shape.skeleton * count:
        return len(block)
    good, bad = 0, count + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if found.startswith(shape.skeleton * middle):
            good = middle
        else:
            bad = middle
    return len(block) - len(block.split(b"\n", good)[-1])


def _mark_exponents(text: bytes) -> bytes:
    """The text with the letter in exponents replaced by one that no key has."""
    text = text.replace(b"e-", b"E-")
    return text.replace(b"e+", b"E+") if b"+" in text else text


def _only_numbers(text: bytes) -> bytes:
    """The numbers of whole lines with commas between them, and nothing where nan stands."""
    return text.translate(_TO_BLANKS, _NON_NUMERIC)[:-1]
