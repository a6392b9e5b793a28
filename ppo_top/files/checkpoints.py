"""Lists checkpoints by their names: none is opened, and nothing is written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice

from ppo_top.files.mirrors import shown_path
from ppo_top.model.named_tuple import NamedTuple

MAX_NAMES = 20_000
"""Names of a folder that are looked at."""


class Checkpoint(NamedTuple):
    """A checkpoint: the number in its name, and when it was written (unix seconds).

    `path` is as the user knows it: `host:path` for one on another machine.
    """

    name: str
    path: str
    number: int
    written: float


def list_checkpoints(folders: Iterable[str], pattern: str) -> list[Checkpoint]:
    """The checkpoints in some folders by number; of two with one number, the first folder's.

    `pattern` is a regex of the whole name whose group is the number. What cannot be listed is left
    out.
    """
    found: dict[int, Checkpoint] = {}
    for folder in folders:
        for each in _listed(folder, re.compile(pattern)):
            found.setdefault(each.number, each)
    return [found[number] for number in sorted(found)]


def _listed(folder: str, pattern: re.Pattern[str]) -> list[Checkpoint]:
    try:
        with os.scandir(folder) as entries:
            named = ((each, pattern.fullmatch(each.name)) for each in islice(entries, MAX_NAMES))
            return [
                Checkpoint(each.name, shown_path(each.path), int(match[1]), each.stat().st_mtime)
                for each, match in named
                if match is not None
            ]
    except OSError:  # no such folder, no permission, or deleted meanwhile
        return []
