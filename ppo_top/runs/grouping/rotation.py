"""Consoles that were rotated: `train.log` goes on where `train.log.1` ended, and so on."""

from __future__ import annotations

import re

from ppo_top.model import SourceFacts


def rotation(path: str) -> tuple[str, int]:
    """`train.log.2.gz` is ("train.log", 2), and `train.log` number 0: the higher, the older."""
    found = re.fullmatch(r"(.*[^/.]\.[^/.]+)\.(\d+)(?:\.[gx]z)?", path)
    return (found[1], int(found[2])) if found is not None else (path, 0)


def goes_on(older: SourceFacts, newer: SourceFacts) -> bool:
    """Whether the values of a log begin where those of another end, or above.

    Of the older one only some steps are known, the last of them from its second half. Where it has
    but one, another training would begin there, too.
    """
    if not older.heads.keys() & newer.heads.keys():
        return False
    known = [step for head in older.heads.values() for step in (head.steps[0], head.steps[-1])]
    begins = min(head.steps[0] for head in newer.heads.values())
    return begins > max(known) or begins == max(known) > min(known)
