"""Finds where a run is logged in what its console prints: `Logging to runs/PPO_1`."""

from __future__ import annotations

import re
from functools import cache

from ppo_top.catalogue.table import shared_table
from ppo_top.text.lazy_pattern import lazy_pattern

MAX_NAME_CHARS = 400
"""A longer path or name is not one."""

_URL = lazy_pattern(r"/runs/([\w-]+)")


def printed_run(line: str) -> str:
    """The path or name of a run that a console line states; empty if it states none."""
    found = _pattern().search(line)
    if found is None:
        return ""
    name = found[2].strip("\"'`,").rstrip("/.")
    if _kinds()[found[1].lower()] == "url":
        address = _URL.search(line)
        name = address[1] if address is not None else ""
    return name if len(name) <= MAX_NAME_CHARS else ""


@cache
def _kinds() -> dict[str, str]:
    """The words before it -> what follows."""
    return {words: kind for words, kind, _ in shared_table("printed_runs")}


@cache
def _pattern() -> re.Pattern[str]:
    words = "|".join(re.escape(each) for each in sorted(_kinds(), key=len, reverse=True))
    return re.compile(rf"(?i)\b({words})(?:(?<=:)|\s)\s*([^\s\x1b]+)")
