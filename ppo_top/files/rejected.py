"""Files that are no logs: cheap to keep in mind, and looked at again when they begin anew."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from typing import NamedTuple

from ppo_top.files.directory_tree import Found
from ppo_top.files.tail import Stamp, Tail

NO_LOG = "is not a log that is known here"

MOST = 100_000
"""So many are remembered; of more nobody asks again."""
IN_TURN = 16
"""Files that rest are all looked at once in so many rounds."""
FEWEST = 64
"""So many of them at least are looked at in a round."""


def in_turn(count: int) -> int:
    """How many of `count` files are looked at in a round."""
    return min(count, max(FEWEST, count // IN_TURN))


class _Known(NamedTuple):
    found: Found
    stamp: Stamp
    crc: int
    length: int
    """of its first bytes"""
    told: str
    """what the user is to know of it"""


class Refused:
    """What was found to be no log, as it was then.

    One that only grows stays what it is. One that begins with other bytes (`> train.log`, a new
    file under the old name) is a new file.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def add(self, found: Found, tail: Tail) -> None:
        """Keep in mind what a file was when it was refused: it is told if it is the user's own."""
        told = tail.trouble or (NO_LOG if found.named else "")
        if len(self._known) < MOST:
            crc, length = zlib.crc32(tail.head), len(tail.head)
            self._known[found.path] = _Known(found, tail.stamp, crc, length, told)

    def drop(self, path: str) -> None:
        """The file is gone."""
        self._known.pop(path, None)

    def renewed(self) -> list[Found]:
        """Of the next ones in turn those that are other files now; they are kept no more."""
        turn = range(in_turn(len(self._known)))
        some = [self._known.popitem(last=False)[1] for _ in turn]
        same = [known._replace(stamp=now) for known in some if (now := _same(known))]
        self._known.update((known.found.path, known) for known in same)
        return [known.found for known in some if known.found.path not in self._known]

    @property
    def problems(self) -> list[str]:
        """Those that are closed to us, and those that the user gave, in words."""
        return [f"{path} {known.told}" for path, known in self._known.items() if known.told]


def _same(known: _Known) -> Stamp | None:
    """The stamp of a file that still begins as it did (or is away for the moment)."""
    tail = Tail(known.found.path)
    if not tail.changed():  # not there, or no file
        return known.stamp
    if tail.stamp == known.stamp:
        return known.stamp
    head, _ = tail.edges(known.length)
    return tail.stamp if zlib.crc32(head) == known.crc else None
