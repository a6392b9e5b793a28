"""Logs that go on where others ended: `train.log` after `train.log.1`, a resumed training's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ppo_top.model import Head, SourceFacts


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


def resumes(older: Mapping[str, Head], newer: Mapping[str, Head]) -> bool:
    """Whether a log goes on from a checkpoint of the training that wrote the older one.

    Both note every so many steps, and a new training begins at the first of them.
    """
    pairs = [(older[tag].steps, newer[tag].steps) for tag in older.keys() & newer.keys()]
    known = [(before, after) for before, after in pairs if min(len(before), len(after)) > 1]
    return bool(known) and all(
        (stride := before[1] - before[0]) > 0
        and after[1] - after[0] == stride
        and after[0] > before[0]
        and (after[0] - before[0]) % stride == 0
        for before, after in known
    )
