"""Short names: the shortest end of each path that tells it apart from the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

VAGUE = re.compile(r"(\d+|version_\d+|seed[-_=]?\d+|rank[-_]?\d+)$")
"""Folder names that mean nothing without the folder above."""

_MOMENT = re.compile(r"(?:\d{4}[-_.]?\d\d[-_.]?\d\d|\d\d[-_.:]\d\d[-_.:]\d\d)[\dTZ._:+-]*")
"""A folder's name that says when it was made, and nothing else: 20261127T214812.862805."""
_CONTAINER = re.compile(r"(?i)(?:results?|runs?|outputs?|logs?|experiments?|multirun)")
"""A folder's name that says that there are runs in it."""

_COPY = re.compile(
    r"(?i)(?:^|[^a-z])(?:copy|copies|backup|bak|old|orig|archive)(?:[^a-z]|$)|\(\d+\)$"
)


def is_copy_name(path: str) -> bool:
    """Whether the name of a folder, or of one above, is that of a copy."""
    return any(_COPY.search(part) for part in path.split("/"))


def short_names(paths: Mapping[str, str]) -> dict[str, str]:
    """run -> the shortest distinct end of its path, longer if that is vague.

    Of runs called after a moment, the folders that tell more are named where these differ.
    """
    parts = {run: list(filter(None, path.split("/"))) or ["/"] for run, path in paths.items()}
    ends = Counter(
        "/".join(own[-count:]) for own in parts.values() for count in range(1, len(own) + 1)
    )
    told = {run: count for run, own in parts.items() if (count := _told_by(own)) > 1}
    if len({tuple(parts[run][: -count + 1]) for run, count in told.items()}) == 1:
        told = {}
    names = {}
    for run, own in parts.items():
        count = told.get(run, 1)
        while count < len(own) and _is_ambiguous(own, count, ends):
            count += 1
        name = "/".join(own[-count:])
        names[run] = name if ends[name] == 1 else run
    return names


def _is_ambiguous(own: list[str], count: int, ends: Mapping[str, int]) -> bool:
    return ends["/".join(own[-count:])] > 1 or bool(VAGUE.fullmatch(own[-count]))


def _told_by(own: list[str]) -> int:
    """How many last parts it takes to tell more than the moment of a run; 1 if none does."""
    if not _MOMENT.fullmatch(own[-1]):
        return 1
    says_nothing = (_MOMENT.fullmatch(part) or _CONTAINER.fullmatch(part) for part in own[::-1])
    return next((count for count, empty in enumerate(says_nothing, 1) if not empty), 1)
