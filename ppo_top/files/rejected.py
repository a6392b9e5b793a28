"""Files that are no logs: cheap to keep in mind, and looked at again when they begin anew."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from typing import NamedTuple

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.tail import FileStamp, Tail

NOT_A_LOG = "is not a log that is known here"

MAX_REJECTED_FILES = 100_000
"""So many are remembered; of more nobody asks again."""
RECHECK_ROUNDS = 16
"""Files that rest are all looked at once in so many rounds."""
MIN_RECHECKED_FILES = 64
"""So many of them at least are looked at in a round."""


def rechecks_per_round(count: int) -> int:
    """How many of `count` files are looked at in a round."""
    return min(count, max(MIN_RECHECKED_FILES, count // RECHECK_ROUNDS))


class _RejectedFile(NamedTuple):
    found: FoundFile
    stamp: FileStamp
    crc: int
    head_length: int
    """of its first bytes"""
    problem: str
    """what the user is to know of it"""


class RejectedFiles:
    """What was found to be no log, as it was then.

    One that only grows stays what it is. One that begins with other bytes (`> train.log`, a new
    file under the old name) is a new file.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[str, _RejectedFile] = OrderedDict()

    def add(self, found: FoundFile, tail: Tail) -> None:
        """Keep in mind what a file was when it was refused: it is told if it is the user's own."""
        told = tail.problem or (NOT_A_LOG if found.is_explicit else "")
        if len(self._files) < MAX_REJECTED_FILES:
            crc, length = zlib.crc32(tail.head), len(tail.head)
            self._files[found.path] = _RejectedFile(found, tail.stamp, crc, length, told)

    def remove(self, path: str) -> None:
        """The file is gone."""
        self._files.pop(path, None)

    def pop_changed(self) -> list[FoundFile]:
        """Of the next ones in turn those that are other files now; they are kept no more."""
        turn = range(rechecks_per_round(len(self._files)))
        some = [self._files.popitem(last=False)[1] for _ in turn]
        same = [known._replace(stamp=now) for known in some if (now := _stamp_if_unchanged(known))]
        self._files.update((known.found.path, known) for known in same)
        return [known.found for known in some if known.found.path not in self._files]

    @property
    def problems(self) -> list[str]:
        """Those that are closed to us, and those that the user gave, in words."""
        return [f"{path} {known.problem}" for path, known in self._files.items() if known.problem]


def _stamp_if_unchanged(known: _RejectedFile) -> FileStamp | None:
    """The stamp of a file that still begins as it did (or is away for the moment)."""
    tail = Tail(known.found.path)
    if not tail.has_changed():  # not there, or no file
        return known.stamp
    if tail.stamp == known.stamp:
        return known.stamp
    head, _ = tail.read_edges(known.head_length)
    return tail.stamp if zlib.crc32(head) == known.crc else None
