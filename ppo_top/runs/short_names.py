"""Short names: as much of the end of each path as tells it apart from the others."""

from __future__ import annotations

import re
from collections.abc import Mapping

VAGUE = re.compile(r"(\d+|version_\d+|seed[-_=]?\d+|rank[-_]?\d+)$")
"""Folder names that say nothing without the one above."""


def short_names(paths: Mapping[str, str]) -> dict[str, str]:
    """For each run as many last parts of its path as tell it apart, and more if they are vague."""
    parts = {run: list(filter(None, path.split("/"))) or ["/"] for run, path in paths.items()}
    ends: dict[str, int] = {}
    for own in parts.values():
        for count in range(1, len(own) + 1):
            end = "/".join(own[-count:])
            ends[end] = ends.get(end, 0) + 1
    names = {}
    for run, own in parts.items():
        count = 1
        while count < len(own) and _says_little(own, count, ends):
            count += 1
        name = "/".join(own[-count:])
        names[run] = name if ends[name] == 1 else run
    return names


def _says_little(own: list[str], count: int, ends: Mapping[str, int]) -> bool:
    return ends["/".join(own[-count:])] > 1 or bool(VAGUE.fullmatch(own[-count]))
