"""Files that are no logs: cheap to remember, and tried again when they begin with other bytes."""

from __future__ import annotations

import zlib
from collections import OrderedDict

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.mirrors import shown_path
from ppo_top.files.passed_over import NOT_A_LOG, PICKLE, PassedOver
from ppo_top.files.tail import FileStamp, Tail
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.stores.magic import is_pickle

MAX_REJECTED_FILES = 100_000
"""How many are remembered; any more are never tried again."""
RECHECK_ROUNDS = 16
"""In how many rounds all idle files are checked once."""
MIN_RECHECKED_FILES = 64
"""How many of them are checked in a round at least."""


def rechecks_per_round(count: int) -> int:
    """How many of `count` idle files are checked in one round."""
    return min(count, max(MIN_RECHECKED_FILES, count // RECHECK_ROUNDS))


class _RejectedFile(NamedTuple):
    """A file with the checksum and the number of its first bytes, and why it is no log."""

    found: FoundFile
    stamp: FileStamp
    crc: int
    head_length: int
    reason: str
    is_unreadable: bool

    @property
    def is_problem(self) -> bool:
        """Whether its user named it, or it cannot be read."""
        return self.found.is_explicit or self.is_unreadable

    @property
    def line(self) -> str:
        """What is said of it."""
        return f"{shown_path(self.found.path)}: {self.reason}"


class RejectedFiles:
    """Files that turned out to be no logs, as they were then.

    One that only grows stays rejected. One that begins with other bytes (`> train.log`, a new file
    with the old name) is a new file.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[str, _RejectedFile] = OrderedDict()
        self.has_changed = False
        """whether a file came or went since this was last set to False"""

    def add(self, found: FoundFile, tail: Tail) -> None:
        """Remember a file as it is now."""
        reason = tail.problem or (PICKLE if is_pickle(tail.head) else NOT_A_LOG)
        if len(self._files) < MAX_REJECTED_FILES:
            self.has_changed = True
            crc, length = zlib.crc32(tail.head), len(tail.head)
            self._files[found.path] = _RejectedFile(
                found, tail.stamp, crc, length, reason, bool(tail.problem)
            )

    def remove(self, path: str) -> None:
        """Forget a deleted file."""
        if self._files.pop(path, None) is not None:
            self.has_changed = True

    def pop_changed(self) -> list[FoundFile]:
        """Check the next few in turn; those that are other files now are forgotten and returned."""
        count = rechecks_per_round(len(self._files))
        some = [self._files.popitem(last=False)[1] for _ in range(count)]
        same = [known._replace(stamp=now) for known in some if (now := _stamp_if_unchanged(known))]
        self._files.update((known.found.path, known) for known in same)
        others = [known.found for known in some if known.found.path not in self._files]
        self.has_changed = self.has_changed or bool(others)
        return others

    @property
    def stamps(self) -> dict[str, FileStamp]:
        """path -> what each file was like when it was rejected."""
        return {path: known.stamp for path, known in self._files.items()}

    def keyed_stamps(self) -> list[tuple[str, str, FileStamp]]:
        """Root, key and stamp of each file; may be called from another thread."""
        files = list(self._files.copy().values())
        return [(each.found.root, each.found.key, each.stamp) for each in files]

    def passed_over(self) -> list[PassedOver]:
        """Those that are no problem; may be called from another thread."""
        files = self._files.copy().items()
        return [PassedOver(path, known.reason) for path, known in files if not known.is_problem]

    @property
    def problems(self) -> list[str]:
        """Those that cannot be read, and those that the user named, one line each.

        May be called from another thread.
        """
        return [known.line for known in self._files.copy().values() if known.is_problem]

    @property
    def unreadable(self) -> list[str]:
        """Those that cannot be read, one line each."""
        return [known.line for known in self._files.copy().values() if known.is_unreadable]


def _stamp_if_unchanged(known: _RejectedFile) -> FileStamp | None:
    """The stamp of a file that still begins as it did (or is missing just now)."""
    tail = Tail(known.found.path)
    if not tail.has_changed():  # missing, or no regular file
        return known.stamp
    if tail.stamp == known.stamp:
        return known.stamp
    head = tail.read_head(known.head_length)
    return tail.stamp if zlib.crc32(head) == known.crc else None
