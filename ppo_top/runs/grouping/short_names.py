"""Short names: the shortest end of each path that tells it apart from the others."""

from __future__ import annotations

import re
from collections.abc import Mapping

VAGUE = re.compile(r"(\d+|version_\d+|seed[-_=]?\d+|rank[-_]?\d+)$")
"""Folder names that mean nothing without the folder above."""

_COPY = re.compile(
    r"(?i)(?:^|[^a-z])(?:copy|copies|backup|bak|old|orig|archive)(?:[^a-z]|$)|\(\d+\)$"
)


def is_copy_name(path: str) -> bool:
    """Whether the name of a folder, or of one above, is that of a copy."""
    return any(_COPY.search(part) for part in path.split("/"))


def short_names(paths: Mapping[str, str]) -> dict[str, str]:
    """run -> the shortest distinct end of its path, longer if that is vague."""
    parts = {run: list(filter(None, path.split("/"))) or ["/"] for run, path in paths.items()}
    ends: dict[str, int] = {}
    for own in parts.values():
        for count in range(1, len(own) + 1):
            end = "/".join(own[-count:])
            ends[end] = ends.get(end, 0) + 1
    names = {}
    for run, own in parts.items():
        count = 1
        while count < len(own) and _is_ambiguous(own, count, ends):
            count += 1
        name = "/".join(own[-count:])
        names[run] = name if ends[name] == 1 else run
    return names


def _is_ambiguous(own: list[str], count: int, ends: Mapping[str, int]) -> bool:
    return ends["/".join(own[-count:])] > 1 or bool(VAGUE.fullmatch(own[-count]))
